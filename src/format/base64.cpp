#include "format/base64.hpp"

#include <array>

#include "base/assert.hpp"

namespace cuzk {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint32_t kInvalid = 0x80000000;

// Table k: the 6 bits of a character, shifted to its place in a group of four; kInvalid where it is none.
using Tables = std::array<std::array<uint32_t, 256>, 4>;

constexpr Tables make_tables() {
  Tables tables{};
  for (auto& table : tables) {
    for (auto& entry : table) entry = kInvalid;
  }
  for (uint32_t value = 0; value < 64; ++value) {
    for (uint32_t k = 0; k < 4; ++k) tables[k][static_cast<uint8_t>(kAlphabet[value])] = value << (18 - 6 * k);
  }
  return tables;
}
constexpr Tables kTables = make_tables();

uint32_t group(const uint8_t* in) {
  return kTables[0][in[0]] | kTables[1][in[1]] | kTables[2][in[2]] | kTables[3][in[3]];
}

Error invalid_character(std::string_view text, size_t from) {
  size_t i = from;
  while (i < text.size() && kTables[3][static_cast<uint8_t>(text[i])] != kInvalid) ++i;
  const bool padding = i < text.size() && text[i] == '=';
  return Error(ErrorClass::kInvalidInput, padding ? "base64 padding is not at the end" : "not a base64 character")
      .at_offset(i);
}

}  // namespace

size_t base64_decoded_size(std::string_view text) {
  size_t size = text.size() / 4 * 3;
  if (text.size() >= 4 && text.back() == '=') size -= text[text.size() - 2] == '=' ? 2 : 1;
  return size;
}

Result<size_t> base64_decode(std::string_view text, std::span<uint8_t> out) {
  if (text.size() % 4 != 0) {
    return Error(ErrorClass::kInvalidInput, "base64 text must be a multiple of 4 characters long, padding included")
        .at_offset(text.size());
  }
  if (text.empty()) return size_t{0};
  CUZK_ASSERT(out.size() >= base64_decoded_size(text));
  const auto* in = reinterpret_cast<const uint8_t*>(text.data());
  const size_t groups = text.size() / 4;
  uint8_t* to = out.data();
  for (size_t g = 0; g + 1 < groups; ++g, in += 4, to += 3) {
    const uint32_t bits = group(in);
    if (bits & kInvalid) return invalid_character(text, 4 * g);
    to[0] = static_cast<uint8_t>(bits >> 16);
    to[1] = static_cast<uint8_t>(bits >> 8);
    to[2] = static_cast<uint8_t>(bits);
  }
  // The last group may be padded.
  const unsigned padding = in[3] != '=' ? 0 : in[2] != '=' ? 1 : 2;
  const uint8_t last[4] = {in[0], in[1], padding == 2 ? uint8_t{'A'} : in[2], padding >= 1 ? uint8_t{'A'} : in[3]};
  const uint32_t bits = group(last);
  if (bits & kInvalid) return invalid_character(text, text.size() - 4);
  const unsigned bytes = 3 - padding;
  if ((bits << (8 * bytes) & 0xffffff) != 0) {
    return Error(ErrorClass::kInvalidInput, "the last base64 character has bits below the last byte")
        .at_offset(text.size() - padding - 1);
  }
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(bits >> (16 - 8 * i));
  return 3 * (groups - 1) + bytes;
}

std::string base64_encode(std::span<const uint8_t> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = bytes.size() - i;
    const uint32_t bits = static_cast<uint32_t>(bytes[i]) << 16 |
                          (n > 1 ? static_cast<uint32_t>(bytes[i + 1]) << 8 : 0) | (n > 2 ? bytes[i + 2] : 0);
    out += kAlphabet[bits >> 18];
    out += kAlphabet[bits >> 12 & 63];
    out += n > 1 ? kAlphabet[bits >> 6 & 63] : '=';
    out += n > 2 ? kAlphabet[bits & 63] : '=';
  }
  return out;
}

}  // namespace cuzk
