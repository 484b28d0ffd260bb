// What a build without CUDA says about devices.
#include "gpu/device.hpp"

namespace cuzk::gpu {

Result<std::vector<DeviceInfo>> list_devices() {
  return Error(ErrorClass::kUnsupported, "this build has no CUDA code: GPUs cannot be used");
}

Result<Device> Device::open(const DeviceInfo&, const ArenaSize&) {
  return Error(ErrorClass::kUnsupported, "this build has no CUDA code: GPUs cannot be used");
}

}  // namespace cuzk::gpu
