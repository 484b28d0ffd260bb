#include "telemetry/escape.hpp"

namespace cuzk {

std::string escaped(std::string_view text, std::string_view also, size_t max_bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  const bool cut = text.size() > max_bytes;
  if (cut) text = text.substr(0, max_bytes);
  std::string out;
  out.reserve(text.size() + 3);
  for (const char c : text) {
    if (c >= 0x20 && c < 0x7f && c != '\\' && also.find(c) == std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  if (cut) out += "...";
  return out;
}

}  // namespace cuzk
