// What a failed CUDA call asks for. Plain C++: statuses are the numbers of cudaError_t, which CUDA keeps stable.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.hpp"

namespace cuzk::gpu {

enum class Remedy : uint8_t {
  kRetry,          // nothing is broken: the same call may succeed later
  kShrink,         // memory or launch resources ran out: try with less, or when others have finished
  kRestartWorker,  // the context is lost, and with it all that this process holds on the device
  kGiveUpDevice,   // this process and its successors cannot use the device until a person changes something
};

Remedy remedy_of_status(int cuda_status);

// The remedy as callers of this project's functions find it in the class of an Error.
constexpr Remedy remedy_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kResource: return Remedy::kShrink;
    case ErrorClass::kDeviceFault: return Remedy::kRestartWorker;
    case ErrorClass::kDeviceUnusable: return Remedy::kGiveUpDevice;
    default: return Remedy::kRetry;
  }
}

// "cudaMemcpyAsync failed: cudaErrorIllegalAddress (an illegal memory access was encountered)"; the class is that of
// the remedy, and kInternal for kRetry. Only the part of `call` before its arguments is shown.
Error cuda_error(int cuda_status, std::string_view name, std::string_view text, std::string_view call);

}  // namespace cuzk::gpu
