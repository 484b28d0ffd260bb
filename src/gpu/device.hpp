// The GPUs of this machine, and one of them in use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "gpu/arena_layout.hpp"
#include "gpu/memory.hpp"
#include "gpu/stream.hpp"

namespace cuzk::gpu {

struct DeviceInfo {
  int index = 0;  // CUDA's order, in which CUDA_VISIBLE_DEVICES is already applied
  std::string name;
  std::string uuid;  // "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as nvidia-smi prints it
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  uint64_t memory_bytes = 0, l2_bytes = 0;
  uint64_t shared_bytes_per_block = 0;  // the most that a block may ask for

  // Whether FP64 runs at half the rate of FP32 (A100, H100, H200, B200), not a 64th of it or less: by the compute
  // capability, after the table of instruction throughputs in NVIDIA's programming guide.
  bool has_full_rate_fp64() const {
    return compute_minor == 0 && (compute_major == 8 || compute_major == 9 || compute_major == 10);
  }
};

// All devices in CUDA's order, at least one. Errors, one line each: kNotFound where there is no driver or it shows no
// device; kDeviceUnusable where the driver is older than the runtime needs; kUnsupported in a build without CUDA.
Result<std::vector<DeviceInfo>> list_devices();

// The device that `name` names: its number in the list, or its UUID or a beginning of it that fits no other, with or
// without "GPU-", case ignored. Error kNotFound, naming what there is.
Result<DeviceInfo> find_device(std::span<const DeviceInfo> devices, std::string_view name);

// How much device memory the arena takes when a device is opened.
struct ArenaSize {
  uint64_t bytes = 0;  // 0: all that is free less the margin
  // 0: a 32nd of the device's memory, 512 MiB at least. CUDA itself takes memory there, for code and for the stacks of
  // kernels that spill registers: stack bytes for as many threads as run at once, 270,000 on an H200. A launch that
  // finds none fails with cudaErrorMemoryAllocation (seen with 512 MiB on an H200).
  uint64_t margin_bytes = 0;
};

struct ArenaUsage {
  uint64_t capacity_bytes, used_bytes, peak_bytes, largest_free_bytes;
  size_t ranges;
};

// A device in use by this process: its context, its arena and its streams. Thread-safe; movable. What is made of it
// keeps it alive.
class Device {
 public:
  // Makes the context, checks that this build has code for the device, and takes the arena: the only device memory that
  // this process ever allocates. Errors: kDeviceUnusable, kResource where the arena cannot be had.
  static Result<Device> open(const DeviceInfo& info, const ArenaSize& size);

  const DeviceInfo& info() const;
  // Kernels of the calling thread run on this device from now on. Functions that take a Stream need it first.
  Status make_current() const;
  Result<Stream> make_stream() const;
  Result<Event> make_event() const;
  Result<PinnedBytes> allocate_pinned_bytes(uint64_t bytes) const;
  template <class T>
  Result<PinnedBuffer<T>> allocate_pinned(size_t size) const {
    CUZK_ASSIGN(PinnedBytes bytes, allocate_pinned_bytes(size * sizeof(T)));
    return PinnedBuffer<T>(std::move(bytes), size);
  }

  // A part of the arena. Its memory may have had users on other streams: allocations in it wait for them. Error
  // kResource where no free range is large enough.
  Result<Reservation> reserve(uint64_t bytes, Placement placement) const;
  ArenaUsage usage() const;

 private:
  explicit Device(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}
  std::shared_ptr<DeviceState> state_;
};

}  // namespace cuzk::gpu
