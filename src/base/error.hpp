// What can be expected to go wrong, as a value. A bug is not an Error: it asserts (base/assert.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace cuzk {

// The class decides what a caller does next, and the exit status of the command line.
enum class ErrorClass : uint8_t {
  kUsage,           // the command or the call itself is wrong; never retry
  kInvalidInput,    // the request's bytes are wrong; never retry with the same bytes
  kUnsatisfied,     // the input is well formed but does not satisfy its circuit; never retry with the same bytes
  kBadProof,        // a proof does not verify
  kNotFound,        // a file that the work needs is absent; retry after providing it
  kCorrupt,         // a file is present but damaged or foreign; retry after replacing it
  kIo,              // reading or writing failed; a retry may help
  kResource,        // memory, descriptors or device space ran out; retry later or with less
  kUnsupported,     // valid, but not something this build or this machine can ever do
  kDeviceFault,     // a GPU failed and all that the process held on it is lost; retry in a new process or elsewhere
  kDeviceUnusable,  // a GPU or its driver cannot be used; never retry on it before a person changed something
  kInternal,        // what must not happen; a retry elsewhere may help, and the log should be reported
  kCancelled,       // somebody asked for its end, or nobody wants it any more; the same call may be made again
  kExpired,         // its deadline has passed; retry with a later one
};
// For whoever writes classes as numbers. New ones go to the end: journals have the numbers.
inline constexpr ErrorClass kLastErrorClass = ErrorClass::kExpired;

// True where the same call may succeed later without any change to its input.
constexpr bool retry_helps(ErrorClass c) {
  return c == ErrorClass::kIo || c == ErrorClass::kResource || c == ErrorClass::kDeviceFault ||
         c == ErrorClass::kInternal || c == ErrorClass::kCancelled;
}

constexpr const char* to_string(ErrorClass c) {
  switch (c) {
    case ErrorClass::kUsage: return "usage";
    case ErrorClass::kInvalidInput: return "invalid-input";
    case ErrorClass::kUnsatisfied: return "unsatisfied";
    case ErrorClass::kBadProof: return "bad-proof";
    case ErrorClass::kNotFound: return "not-found";
    case ErrorClass::kCorrupt: return "corrupt";
    case ErrorClass::kIo: return "io";
    case ErrorClass::kResource: return "resource";
    case ErrorClass::kUnsupported: return "unsupported";
    case ErrorClass::kDeviceFault: return "device-fault";
    case ErrorClass::kDeviceUnusable: return "device-unusable";
    case ErrorClass::kInternal: return "internal";
    case ErrorClass::kCancelled: return "cancelled";
    case ErrorClass::kExpired: return "expired";
  }
  return "unknown";
}

// An error with the place it was found at. Places are filled in by whoever knows them, on the way up.
struct Error {
  ErrorClass error_class = ErrorClass::kInternal;
  std::string message;                // what is wrong, in one sentence, without the place
  std::string field;                  // path of the field, e.g. "vanilla_proofs[0][1].comm_d_proofs.leaf"
  std::string file;                   // path of the file
  std::optional<uint64_t> offset;     // byte offset in that file or input
  std::optional<uint64_t> sector;     // sector number
  std::optional<uint32_t> partition;  // partition index

  Error() = default;
  Error(ErrorClass c, std::string m) : error_class(c), message(std::move(m)) {}
  Error&& at_field(std::string f) && {
    field = std::move(f);
    return std::move(*this);
  }
  Error&& in_file(std::string f) && {
    file = std::move(f);
    return std::move(*this);
  }
  Error&& at_offset(uint64_t o) && {
    offset = o;
    return std::move(*this);
  }
  Error&& of_sector(uint64_t s) && {
    sector = s;
    return std::move(*this);
  }
  Error&& of_partition(uint32_t p) && {
    partition = p;
    return std::move(*this);
  }

  // "message (field ..., file ..., offset ..., sector ..., partition ...)"
  std::string describe() const;
};

}  // namespace cuzk
