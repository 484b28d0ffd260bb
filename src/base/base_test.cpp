#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/bits.hpp"
#include "base/element_errors.hpp"
#include "base/error.hpp"
#include "base/hex.hpp"
#include "base/mapped_file.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "base/secret.hpp"

namespace cuzk {
namespace {

TEST(Error, DescribesEveryPlaceItKnows) {
  const Error e = Error(ErrorClass::kCorrupt, "the point is not on the curve")
                      .at_field("h[3]")
                      .in_file("x.params")
                      .at_offset(1024)
                      .of_sector(7)
                      .of_partition(2);
  EXPECT_EQ(e.describe(),
            "the point is not on the curve (field h[3], file x.params, offset 1024, sector 7, partition 2)");
  EXPECT_EQ(Error(ErrorClass::kIo, "no space").describe(), "no space");
}

TEST(MappedFile, ShowsWhatWasWrittenAndKeepsIt) {
  const std::string path = testing::TempDir() + "cuzk-mapped-" + std::to_string(getpid());
  EXPECT_EQ(MappedFile::open(path).error().error_class, ErrorClass::kNotFound);
  EXPECT_EQ(MappedFile::open(testing::TempDir()).error().error_class, ErrorClass::kCorrupt);
  const auto write = [&](std::span<const uint8_t> bytes) {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file.ok() && file->write(bytes).ok() && file->commit().ok());
  };
  write({});
  EXPECT_TRUE((*MappedFile::open(path))->bytes().empty());
  std::vector<uint8_t> bytes(100000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i >> 3);
  write(bytes);
  const auto mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped.ok());
  write(std::vector<uint8_t>(7));  // replaces the file, not the mapping
  EXPECT_EQ((*MappedFile::open(path))->bytes().size(), 7u);
  std::remove(path.c_str());
  EXPECT_EQ(std::vector<uint8_t>((*mapped)->bytes().begin(), (*mapped)->bytes().end()), bytes);
}

TEST(Error, RetryHelpsOnlyWhereTheInputIsNotToBlame) {
  for (const auto c : {ErrorClass::kIo, ErrorClass::kResource, ErrorClass::kInternal}) EXPECT_TRUE(retry_helps(c));
  for (const auto c : {ErrorClass::kUsage, ErrorClass::kInvalidInput, ErrorClass::kUnsatisfied, ErrorClass::kBadProof,
                       ErrorClass::kNotFound, ErrorClass::kCorrupt, ErrorClass::kUnsupported}) {
    EXPECT_FALSE(retry_helps(c)) << to_string(c);
  }
}

Result<int> half(int x) {
  if (x % 2 != 0) return Error(ErrorClass::kInvalidInput, "odd");
  return x / 2;
}

Result<int> quarter(int x) {
  CUZK_ASSIGN(const int h, half(x));
  CUZK_TRY(half(h));
  return h / 2;
}

TEST(Result, CarriesTheValueOrTheFirstError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(quarter(3).error().error_class, ErrorClass::kInvalidInput);
  EXPECT_TRUE(Status{}.ok());
}

TEST(ResultDeathTest, TakingTheValueOfAnErrorIsABug) {
  EXPECT_DEATH({ [[maybe_unused]] int x = half(1).value(); }, "assertion failed");
}

TEST(BitVector, AppendAgreesWithPushBackAcrossWordBoundaries) {
  uint64_t state = 1;
  BitVector appended, pushed;
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const unsigned count = static_cast<unsigned>(state >> 58) + (i % 3 == 0);  // 0..64
    const uint64_t bits = count == 64 ? state : state & ((uint64_t{1} << count) - 1);
    appended.append(bits, count);
    for (unsigned b = 0; b < count; ++b) pushed.push_back(bits >> b & 1);
  }
  EXPECT_EQ(appended, pushed);
  size_t ones = 0;
  for (size_t i = 0; i < pushed.size(); ++i) ones += pushed.get(i);
  EXPECT_EQ(appended.count(), ones);
}

TEST(Hex, RoundTripsAndRefuses) {
  const std::array<uint8_t, 4> bytes = {0x00, 0x7f, 0x80, 0xff};
  EXPECT_EQ(to_hex(bytes), "007f80ff");
  const auto back = from_hex("007F80ff");
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(std::equal(back->begin(), back->end(), bytes.begin(), bytes.end()));
  EXPECT_TRUE(from_hex("")->empty());
  EXPECT_FALSE(from_hex("0").has_value());
  EXPECT_FALSE(from_hex("0g").has_value());
  EXPECT_FALSE(from_hex(" 0").has_value());
}

TEST(ElementErrors, FirstElementAndLowestPartWin) {
  const auto name = [](size_t i) { return "#" + std::to_string(i); };
  const auto error = [](const char* message) { return Error(ErrorClass::kInvalidInput, message); };
  ElementErrors errors;
  EXPECT_TRUE(errors.empty());
  EXPECT_FALSE(errors.known(5, 3));
  errors.add(5, 3, error("five, three"));
  EXPECT_FALSE(errors.empty());
  EXPECT_TRUE(errors.known(5, 3));
  EXPECT_TRUE(errors.known(5, 4));
  EXPECT_FALSE(errors.known(5, 2));
  EXPECT_FALSE(errors.known(4, 3));
  errors.add(5, 2, error("five, two"));
  errors.add(5, 4, error("five, four"));
  EXPECT_EQ(errors.take(name).message, "five, two");
  errors.add(2, 7, error("two"));
  for (const size_t i : {9u, 8u}) errors.add(i, 0, error("other"));
  EXPECT_EQ(errors.take(name).message, "two; bad too: #5, #8, #9");
  for (size_t i = 20; i < 26; ++i) errors.add(i, 0, error("other"));
  errors.add(2, 0, error("two, zero"));
  EXPECT_EQ(errors.take(name).message, "two, zero; bad too: #5, #8, #9, #20, #21, #22, #23, #24 and 1 more");
}

TEST(Random, FillsAllOfTheBuffer) {
  std::array<uint8_t, 1024> first{}, second{};
  ASSERT_TRUE(os_random(first).ok());
  ASSERT_TRUE(os_random(second).ok());
  EXPECT_NE(first, second);
  // 64 zero bytes in a row at the end would mean a short read was taken for a whole one.
  EXPECT_FALSE(std::all_of(first.end() - 64, first.end(), [](uint8_t b) { return b == 0; }));
  EXPECT_TRUE(os_random({}).ok());
}

TEST(Secret, IsClearedWhenItEndsAndWhenItIsMovedFrom) {
  using Value = std::array<uint8_t, 32>;
  Value ones;
  ones.fill(0xff);
  alignas(Secret<Value>) unsigned char storage[sizeof(Secret<Value>)];
  auto* secret = new (storage) Secret<Value>(ones);
  Secret<Value> moved(std::move(*secret));
  EXPECT_EQ(moved.expose(), ones);
  EXPECT_EQ(secret->expose(), Value{});
  secret->expose() = ones;
  secret->~Secret<Value>();
  Value after;
  std::memcpy(after.data(), storage, after.size());
  EXPECT_EQ(after, Value{});
}

}  // namespace
}  // namespace cuzk
