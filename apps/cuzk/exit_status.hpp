// Exit statuses of the command line; docs/operations.md has the table for users.
#pragma once

#include "base/error.hpp"

namespace cuzk::app {

inline constexpr int kExitOk = 0;
inline constexpr int kExitInternal = 1;
inline constexpr int kExitUsage = 2;
// A daemon answered, and there is no proof: what became of the job instead.
inline constexpr int kExitJobFailed = 20;
inline constexpr int kExitJobCancelled = 21;
inline constexpr int kExitJobTimedOut = 22;

constexpr int exit_status(ErrorClass c) {
  switch (c) {
    case ErrorClass::kInternal: return kExitInternal;
    case ErrorClass::kUsage: return kExitUsage;
    case ErrorClass::kInvalidInput: return 3;
    case ErrorClass::kUnsatisfied: return 4;
    case ErrorClass::kBadProof: return 5;
    case ErrorClass::kNotFound: return 6;
    case ErrorClass::kCorrupt: return 7;
    case ErrorClass::kIo: return 8;
    case ErrorClass::kResource: return 9;
    case ErrorClass::kUnsupported: return 10;
    case ErrorClass::kDeviceFault: return 11;
    case ErrorClass::kDeviceUnusable: return 12;
    case ErrorClass::kCancelled: return kExitJobCancelled;
    case ErrorClass::kExpired: return kExitJobTimedOut;
  }
  return kExitInternal;
}

}  // namespace cuzk::app
