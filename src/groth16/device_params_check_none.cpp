#include "groth16/device_params_check.hpp"

namespace cuzk {

Status check_params_on_gpu(const gpu::DeviceInfo&, const ByteSource&, const SrsShape&, PointCheck, Progress&) {
  return Error(ErrorClass::kUnsupported, "this build has no CUDA code: GPUs cannot be used");
}

}  // namespace cuzk
