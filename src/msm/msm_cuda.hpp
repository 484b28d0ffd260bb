// The CUDA form of msm/: sums of multiples of points in device memory, put on a stream. Exact for any input, as msm()
// is. Plain C++; in builds with CUZK_CUDA only.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/fr.hpp"
#include "gpu/device.hpp"
#include "gpu/stream.hpp"
#include "msm/msm_cuda_tuning.hpp"
#include "msm/msm_plan.hpp"

namespace cuzk {

// Puts sum_i scalars[i] * bases[i] on `stream`. All spans are device memory: `bases` has plan.table_points() points
// (plan.bases() where there is no table), `scalars` plan.bases(), in Montgomery form; `sums` receives plan.sums()
// points, which the host passes to msm_finish once the stream has reached them; `scratch` has plan.scratch_bytes(),
// aligned to 256, and holds nothing afterwards. Allocates nothing, waits for nothing. Balanced whatever the scalars
// are. Errors: kUsage where a size is wrong; those of CUDA.
template <class Curve>
Status msm_enqueue(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const Fr> scalars,
                   std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, const gpu::Stream& stream);

// msm_enqueue in parts, for sums of more bases than the device holds: clear, add any number of parts of at most
// plan.bases() bases each (no table), reduce. The scratch memory keeps the buckets from one to the next. The plan's
// total_bases is what its window_bits should be chosen for.
template <class Curve>
Status msm_clear(const MsmPlan& plan, std::span<std::byte> scratch, const gpu::Stream& stream);
template <class Curve>
Status msm_add(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const Fr> scalars,
               std::span<std::byte> scratch, const gpu::Stream& stream);
template <class Curve>
Status msm_reduce(const MsmPlan& plan, std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch,
                  const gpu::Stream& stream);

// What msm_enqueue_streamed copies through: two buffers of plan.bases() points in device memory, a stream for the
// copies and four events. The buffers must be free when the call is made.
template <class Curve>
struct MsmStaging {
  std::array<std::span<Affine<Curve>>, 2> buffers;
  const gpu::Stream& copies;
  std::array<gpu::Event, 2> copied, used;
};

// msm_enqueue with `bases` in pinned host memory, any number of them, copied part by part while the part before is
// added. `scalars` is device memory. The host memory must stay until `stream` has reached the end.
template <class Curve>
Status msm_enqueue_streamed(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const Fr> scalars,
                            std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, MsmStaging<Curve>& staging,
                            const gpu::Stream& stream);

// The same for a plan of MsmPlan::make_selection: `bits` is plan.witnesses() bit vectors of plan.words_of_bits() words,
// the lowest bit first; selection_finish takes the sums.
template <class Curve>
Status selection_enqueue(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const uint64_t> bits,
                         std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, const gpu::Stream& stream);

// What is faster for long sums on a device: the hybrid form where FP64 has its full rate and its block fits the shared
// memory (measured on an H200).
inline MsmMultiplier msm_multiplier(const gpu::DeviceInfo& device) {
  const bool fits = device.shared_bytes_per_block >= uint64_t{msm_cuda_tuning::kSharedBytesHybrid};
  return device.has_full_rate_fp64() && fits ? MsmMultiplier::kHybrid : MsmMultiplier::kInteger;
}
// The same for sums of `bases` bases: short ones are by integers.
inline MsmMultiplier msm_multiplier(MsmMultiplier of_long_sums, size_t bases) {
  return bases < msm_cuda_tuning::kMinBasesHybrid ? MsmMultiplier::kInteger : of_long_sums;
}

// Brings points in device memory, in place, into the form that plans with `prepared` read: a plan's whole table. Two
// multiplications a point.
Status msm_prepare(std::span<G1Affine> points, const gpu::Stream& stream);

// Fills the multiples j = 1, 2, ... of a table whose first plan.bases() points are the bases:
// table[j*bases + i] = 2^(j*table_shift) * table[i]. `table` is device memory, plan.table_points() points. About
// 9*table_shift + 50 multiplications a point.
template <class Curve>
Status msm_make_table(const MsmPlan& plan, std::span<Affine<Curve>> table, const gpu::Stream& stream);

extern template Status msm_enqueue<G1Curve>(const MsmPlan&, std::span<const G1Affine>, std::span<const Fr>,
                                            std::span<G1Xyzz>, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_clear<G1Curve>(const MsmPlan&, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_add<G1Curve>(const MsmPlan&, std::span<const G1Affine>, std::span<const Fr>,
                                        std::span<std::byte>, const gpu::Stream&);
extern template Status msm_reduce<G1Curve>(const MsmPlan&, std::span<G1Xyzz>, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_enqueue_streamed<G1Curve>(const MsmPlan&, std::span<const G1Affine>, std::span<const Fr>,
                                                     std::span<G1Xyzz>, std::span<std::byte>, MsmStaging<G1Curve>&,
                                                     const gpu::Stream&);
extern template Status selection_enqueue<G1Curve>(const MsmPlan&, std::span<const G1Affine>, std::span<const uint64_t>,
                                                  std::span<G1Xyzz>, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_make_table<G1Curve>(const MsmPlan&, std::span<G1Affine>, const gpu::Stream&);
extern template Status msm_enqueue<G2Curve>(const MsmPlan&, std::span<const G2Affine>, std::span<const Fr>,
                                            std::span<G2Xyzz>, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_clear<G2Curve>(const MsmPlan&, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_add<G2Curve>(const MsmPlan&, std::span<const G2Affine>, std::span<const Fr>,
                                        std::span<std::byte>, const gpu::Stream&);
extern template Status msm_reduce<G2Curve>(const MsmPlan&, std::span<G2Xyzz>, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_enqueue_streamed<G2Curve>(const MsmPlan&, std::span<const G2Affine>, std::span<const Fr>,
                                                     std::span<G2Xyzz>, std::span<std::byte>, MsmStaging<G2Curve>&,
                                                     const gpu::Stream&);
extern template Status selection_enqueue<G2Curve>(const MsmPlan&, std::span<const G2Affine>, std::span<const uint64_t>,
                                                  std::span<G2Xyzz>, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_make_table<G2Curve>(const MsmPlan&, std::span<G2Affine>, const gpu::Stream&);

namespace msm_detail {

// What decides the bucket of an entry: one of the two.
struct EntrySource {
  const Fr* scalars;
  const uint64_t* bits;
};

// The entries of a task (key, reference), sorted by key and cut into segments, in the order of segment_of: in *keys and
// *refs, which are one of the two arrays of the scratch memory each. The word at plan.scratch().count receives the
// number of entries that are not zero; the others are not there. Shared by both groups.
Status sorted_entries(const MsmPlan& plan, const MsmTask& task, const EntrySource& source, std::byte* scratch,
                      uint32_t** keys, uint32_t** refs, const gpu::Stream& stream);

}  // namespace msm_detail

}  // namespace cuzk
