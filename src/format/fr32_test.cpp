#include "format/fr32.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cuzk {
namespace {

bool bit(std::span<const uint8_t> bytes, size_t i) { return bytes[i / 8] >> (i % 8) & 1; }

// Bit by bit, as the definition says.
TEST(Fr32, PutsTwoZeroBitsBehindEvery254) {
  std::mt19937_64 random(1);
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{31}, size_t{32}, size_t{127}, size_t{128}, size_t{253}, size_t{254}}) {
    std::vector<uint8_t> data(size);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
    const std::vector<NodeBytes> nodes = fr32_pad(data, 8);
    ASSERT_EQ(nodes.size(), 8u);
    for (size_t i = 0; i < 8 * 256; ++i) {
      const size_t from = i / 256 * 254 + i % 256;
      const bool expected = i % 256 < 254 && from < 8 * size && bit(data, from);
      ASSERT_EQ(bit(nodes[i / 256], i % 256), expected) << size << ", bit " << i;
    }
  }
}

TEST(Fr32, TakesDataOrPaddedNodes) {
  const uint64_t nodes = 64;
  EXPECT_EQ(fr32_data_bytes(nodes), 2032u);
  std::vector<uint8_t> content(2048);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<uint8_t>(i % 32 == 31 ? 0x3f : i);
  const Result<std::vector<NodeBytes>> padded = sector_data(content, nodes);
  ASSERT_TRUE(padded.ok());
  EXPECT_TRUE(std::equal(content.begin(), content.end(), (*padded)[0].begin()));
  EXPECT_EQ(*sector_data(std::span(content).first(2032), nodes), fr32_pad(std::span(content).first(2032), nodes));
  EXPECT_EQ(*sector_data({}, nodes), std::vector<NodeBytes>(64));
  for (const size_t size : {2033u, 2047u}) EXPECT_FALSE(sector_data(std::span(content).first(size), nodes).ok());
  EXPECT_FALSE(sector_data(content, nodes / 2).ok());
  content[32 * 5 + 31] = 0x40;
  const Result<std::vector<NodeBytes>> wrong = sector_data(content, nodes);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().error_class, ErrorClass::kInvalidInput);
  EXPECT_EQ(wrong.error().offset, 160u);
}

}  // namespace
}  // namespace cuzk
