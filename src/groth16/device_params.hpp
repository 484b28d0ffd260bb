// Reads .params files straight into device memory. Plain C++; in builds with CUZK_CUDA only.
#pragma once

#include <array>
#include <optional>

#include "gpu/device.hpp"
#include "groth16/device_srs.hpp"
#include "groth16/params_stream.hpp"

namespace cuzk {

// Two slabs of pinned memory, two streams: while one chunk is copied and converted on the device, the next is read.
// Made at start-up, used for one file at a time.
class DeviceParamsLoader {
 public:
  static Result<DeviceParamsLoader> create(const gpu::Device& device);

  // Page-locked host memory that it holds, and device memory that load() reserves.
  static constexpr uint64_t pinned_bytes() { return kSlabs * (PointSink::kSlabBytes + 4 * PointSink::kSlabPoints); }
  static uint64_t staging_bytes();

  // Fills in the points of `srs`, which DeviceSrs::allocate() has made for the same shape and queries and which waits
  // for nothing any more; finish() is left to the caller. No point on the host but in the slabs. Errors: those of
  // stream_params(); kResource.
  Status load(const ByteSource& source, const SrsShape& shape, const PackedQueries& queries, DeviceSrs& srs,
              Progress& progress);
  // Checks the points and keeps none.
  Status check(const ByteSource& source, const SrsShape& shape, PointCheck check, Progress& progress);

 private:
  static constexpr size_t kSlabs = 2;
  struct Slab {
    gpu::PinnedBuffer<uint8_t> bytes;
    gpu::PinnedBuffer<uint32_t> places;
    gpu::Stream stream;
    gpu::Event copied;
    bool used = false;  // `copied` has been recorded
  };
  class Sink;
  Status stream(const ByteSource& source, const SrsShape& shape, const PackedQueries* queries, PointCheck check,
                Sink& sink, Progress& progress);
  DeviceParamsLoader(gpu::Device device, gpu::PinnedBuffer<unsigned long long> bad)
      : device_(std::move(device)), bad_(std::move(bad)) {}

  gpu::Device device_;
  gpu::PinnedBuffer<unsigned long long> bad_;
  std::array<std::optional<Slab>, kSlabs> slabs_;
};

}  // namespace cuzk
