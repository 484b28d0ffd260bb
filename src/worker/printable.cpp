#include "worker/printable.hpp"

#include <cstdint>

namespace cuzk {
namespace {

// Bytes of the UTF-8 character that the text begins with; 0 where it is none. Overlong forms, surrogates and what is
// above U+10FFFF are none (RFC 3629, section 4).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (first < 0xc2 || length == 0 || text.size() < length) return 0;
  const uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string printable(std::string_view text, size_t most_bytes) {
  constexpr std::string_view kCut = "...";
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const auto first = static_cast<uint8_t>(text[0]);
    const bool good = length > 0 && first >= 0x20 && first != 0x7f;
    const size_t take = length > 0 ? length : 1;
    // The mark must fit too, unless this is the end.
    const size_t room = most_bytes - out.size();
    if (take > room || (text.size() > room && take + kCut.size() > room)) {
      if (room >= kCut.size()) out += kCut;
      return out;
    }
    if (good) {
      out += text.substr(0, take);
    } else {
      out += '?';
    }
    text.remove_prefix(take);
  }
  return out;
}

}  // namespace cuzk
