#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

#include "gpu/device_state.cuh"
#include "gpu/unusable.hpp"

namespace cuzk::gpu {
namespace {

// Asked for to learn whether this build has code for a device.
__global__ void probe_kernel() {}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string out = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += digits;
  }
  return out;
}

Result<DeviceInfo> describe(int index) {
  cudaDeviceProp properties{};
  CUZK_CUDA_TRY(cudaGetDeviceProperties(&properties, index));
  DeviceInfo info;
  info.index = index;
  info.name = properties.name;
  info.uuid = uuid_text(properties.uuid);
  info.compute_major = properties.major;
  info.compute_minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.memory_bytes = properties.totalGlobalMem;
  info.l2_bytes = static_cast<uint64_t>(properties.l2CacheSize);
  info.shared_bytes_per_block = properties.sharedMemPerBlockOptin;
  return info;
}

}  // namespace

Result<std::vector<DeviceInfo>> list_devices() {
  int count = 0, driver = 0, runtime = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count == 0) status = cudaErrorNoDevice;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (auto error = startup_error(static_cast<int>(status), driver, runtime)) return *std::move(error);
  CUZK_CUDA_TRY(status);
  std::vector<DeviceInfo> devices;
  for (int index = 0; index < count; ++index) {
    CUZK_ASSIGN(DeviceInfo info, describe(index));
    devices.push_back(std::move(info));
  }
  return devices;
}

Result<Device> Device::open(const DeviceInfo& info, const ArenaSize& size) {
  CUZK_CUDA_TRY(cudaSetDevice(info.index));
  cudaFuncAttributes attributes{};
  const cudaError_t probe = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (auto error = kernel_error(static_cast<int>(probe), info.name, info.compute_major, info.compute_minor)) {
    return *std::move(error);
  }
  CUZK_CUDA_TRY(probe);
  // Memory is read in sectors of 32 bytes, not 64 as by default: sums gather points of 96 bytes at random, and read a
  // quarter less so (68.4 GB to 51.3 in the first round of 2^28 entries on an H200; 2 % of a sum with tables). A hint,
  // which a device may not know.
  if (cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32) != cudaSuccess) (void)cudaGetLastError();
  size_t free_bytes = 0, total_bytes = 0;
  CUZK_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
  const uint64_t margin =
      size.margin_bytes != 0 ? size.margin_bytes : std::max(uint64_t{512} << 20, info.memory_bytes / 32);
  const uint64_t unmargined = free_bytes - std::min<uint64_t>(free_bytes, margin);
  const uint64_t bytes =
      (size.bytes != 0 ? size.bytes : unmargined) / ArenaLayout::kGranularityBytes * ArenaLayout::kGranularityBytes;
  if (bytes == 0 || bytes > free_bytes) {
    return Error(ErrorClass::kResource, "GPU " + std::to_string(info.index) + " (" + info.name + ") has " +
                                            std::to_string(free_bytes) + " bytes free, too few for an arena of " +
                                            std::to_string(size.bytes != 0 ? size.bytes : margin));
  }
  void* arena = nullptr;
  CUZK_CUDA_TRY(cudaMalloc(&arena, bytes));
  return Device(std::make_shared<DeviceState>(info, arena, bytes));
}

}  // namespace cuzk::gpu
