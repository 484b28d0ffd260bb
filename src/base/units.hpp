// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace cuzk {

// "1.11 GB", "4,708 bytes": powers of ten, three digits.
std::string human_bytes(uint64_t bytes);
// "2,687,921"
std::string grouped(uint64_t number);

}  // namespace cuzk
