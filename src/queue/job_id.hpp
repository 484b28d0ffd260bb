// Ids of jobs that come without one.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cuzk {

// A version 4 UUID (RFC 9562) from the system's randomness: "f81d4fae-7dec-41d0-a765-00a0c91e6bf6". Errors: kIo.
Result<std::string> random_uuid();

}  // namespace cuzk
