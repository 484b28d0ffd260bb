// Randomness of the operating system, the only source of r, s and batch-verification weights.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace cuzk {

// Fills `out` from getrandom(2). Blocks only before the kernel's pool is first seeded. Errors: kIo.
Status os_random(std::span<uint8_t> out);

}  // namespace cuzk
