#include "base/random_access_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "base/atomic_file.hpp"

namespace cuzk {
namespace {

TEST(RandomAccessFile, ReadsPiecesAndNamesWhereItCannot) {
  const std::string path = testing::TempDir() + "cuzk-random-access-" + std::to_string(getpid());
  EXPECT_EQ(RandomAccessFile::open(path).error().error_class, ErrorClass::kNotFound);
  EXPECT_EQ(RandomAccessFile::open(path + "/x").error().error_class, ErrorClass::kNotFound);
  EXPECT_EQ(RandomAccessFile::open(testing::TempDir()).error().error_class, ErrorClass::kCorrupt);
  std::vector<uint8_t> bytes(5000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i >> 3);
  auto out = AtomicFile::create(path);
  ASSERT_TRUE(out.ok() && out->write(bytes).ok() && out->commit().ok());

  Result<RandomAccessFile> opened = RandomAccessFile::open(path);
  ASSERT_TRUE(opened.ok());
  RandomAccessFile file = std::move(opened).value();  // moved: still the same
  EXPECT_EQ(file.size(), 5000u);
  std::vector<uint8_t> piece(700);
  ASSERT_TRUE(file.read_at(4300, piece).ok());
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), bytes.begin() + 4300));
  EXPECT_TRUE(file.read_at(5000, {}).ok());
  const Error error = file.read_at(4301, piece).error();
  EXPECT_EQ(error.error_class, ErrorClass::kCorrupt);
  EXPECT_EQ(error.file, path);
  EXPECT_EQ(error.offset, 5000u);

  // Shortened while it is open: an error, not a signal.
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_EQ(file.read_at(200, piece).error().error_class, ErrorClass::kCorrupt);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace cuzk
