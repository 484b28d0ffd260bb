#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

#include "gpu/device_state.cuh"

namespace cuzk::gpu {
namespace {

// Asked for to learn whether this build has code for a device.
__global__ void probe_kernel() {}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

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
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary) {
    int driver = 0, runtime = 0;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    if (driver == 0) return Error(ErrorClass::kDeviceUnusable, "no NVIDIA driver is loaded on this machine");
    return Error(ErrorClass::kDeviceUnusable, "the NVIDIA driver is too old: it supports CUDA " + version_text(driver) +
                                                  ", and this build needs " + version_text(runtime));
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    return Error(ErrorClass::kDeviceUnusable, "the NVIDIA driver shows no GPU (does CUDA_VISIBLE_DEVICES hide them?)");
  }
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
  if (probe == cudaErrorNoKernelImageForDevice || probe == cudaErrorInvalidDeviceFunction ||
      probe == cudaErrorUnsupportedPtxVersion) {
    return Error(ErrorClass::kDeviceUnusable, "this build has no code for " + info.name + " (compute capability " +
                                                  std::to_string(info.compute_major) + "." +
                                                  std::to_string(info.compute_minor) + ")");
  }
  CUZK_CUDA_TRY(probe);
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
