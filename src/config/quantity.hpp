// Sizes and durations as people write them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cuzk {

struct Size {
  uint64_t bytes = 0;
  friend bool operator==(Size, Size) = default;
};
using Duration = std::chrono::milliseconds;

// A number, decimals allowed, and B, KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (of 1024), blanks between
// them allowed; a whole number alone is bytes. Rounded down to bytes. Errors: kInvalidInput, what is wrong with it and
// what would be right; never a default.
Result<Size> parse_size(std::string_view text);
// A number, decimals allowed, and ms, s, m, h or d; a number alone is seconds. Rounded down to milliseconds. Errors:
// kInvalidInput.
Result<Duration> parse_duration(std::string_view text);

// What parse_size and parse_duration read as the same value: "5GiB", "1536MiB", "1000"; "5m", "90s", "1500ms".
std::string format_size(Size size);
std::string format_duration(Duration duration);

}  // namespace cuzk
