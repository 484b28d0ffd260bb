#include "groth16/device_setup_file.hpp"

namespace cuzk {

Result<VerifyingKey> setup_to_file_on_gpu(const gpu::DeviceInfo&, const CompiledCircuit&, const ToxicWaste&,
                                          const std::string&, Progress&) {
  return Error(ErrorClass::kUnsupported, "this build has no CUDA code: GPUs cannot be used");
}

}  // namespace cuzk
