// For sources that call CUDA: failed calls as Errors.
#pragma once

#include <cuda_runtime_api.h>

#include "base/result.hpp"
#include "gpu/error.hpp"

namespace cuzk::gpu {

inline Error status_error(cudaError_t status, const char* call) {
  return cuda_error(static_cast<int>(status), cudaGetErrorName(status), cudaGetErrorString(status), call);
}

}  // namespace cuzk::gpu

// Returns the Error of a failed CUDA call from the enclosing function. After a launch:
// CUZK_CUDA_TRY(cudaGetLastError()).
#define CUZK_CUDA_TRY(call)                                                                         \
  do {                                                                                              \
    const cudaError_t cuzk_cuda_status = (call);                                                    \
    if (cuzk_cuda_status != cudaSuccess) return ::cuzk::gpu::status_error(cuzk_cuda_status, #call); \
  } while (0)
