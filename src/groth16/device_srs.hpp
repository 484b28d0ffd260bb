// Parameters in device memory, in the order in which a packed witness is summed. Plain C++; in builds with CUZK_CUDA
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "gpu/memory.hpp"
#include "gpu/stream.hpp"
#include "groth16/packed_query.hpp"
#include "msm/msm_plan.hpp"
#include "srs/srs.hpp"

namespace cuzk {

// Which packed bits and values a query takes, in query order.
struct DeviceQueryIndex {
  bool all_bits = false;  // every bit in order: `bits` is empty
  size_t num_bits = 0, num_values = 0;
  gpu::DeviceBuffer<uint32_t> bits, values;
};

// A query's points in the order of its index.
template <class Curve>
struct DeviceQueryPoints {
  gpu::DeviceBuffer<Affine<Curve>> bits, values;  // the values msm_prepare()d where the plan reads such
  std::optional<MsmPlan> plan;                    // of the sum over `values`
};

struct DeviceSrsOptions {
  unsigned multiprocessors = 132;  // of the device
  // Multiples of the points of h to keep; each takes as much memory as h.
  unsigned h_multiples = 1;
  size_t h_max_entries = 0;                            // MsmOptions::max_entries of the sum over h
  MsmMultiplier multiplier = MsmMultiplier::kInteger;  // of the long sums in G1
};

// Immutable after upload.
struct DeviceSrs {
  DeviceQueryIndex l_index, a_index, b_index;
  DeviceQueryPoints<G1Curve> l, a, b_g1;
  DeviceQueryPoints<G2Curve> b_g2;
  gpu::DeviceBuffer<G1Affine> h;  // and its multiples; prepared likewise
  std::optional<MsmPlan> h_plan;

  // What allocate() and upload() allocate. num_bits: of the circuit's packed witness.
  static uint64_t resident_bytes(const SrsShape& shape, const PackedQueries& queries, uint64_t num_bits,
                                 const DeviceSrsOptions& options);
  // Copies the indices and allocates the points, which are to be filled in: those of the queries in the order of
  // `queries`, of h the first. Waits for the copies. Errors: as upload().
  static Result<DeviceSrs> allocate(const SrsShape& shape, const PackedQueries& queries, uint64_t num_bits,
                                    const DeviceSrsOptions& options, gpu::Reservation& memory,
                                    const gpu::Stream& stream);
  // Once all points are there: makes the multiples of h and prepares what plans read so. Waits.
  Status finish(const gpu::Stream& stream);
  // Copies `srs`, which is not needed afterwards. Waits for the copies. Errors: kResource; those of MsmPlan::make.
  static Result<DeviceSrs> upload(const Srs& srs, const PackedQueries& queries, uint64_t num_bits,
                                  const DeviceSrsOptions& options, gpu::Reservation& memory, const gpu::Stream& stream);
};

}  // namespace cuzk
