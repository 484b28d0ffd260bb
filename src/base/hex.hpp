// Hexadecimal text of bytes, lower case, no prefix.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk {

std::string to_hex(std::span<const uint8_t> bytes);
// Nothing where the length is odd or a character is not hexadecimal; upper and lower case are read.
std::optional<std::vector<uint8_t>> from_hex(std::string_view text);

}  // namespace cuzk
