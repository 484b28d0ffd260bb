#include "srs/digest.hpp"

#include <gtest/gtest.h>

#include "srs/srs_test_support.hpp"

namespace cuzk {
namespace {

TEST(FileDigest, KnownFiles) {
  NoProgress quiet;
  // BLAKE2b-512("abc") begins ba80a53f981c4d0d 6a2797b69f12f6e9 (RFC 7693, appendix A); of nothing, 786a02f7...
  const std::vector<uint8_t> abc = {'a', 'b', 'c'};
  EXPECT_EQ(*file_digest(MemorySource(abc), quiet), "ba80a53f981c4d0d6a2797b69f12f6e9");
  EXPECT_EQ(*file_digest(MemorySource({}), quiet), "786a02f742015903c6c6fd852552d272");
  // Of upstream's test parameters for the 2 KiB circuit (groth16-known-answers.json).
  const auto vk = file_digest(CUZK_GOLDEN_DIR "/c1-2kib-test.vk", quiet);
  ASSERT_TRUE(vk.ok());
  EXPECT_EQ(*vk, "2251486f28b1945835b5fe3b13c86802");
  const auto absent = file_digest(CUZK_GOLDEN_DIR "/absent", quiet);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().error_class, ErrorClass::kNotFound);
}

// Longer than a block, against Python: hashlib.blake2b(bytes(i * i % 251 for i in range(2500000))).hexdigest()[:32].
TEST(FileDigest, SeveralBlocks) {
  std::vector<uint8_t> bytes(2500000);
  for (uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i % 251);
  test::TemporaryDirectory directory;
  test::write_bytes(directory.file("f"), bytes);
  NoProgress quiet;
  EXPECT_EQ(*file_digest(directory.file("f"), quiet), "f15847fd2fabc74b755db823dddfdbcd");
}

}  // namespace
}  // namespace cuzk
