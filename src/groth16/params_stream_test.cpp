// The stream of a parameter file to a device, with a device that is the host.
#include "groth16/params_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "curve/decode_words.hpp"
#include "srs/params_file.hpp"
#include "srs/srs_test_support.hpp"

namespace cuzk {
namespace {

using Bytes = std::vector<uint8_t>;

// A query of `count` points of which every `stride`-th is a value.
PackedQuery make_query(uint32_t count, uint32_t stride) {
  PackedQuery query;
  for (uint32_t i = 0; i < count; ++i) {
    PackedQuery::Group& group = i % stride == 0 ? query.values : query.bits;
    group.index.push_back(static_cast<uint32_t>(group.size()));
    group.position.push_back(i);
  }
  return query;
}

// Converts in finish(), from copies, so that it is seen whether a slab is used before it was taken.
class HostSink final : public PointSink {
 public:
  Result<Slab> next_slab() override {
    if (fail_at == ++slabs_) return Error(ErrorClass::kDeviceFault, "lost");
    bytes_.assign(kSlabBytes, 0xa5);
    places_.assign(kSlabPoints, 0xa5a5a5a5);
    return Slab{bytes_, places_};
  }
  Status take(const PointChunk& chunk) override {
    chunks.push_back(chunk);
    if (check_only) return {};
    const size_t size = point_bytes(chunk.section);
    for (size_t i = 0; i < chunk.count; ++i) {
      const auto bytes = std::span<const uint8_t>(bytes_).subspan(i * size, size);
      const uint32_t place = chunk.section == Section::kH ? static_cast<uint32_t>(chunk.first + i) : places_[i];
      if (!store(chunk.section, place, bytes)) bad_ = std::min(bad_.value_or(UINT64_MAX), chunk.first + i);
    }
    return {};
  }
  Result<std::optional<uint64_t>> finish(Section) override {
    if (refuse) return std::optional<uint64_t>(*refuse);
    return bad_;
  }

  std::vector<PointChunk> chunks;
  std::map<std::pair<Section, uint32_t>, Bytes> stored;  // by place
  std::optional<uint64_t> refuse;
  bool check_only = false;
  size_t fail_at = 0;

 private:
  template <class Curve>
  static bool is_point(std::span<const uint8_t> bytes) {
    std::array<uint64_t, kUncompressedWords<Curve>> words;
    std::memcpy(words.data(), bytes.data(), sizeof words);
    Affine<Curve> point;
    return read_uncompressed_words(words.data(), point) == PointError::kNone && !point.is_infinity();
  }
  bool store(Section section, uint32_t place, std::span<const uint8_t> bytes) {
    EXPECT_TRUE(stored.emplace(std::pair(section, place), Bytes(bytes.begin(), bytes.end())).second);
    return section == Section::kBG2 ? is_point<G2Curve>(bytes) : is_point<G1Curve>(bytes);
  }
  Bytes bytes_;
  std::vector<uint32_t> places_;
  std::optional<uint64_t> bad_;
  size_t slabs_ = 0;
};

class ParamsStream : public testing::Test {
 protected:
  const SrsShape shape_{2, 63, 40, 30, 20, 20};
  const PackedQueries queries_{make_query(40, 3), make_query(30, 2), make_query(20, 7)};
  const Bytes good_ = [this] {
    const test::TemporaryDirectory folder;
    NoProgress quiet;
    EXPECT_TRUE(write_params(folder.file("p"), test::make_srs(shape_), quiet).ok());
    return test::read_bytes(folder.file("p"));
  }();
  Status stream(const Bytes& bytes, HostSink& sink, const PackedQueries& queries) {
    NoProgress quiet;
    return stream_params(MemorySource(bytes), shape_, &queries, PointCheck::kOnCurve, sink, quiet);
  }
  Status stream(const Bytes& bytes, HostSink& sink) { return stream(bytes, sink, queries_); }
  std::span<uint8_t> point(Bytes& bytes, Section section, uint64_t i) {
    const uint64_t size = point_bytes(section);
    return std::span(bytes).subspan(section_offset(shape_, section) + i * size, size);
  }
};

TEST_F(ParamsStream, EveryPointGoesToItsPlace) {
  HostSink sink;
  ASSERT_TRUE(stream(good_, sink).ok());
  std::vector<Section> order;
  for (const PointChunk& chunk : sink.chunks) order.push_back(chunk.section);
  EXPECT_EQ(order, (std::vector{Section::kH, Section::kL, Section::kA, Section::kBG1, Section::kBG2}));
  Bytes file = good_;
  size_t points = 0;
  const auto expect_group = [&](Section section, const PackedQuery::Group& group, uint32_t flag) {
    for (uint32_t i = 0; i < group.size(); ++i, ++points) {
      const auto at = sink.stored.find({section, i | flag});
      ASSERT_NE(at, sink.stored.end());
      EXPECT_TRUE(std::ranges::equal(at->second, point(file, section, group.position[i])));
    }
  };
  for (const auto& [section, query] : {std::pair{Section::kL, &queries_.l},
                                       {Section::kA, &queries_.a},
                                       {Section::kBG1, &queries_.b},
                                       {Section::kBG2, &queries_.b}}) {
    expect_group(section, query->bits, 0);
    expect_group(section, query->values, PlaceCursor::kValue);
  }
  for (uint32_t i = 0; i < shape_.h; ++i, ++points) {
    EXPECT_TRUE(std::ranges::equal(sink.stored.at({Section::kH, i}), point(file, Section::kH, i)));
  }
  EXPECT_EQ(sink.stored.size(), points);
}

// Of sizes at which a slab is full, and one more or less; no file is so long here, so only the plan is looked at.
TEST(PlaceCursor, GoesOnFromChunkToChunk) {
  std::mt19937_64 rng(3);
  PackedQuery query;
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < 1000; ++i) {
    const bool value = rng() % 4 == 0;
    PackedQuery::Group& group = value ? query.values : query.bits;
    expected.push_back(static_cast<uint32_t>(group.size()) | (value ? PlaceCursor::kValue : 0));
    group.index.push_back(i);
    group.position.push_back(i);
  }
  for (const size_t chunk : {1, 7, 500, 999, 1000}) {
    PlaceCursor cursor(query);
    std::vector<uint32_t> places(1000);
    for (size_t first = 0; first < places.size(); first += chunk) {
      cursor.fill(first, std::span(places).subspan(first, std::min(chunk, places.size() - first)));
    }
    EXPECT_EQ(places, expected) << chunk;
  }
}

TEST_F(ParamsStream, DamageIsNamedAsTheReaderOfTheHostNamesIt) {
  NoProgress quiet;
  for (const Section section : {Section::kH, Section::kL, Section::kA, Section::kBG1, Section::kBG2}) {
    for (const uint64_t i : {uint64_t{0}, shape_.count(section) / 2, shape_.count(section) - 1}) {
      Bytes bytes = good_;
      const auto damaged = point(bytes, section, i);
      if (i == 0) {  // infinity
        std::ranges::fill(damaged, uint8_t{0});
        damaged[0] = 0x40;
      } else {
        damaged.back() ^= 1;
        point(bytes, section, shape_.count(section) - 1).back() ^= i + 1 == shape_.count(section) ? 0 : 1;
      }
      HostSink sink;
      const Status found = stream(bytes, sink);
      const auto expected = read_params(MemorySource(bytes), {.expected = shape_}, quiet);
      ASSERT_FALSE(found.ok());
      ASSERT_FALSE(expected.ok());
      EXPECT_EQ(found.error().describe(), expected.error().describe());
      EXPECT_EQ(found.error().error_class, ErrorClass::kCorrupt);
      EXPECT_EQ(found.error().field, std::string(to_string(section)) + "[" + std::to_string(i) + "]");
      EXPECT_EQ(found.error().offset, section_offset(shape_, section) + i * point_bytes(section));
    }
  }
}

TEST_F(ParamsStream, AFileThatEndsEarly) {
  Bytes bytes = good_;
  bytes.resize(bytes.size() - 1);
  HostSink sink;
  const Status found = stream(bytes, sink);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().error_class, ErrorClass::kCorrupt);
  EXPECT_EQ(sink.chunks.size(), 4u);
}

TEST_F(ParamsStream, ADeviceThatIsWrongOrLost) {
  HostSink wrong;
  wrong.refuse = 5;
  const Status refused = stream(good_, wrong);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().error_class, ErrorClass::kDeviceFault);
  EXPECT_NE(refused.error().message.find("h[5]"), std::string::npos);
  HostSink lost;
  lost.fail_at = 3;
  const Status ended = stream(good_, lost);
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "lost");
  EXPECT_EQ(lost.chunks.size(), 2u);
}

TEST_F(ParamsStream, QueriesOfAnotherCircuit) {
  HostSink sink;
  const Status found = stream(good_, sink, {make_query(40, 3), make_query(31, 2), make_query(20, 7)});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().error_class, ErrorClass::kInternal);
  EXPECT_TRUE(sink.chunks.empty());
}

TEST_F(ParamsStream, WithoutQueriesPointsAreOnlyChecked) {
  NoProgress quiet;
  HostSink sink;
  sink.check_only = true;
  ASSERT_TRUE(stream_params(MemorySource(good_), shape_, nullptr, PointCheck::kSubgroup, sink, quiet).ok());
  EXPECT_EQ(sink.chunks.size(), 5u);
}

// The sink refuses a point that is on the curve and not of order r: the host says so only where it was asked for.
TEST_F(ParamsStream, APointOutsideTheSubgroupIsNamed) {
  NoProgress quiet;
  Bytes bytes = good_;
  const Bytes outsider = test::point_outside_subgroup<G1Curve>();
  std::copy(outsider.begin(), outsider.end(), point(bytes, Section::kH, 7).begin());
  for (const PointCheck check : {PointCheck::kOnCurve, PointCheck::kSubgroup}) {
    HostSink sink;
    sink.check_only = true;
    sink.refuse = 7;
    const Status found = stream_params(MemorySource(bytes), shape_, nullptr, check, sink, quiet);
    ASSERT_FALSE(found.ok());
    if (check == PointCheck::kOnCurve) {
      EXPECT_EQ(found.error().error_class, ErrorClass::kDeviceFault);
      continue;
    }
    EXPECT_EQ(found.error().error_class, ErrorClass::kCorrupt);
    const auto expected = read_params(MemorySource(bytes), {.expected = shape_, .check = check}, quiet);
    ASSERT_FALSE(expected.ok());
    EXPECT_EQ(found.error().describe(), expected.error().describe());
  }
}

TEST_F(ParamsStream, TellsHowFarItIs) {
  struct Told final : Progress {
    void begin_stage(std::string_view name, uint64_t n, std::string_view) override { stage = name, total = n; }
    void advance(uint64_t n) override { done = n; }
    void end_stage() override { ended = true; }
    std::string stage;
    uint64_t total = 0, done = 0;
    bool ended = false;
  } told;
  HostSink sink;
  ASSERT_TRUE(stream_params(MemorySource(good_), shape_, &queries_, PointCheck::kOnCurve, sink, told).ok());
  EXPECT_EQ(told.stage, "parameters");
  EXPECT_EQ(told.total, 63u + 40 + 30 + 20 + 20);
  EXPECT_EQ(told.done, told.total);
  EXPECT_TRUE(told.ended);
}

}  // namespace
}  // namespace cuzk
