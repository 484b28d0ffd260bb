#include "gpu/unusable.hpp"

#include <string>
#include <utility>

namespace cuzk::gpu {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::optional<Error> startup_error(int cuda_status, int driver_version, int runtime_version) {
  const auto unusable = [](std::string text) { return Error(ErrorClass::kDeviceUnusable, std::move(text)); };
  switch (cuda_status) {
    case 34:  // cudaErrorStubLibrary
    case 35:  // cudaErrorInsufficientDriver
      if (driver_version == 0) return Error(ErrorClass::kNotFound, "no NVIDIA driver is loaded on this machine");
      return unusable("the NVIDIA driver is too old: it supports CUDA " + version_text(driver_version) +
                      ", and this build needs " + version_text(runtime_version));
    case 100:  // cudaErrorNoDevice
      return Error(ErrorClass::kNotFound, "the NVIDIA driver shows no GPU (does CUDA_VISIBLE_DEVICES hide them?)");
    case 802:  // cudaErrorSystemNotReady
      return unusable(
          "the NVIDIA driver is not ready (where GPUs are joined by NVSwitch, nvidia-fabricmanager must run)");
    case 803:  // cudaErrorSystemDriverMismatch
      return unusable(
          "the NVIDIA driver's libraries and its kernel module differ in version (a restart loads both anew)");
    case 804:  // cudaErrorCompatNotSupportedOnDevice
      return unusable("CUDA's compatibility libraries do not support this GPU: it needs an NVIDIA driver for CUDA " +
                      version_text(runtime_version));
    default: return std::nullopt;
  }
}

std::optional<Error> kernel_error(int cuda_status, std::string_view device, int major, int minor) {
  const std::string on = " for " + std::string(device) + " (compute capability " + std::to_string(major) + "." +
                         std::to_string(minor) + ")";
  switch (cuda_status) {
    case 98:   // cudaErrorInvalidDeviceFunction
    case 200:  // cudaErrorInvalidKernelImage
    case 209:  // cudaErrorNoKernelImageForDevice
      return Error(ErrorClass::kDeviceUnusable, "this build has no code" + on);
    case 221:  // cudaErrorJitCompilerNotFound
    case 222:  // cudaErrorUnsupportedPtxVersion
      return Error(ErrorClass::kDeviceUnusable,
                   "this build has no code" + on + " but for a newer NVIDIA driver to compile");
    default: return std::nullopt;
  }
}

}  // namespace cuzk::gpu
