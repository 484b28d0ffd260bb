#include "config/quantity.hpp"

#include <array>
#include <optional>

namespace cuzk {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};
constexpr uint64_t kKi = 1024, kK = 1000;
// The largest exact one is what is written, so binary ones come last where both would do.
constexpr std::array kSizeUnits = {Unit{"B", 1},
                                   Unit{"KB", kK},
                                   Unit{"kB", kK},
                                   Unit{"MB", kK* kK},
                                   Unit{"GB", kK* kK* kK},
                                   Unit{"TB", kK* kK* kK* kK},
                                   Unit{"KiB", kKi},
                                   Unit{"MiB", kKi* kKi},
                                   Unit{"GiB", kKi* kKi* kKi},
                                   Unit{"TiB", kKi* kKi* kKi* kKi}};
constexpr std::array kTimeUnits = {Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60'000}, Unit{"h", 3'600'000},
                                   Unit{"d", 86'400'000}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// "12.50" as 1250 hundredths.
struct Decimal {
  uint64_t digits = 0;
  uint64_t denominator = 1;
};

// Takes a number off the front of `text`. Nothing where there is none, or where it has more digits than fit.
std::optional<Decimal> take_number(std::string_view& text) {
  Decimal number;
  size_t used = 0, after_point = 0;
  bool point = false;
  for (; used < text.size(); ++used) {
    const char c = text[used];
    if (c == '.' && !point && used > 0) {
      point = true;
      continue;
    }
    if (!is_digit(c)) break;
    if (__builtin_mul_overflow(number.digits, 10, &number.digits) ||
        __builtin_add_overflow(number.digits, static_cast<uint64_t>(c - '0'), &number.digits)) {
      return std::nullopt;
    }
    if (point) {
      ++after_point;
      number.denominator *= 10;  // no more digits than a uint64_t has
    }
  }
  if (used == 0 || (point && after_point == 0)) return std::nullopt;
  text.remove_prefix(used);
  return number;
}

// `bare` is the unit of a number alone; `bare_decimals` whether that may have decimals.
template <size_t N>
std::optional<uint64_t> parse(std::string_view text, const std::array<Unit, N>& units, uint64_t bare,
                              bool bare_decimals) {
  text = trimmed(text);
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  text = trimmed(text);
  uint64_t factor = 0;
  if (text.empty() && (bare_decimals || number->denominator == 1)) factor = bare;
  for (const Unit& unit : units) {
    if (text == unit.name) factor = unit.factor;
  }
  if (factor == 0) return std::nullopt;
  const auto value = static_cast<unsigned __int128>(number->digits) * factor / number->denominator;
  if (value > INT64_MAX) return std::nullopt;
  return static_cast<uint64_t>(value);
}

template <size_t N>
std::string format(uint64_t value, const std::array<Unit, N>& units, std::string_view smallest) {
  const Unit* best = nullptr;
  for (const Unit& unit : units) {
    if (value >= unit.factor && value % unit.factor == 0 && (best == nullptr || unit.factor > best->factor)) {
      best = &unit;
    }
  }
  if (best == nullptr || best->factor == 1) return std::to_string(value) + std::string(smallest);
  return std::to_string(value / best->factor) + std::string(best->name);
}

}  // namespace

Result<Size> parse_size(std::string_view text) {
  if (const auto bytes = parse(text, kSizeUnits, 1, false)) return Size{*bytes};
  return Error(ErrorClass::kInvalidInput, "'" + std::string(text) +
                                              "' is no size: write a number and one of KiB, MiB, GiB, TiB (powers of "
                                              "1024), KB, MB, GB, TB (of 1000), as in \"1.5TiB\"");
}

Result<Duration> parse_duration(std::string_view text) {
  if (const auto ms = parse(text, kTimeUnits, 1000, true)) return Duration(*ms);
  return Error(ErrorClass::kInvalidInput, "'" + std::string(text) +
                                              "' is no duration: write a number and one of ms, s, m, h, d, as in "
                                              "\"90s\"; a number alone is seconds");
}

std::string format_size(Size size) { return format(size.bytes, kSizeUnits, ""); }
std::string format_duration(Duration duration) {
  return format(static_cast<uint64_t>(duration.count()), kTimeUnits, "ms");
}

}  // namespace cuzk
