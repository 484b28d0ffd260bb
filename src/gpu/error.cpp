#include "gpu/error.hpp"

#include <string>

namespace cuzk::gpu {

// CUDA 13 driver_types.h, enum cudaError. Sticky errors, after which every call of the process fails, ask for a new
// process; of the others those that no retry cures give the device up.
Remedy remedy_of_status(int cuda_status) {
  switch (cuda_status) {
    case 2:    // cudaErrorMemoryAllocation
    case 701:  // cudaErrorLaunchOutOfResources
      return Remedy::kShrink;
    case 3:    // cudaErrorInitializationError
    case 4:    // cudaErrorCudartUnloading
    case 214:  // cudaErrorECCUncorrectable
    case 220:  // cudaErrorNvlinkUncorrectable
    case 226:  // cudaErrorContained
    case 700:  // cudaErrorIllegalAddress
    case 702:  // cudaErrorLaunchTimeout
    case 709:  // cudaErrorContextIsDestroyed
    case 710:  // cudaErrorAssert
    case 714:  // cudaErrorHardwareStackError
    case 715:  // cudaErrorIllegalInstruction
    case 716:  // cudaErrorMisalignedAddress
    case 717:  // cudaErrorInvalidAddressSpace
    case 718:  // cudaErrorInvalidPc
    case 719:  // cudaErrorLaunchFailure
    case 721:  // cudaErrorTensorMemoryLeak
    case 999:  // cudaErrorUnknown
      return Remedy::kRestartWorker;
    case 34:   // cudaErrorStubLibrary
    case 35:   // cudaErrorInsufficientDriver
    case 100:  // cudaErrorNoDevice
    case 101:  // cudaErrorInvalidDevice
    case 200:  // cudaErrorInvalidKernelImage
    case 209:  // cudaErrorNoKernelImageForDevice
    case 218:  // cudaErrorInvalidPtx
    case 221:  // cudaErrorJitCompilerNotFound
    case 222:  // cudaErrorUnsupportedPtxVersion
    case 802:  // cudaErrorSystemNotReady
    case 803:  // cudaErrorSystemDriverMismatch
    case 804:  // cudaErrorCompatNotSupportedOnDevice
      return Remedy::kGiveUpDevice;
    default: return Remedy::kRetry;
  }
}

Error cuda_error(int cuda_status, std::string_view name, std::string_view text, std::string_view call) {
  ErrorClass error_class = ErrorClass::kInternal;
  switch (remedy_of_status(cuda_status)) {
    case Remedy::kRetry: break;
    case Remedy::kShrink: error_class = ErrorClass::kResource; break;
    case Remedy::kRestartWorker: error_class = ErrorClass::kDeviceFault; break;
    case Remedy::kGiveUpDevice: error_class = ErrorClass::kDeviceUnusable; break;
  }
  return {error_class, std::string(call.substr(0, call.find('('))) + " failed: " + std::string(name) + " (" +
                           std::string(text) + ")"};
}

}  // namespace cuzk::gpu
