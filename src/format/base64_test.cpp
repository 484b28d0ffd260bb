#include "format/base64.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cuzk {
namespace {

Result<std::string> decode(std::string_view text) {
  std::vector<uint8_t> out(base64_decoded_size(text));
  CUZK_ASSIGN(const size_t size, base64_decode(text, out));
  EXPECT_EQ(size, out.size());
  return std::string(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
}

std::string encode(std::string_view text) {
  return base64_encode({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// RFC 4648, section 10.
TEST(Base64, RfcVectors) {
  const std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, text] : kVectors) {
    EXPECT_EQ(encode(plain), text);
    const Result<std::string> decoded = decode(text);
    ASSERT_TRUE(decoded.ok()) << text;
    EXPECT_EQ(*decoded, plain);
  }
}

TEST(Base64, RoundTripsOfAllLengths) {
  std::mt19937 random(1);
  for (size_t length = 0; length < 300; ++length) {
    std::string bytes(length, 0);
    for (char& c : bytes) c = static_cast<char>(random());
    const Result<std::string> decoded = decode(encode(bytes));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(*decoded, bytes);
  }
}

TEST(Base64, EveryCharacterInEveryPlace) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t place = 0; place < 8; ++place) {
    for (int c = 0; c < 256; ++c) {
      std::string text = "AAAAAAAA";
      text[place] = static_cast<char>(c);
      // A single '=' at the end is padding: "AAA=" ends in whole bytes.
      const bool good = alphabet.find(static_cast<char>(c)) != std::string::npos || (c == '=' && place == 7);
      const Result<std::string> decoded = decode(text);
      ASSERT_EQ(decoded.ok(), good) << place << " " << c;
      if (!good) {
        EXPECT_EQ(decoded.error().offset, place) << c;
        EXPECT_EQ(decoded.error().error_class, ErrorClass::kInvalidInput);
      }
    }
  }
}

TEST(Base64, RefusesWithOffset) {
  const std::pair<const char*, uint64_t> kBad[] = {
      {"A", 1},        {"AB", 2},       {"ABC", 3},      {"=", 1},        {"====", 0}, {"A===", 1},
      {"AA=A", 2},     {"AA==AAAA", 2}, {"AAA=AAAA", 3}, {"AAAA====", 4}, {"AB==", 1}, {"AAB=", 2},
      {"AAAAAB==", 5}, {"AA\nA", 2},    {"AAAA\n", 5},   {"AA-_", 2},     {" AAA", 0}};
  for (const auto& [text, offset] : kBad) {
    const Result<std::string> decoded = decode(text);
    ASSERT_FALSE(decoded.ok()) << text;
    EXPECT_EQ(decoded.error().offset, offset) << text;
  }
}

}  // namespace
}  // namespace cuzk
