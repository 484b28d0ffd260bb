// What a build without CUDA says of workers for GPUs.
#include "worker/gpu_worker.hpp"

namespace cuzk {

Result<std::unique_ptr<WorkerBackend>> make_cuda_worker(std::string_view, uint32_t) {
  return Error(ErrorClass::kUnsupported,
               "this build has no CUDA code: GPUs cannot be used (build with `cmake --preset cuda`)");
}

}  // namespace cuzk
