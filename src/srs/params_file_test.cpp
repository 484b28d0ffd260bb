#include "srs/params_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/hex.hpp"
#include "curve/check.hpp"
#include "field/sqrt.hpp"
#include "parallel/parallel.hpp"
#include "srs/srs_test_support.hpp"

namespace cuzk {
namespace {

using test::make_srs;
using test::read_bytes;
using test::TemporaryDirectory;
using test::write_bytes;

const std::string kMulParams = CUZK_GOLDEN_DIR "/groth16-mul.params";
const std::string kPorepVk = CUZK_GOLDEN_DIR "/c1-2kib-test.vk";
// The shape that groth16.md gives for circuit "mul".
constexpr SrsShape kMulShape = {2, 3, 2, 3, 1, 1};

Result<Srs> parse(const std::vector<uint8_t>& bytes, const ParamsReadOptions& options = {}) {
  NoProgress quiet;
  return read_params(MemorySource(bytes), options, quiet);
}

// Expects kCorrupt at that offset; "" for any field.
void expect_corrupt(const Result<Srs>& result, uint64_t offset, const std::string& field, const std::string& text) {
  ASSERT_FALSE(result.ok());
  const Error& error = result.error();
  EXPECT_EQ(error.error_class, ErrorClass::kCorrupt) << error.describe();
  EXPECT_EQ(error.offset, offset) << error.describe();
  EXPECT_EQ(error.field, field) << error.describe();
  EXPECT_NE(error.message.find(text), std::string::npos) << error.describe();
}

// A point of the curve outside the subgroup: the first x that has one.
template <class Curve>
Affine<Curve> point_outside_the_subgroup() {
  using Field = typename Curve::Field;
  Field x = Field::one();
  for (;; x += Field::one()) {
    const auto y = sqrt(x.square() * x + Curve::b());
    if (!y) continue;
    const Affine<Curve> point{x, *y};
    if (!is_in_subgroup(point)) return point;
  }
}

TEST(Layout, SizesOfFilecoinsFiles) {
  // The table of porep files: counts of the circuits, bytes of the files.
  EXPECT_EQ(vk_file_bytes(40), 4708u);
  EXPECT_EQ(vk_file_bytes(328), 32356u);
  EXPECT_EQ(params_file_bytes({40, 4194303, 2685673, 2674948, 685522, 685522}), 1114707768u);
  EXPECT_EQ(params_file_bytes({328, 134217727, 130169893, 129753620, 33112282, 33112282}), 47373928632u);
  // The largest counts do not overflow: 2^32 - 1 points in each of six vectors.
  constexpr uint64_t kMax = 0xffffffff;
  EXPECT_EQ(params_file_bytes({kMax, kMax, kMax, kMax, kMax, kMax}), 864 + 6 * 4 + kMax * (5 * 96 + 192));
}

TEST(ReadParams, UpstreamsFile) {
  NoProgress quiet;
  const auto shape = inspect_params(kMulParams);
  ASSERT_TRUE(shape.ok()) << shape.error().describe();
  EXPECT_EQ(*shape, kMulShape);
  const auto srs = read_params(kMulParams, {kMulShape, PointCheck::kSubgroup}, quiet);
  ASSERT_TRUE(srs.ok()) << srs.error().describe();
  EXPECT_EQ(srs->shape(), kMulShape);
  // alpha = 3, beta = 5, gamma = 7, delta = 11 times the generators.
  const auto g1 = [](uint64_t k) {
    return G1Jacobian::from_affine(G1Curve::generator()).mul(Fr::from_u64(k)).to_affine();
  };
  const auto g2 = [](uint64_t k) {
    return G2Jacobian::from_affine(G2Curve::generator()).mul(Fr::from_u64(k)).to_affine();
  };
  EXPECT_EQ(srs->vk.alpha_g1, g1(3));
  EXPECT_EQ(srs->vk.beta_g1, g1(5));
  EXPECT_EQ(srs->vk.beta_g2, g2(5));
  EXPECT_EQ(srs->vk.gamma_g2, g2(7));
  EXPECT_EQ(srs->vk.delta_g1, g1(11));
  EXPECT_EQ(srs->vk.delta_g2, g2(11));
  // h_1 = tau * h_0 with tau = 13.
  EXPECT_EQ(G1Jacobian::from_affine(srs->h[1]), G1Jacobian::from_affine(srs->h[0]).mul(Fr::from_u64(13)));

  TemporaryDirectory directory;
  ASSERT_TRUE(write_params(directory.file("p"), *srs, quiet).ok());
  EXPECT_EQ(read_bytes(directory.file("p")), read_bytes(kMulParams));
  const auto vk = read_params_vk(kMulParams);
  ASSERT_TRUE(vk.ok());
  EXPECT_EQ(*vk, srs->vk);
}

TEST(ReadParams, EveryTruncationIsRefused) {
  const auto bytes = read_bytes(kMulParams);
  ASSERT_EQ(bytes.size(), 2136u);
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto result = parse({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
    ASSERT_FALSE(result.ok()) << length;
    ASSERT_EQ(result.error().error_class, ErrorClass::kCorrupt) << length;
    ASSERT_TRUE(result.error().offset.has_value()) << length;
  }
  expect_corrupt(parse({}), 0, "", "empty");
  expect_corrupt(parse({bytes.begin(), bytes.begin() + 800}), 864, "ic", "ends before");
  expect_corrupt(parse({bytes.begin(), bytes.begin() + 1060}), 1060, "h", "ends before");
  expect_corrupt(parse({bytes.begin(), bytes.end() - 1}), 1940, "b_g2", "2135");
}

TEST(ReadParams, EveryFlippedByteIsRefusedAtItsPoint) {
  const auto bytes = read_bytes(kMulParams);
  // Offset and size of every point and count.
  std::vector<std::pair<size_t, size_t>> parts = {{0, 96}, {96, 96}, {192, 192}, {384, 192}, {576, 96}, {672, 192}};
  for (const Section section : kSections) {
    const size_t start = section_offset(kMulShape, section);
    parts.emplace_back(start - 4, 4);
    for (size_t i = 0; i < kMulShape.count(section); ++i) {
      parts.emplace_back(start + i * point_bytes(section), point_bytes(section));
    }
  }
  size_t covered = 0;
  for (const auto& [start, size] : parts) {
    covered += size;
    for (size_t i = start; i < start + size; ++i) {
      for (const uint8_t mask : {0x01, 0x80}) {
        auto damaged = bytes;
        damaged[i] ^= mask;
        const auto result = parse(damaged);
        ASSERT_FALSE(result.ok()) << "byte " << i;
        ASSERT_EQ(result.error().error_class, ErrorClass::kCorrupt) << result.error().describe();
        // A wrong count may also be noticed by what follows it.
        if (size != 4) {
          ASSERT_EQ(result.error().offset, start) << result.error().describe();
        }
      }
    }
  }
  EXPECT_EQ(covered, bytes.size());
}

TEST(ReadParams, ForeignFiles) {
  const auto bytes = read_bytes(kMulParams);
  const auto text = [](std::string s) { return std::vector<uint8_t>(s.begin(), s.end()); };
  expect_corrupt(parse(text("<!DOCTYPE html><html><head><title>404 Not Found</title></head></html>")), 0, "",
                 "web page");
  expect_corrupt(parse(text("version https://git-lfs.github.com/spec/v1\n")), 0, "", "76657273696f6e20");
  expect_corrupt(parse(text("\x1f\x8b")), 0, "", "1f8b");
  auto longer = bytes;
  longer.push_back(0);
  expect_corrupt(parse(longer), 2136, "", "1 bytes follow");
  // A verifying key is not a parameter file, nor the other way round.
  expect_corrupt(parse(read_bytes(kPorepVk)), 4708, "h", "ends before");
  const auto vk = decode_vk(bytes);
  ASSERT_FALSE(vk.ok());
  EXPECT_EQ(vk.error().offset, 1060u);

  for (const Section section : kSections) {
    SrsShape other = kMulShape;
    other.count(section) += 1;
    expect_corrupt(parse(bytes, {other}), section_offset(kMulShape, section) - 4, to_string(section),
                   "another circuit");
  }
}

TEST(ReadParams, CountsMustFitEachOther) {
  const auto file_of = [](const SrsShape& shape) {
    TemporaryDirectory directory;
    NoProgress quiet;
    EXPECT_TRUE(write_params(directory.file("p"), make_srs(shape), quiet).ok());
    return read_bytes(directory.file("p"));
  };
  EXPECT_TRUE(parse(file_of({1, 1, 0, 1, 0, 0})).ok());  // one input, nothing else
  expect_corrupt(parse(file_of({0, 3, 2, 3, 1, 1})), 864, "ic", "at least");
  expect_corrupt(parse(file_of({2, 4, 2, 3, 1, 1})), 1060, "h", "power of two");
  expect_corrupt(parse(file_of({2, 3, 2, 1, 1, 1})), 1548, "a", "fit");
  expect_corrupt(parse(file_of({2, 3, 2, 5, 1, 1})), 1548, "a", "fit");
  expect_corrupt(parse(file_of({2, 3, 2, 3, 5, 5})), 1840, "b_g1", "so many");
  expect_corrupt(parse(file_of({2, 3, 2, 3, 1, 2})), 1940, "b_g2", "b_g1");
  // A count of 2^32 - 1 with a short file behind it.
  auto bytes = read_bytes(kMulParams);
  std::fill_n(bytes.begin() + 1060, 4, 0xff);
  expect_corrupt(parse(bytes), 1060, "h", "4294967295");
}

TEST(ReadParams, PointsThatAreNone) {
  const auto bytes = read_bytes(kMulParams);
  const auto with = [&](size_t offset, const std::vector<uint8_t>& part) {
    auto out = bytes;
    std::copy(part.begin(), part.end(), out.begin() + static_cast<std::ptrdiff_t>(offset));
    return out;
  };
  std::vector<uint8_t> infinity(96);
  infinity[0] = 0x40;
  std::vector<uint8_t> infinity2(192);
  infinity2[0] = 0x40;
  expect_corrupt(parse(with(1064 + 96, infinity)), 1064 + 96, "h[1]", "infinity");
  expect_corrupt(parse(with(868 + 96, infinity)), 868 + 96, "ic[1]", "infinity");
  expect_corrupt(parse(with(96, infinity)), 96, "beta_g1", "infinity");
  expect_corrupt(parse(with(672, infinity2)), 672, "delta_g2", "infinity");
  expect_corrupt(parse(with(1944, infinity2)), 1944, "b_g2[0]", "infinity");
  // (0, 0) without the flag is no point.
  EXPECT_FALSE(parse(with(1064, std::vector<uint8_t>(96))).ok());
  // x = p, in G1 and in both coefficients of G2.
  const auto p =
      *from_hex("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab");
  expect_corrupt(parse(with(1064, p)), 1064, "h[0]", "");
  expect_corrupt(parse(with(1064 + 48, p)), 1064, "h[0]", "");
  for (size_t i = 0; i < 4; ++i) expect_corrupt(parse(with(1944 + 48 * i, p)), 1944, "b_g2[0]", "");

  const auto outside = encode_uncompressed(point_outside_the_subgroup<G1Curve>());
  const auto outside2 = encode_uncompressed(point_outside_the_subgroup<G2Curve>());
  const std::vector<uint8_t> g1(outside.begin(), outside.end()), g2(outside2.begin(), outside2.end());
  EXPECT_TRUE(parse(with(1064, g1)).ok());
  expect_corrupt(parse(with(1064, g1), {std::nullopt, PointCheck::kSubgroup}), 1064, "h[0]", "");
  EXPECT_TRUE(parse(with(1944, g2)).ok());
  expect_corrupt(parse(with(1944, g2), {std::nullopt, PointCheck::kSubgroup}), 1944, "b_g2[0]", "");
  expect_corrupt(parse(with(868, g1)), 868, "ic[0]", "");  // the key's points are always checked
  expect_corrupt(parse(with(192, g2)), 192, "beta_g2", "");
}

TEST(ReadParams, LargeFileAndLowestErrorOnAnyNumberOfThreads) {
  const SrsShape shape = {3, 8191, 9000, 5000, 4500, 4500};
  const Srs srs = make_srs(shape);
  TemporaryDirectory directory;
  NoProgress quiet;
  ASSERT_TRUE(write_params(directory.file("p"), srs, quiet).ok());
  auto bytes = read_bytes(directory.file("p"));
  ASSERT_EQ(bytes.size(), params_file_bytes(shape));
  const auto read = parse(bytes, {shape, PointCheck::kSubgroup});
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(test::equal(*read, srs));

  const uint64_t l = section_offset(shape, Section::kL);
  for (const uint64_t index : {8999, 4097, 4095, 17}) bytes[l + 96 * index + 50] ^= 1;
  const size_t before = parallel_threads();
  for (const size_t threads : {1, 2, 7}) {
    set_parallel_threads(threads);
    expect_corrupt(parse(bytes), l + 96 * 17, "l[17]", "");
  }
  set_parallel_threads(before);
}

TEST(ReadParams, FilesThatAreNoFilesOrChange) {
  TemporaryDirectory directory;
  NoProgress quiet;
  const auto absent = read_params(directory.file("absent"), {}, quiet);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().error_class, ErrorClass::kNotFound);
  EXPECT_EQ(absent.error().file, directory.file("absent"));
  const auto folder = read_params(directory.file("."), {}, quiet);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().error_class, ErrorClass::kCorrupt);
  ASSERT_EQ(mkfifo(directory.file("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(read_params(directory.file("fifo"), {}, quiet).ok());  // and does not wait for a writer

  const std::string path = directory.file("p");
  write_bytes(path, read_bytes(kMulParams));
  auto source = open_file_source(path);
  ASSERT_TRUE(source.ok());
  std::filesystem::resize_file(path, 1500);  // truncated while it is open: an error, no SIGBUS
  const auto shortened = read_params(**source, {}, quiet);
  ASSERT_FALSE(shortened.ok());
  EXPECT_EQ(shortened.error().error_class, ErrorClass::kCorrupt);
  EXPECT_EQ(shortened.error().file, path);
  EXPECT_NE(shortened.error().message.find("shorter"), std::string::npos);

  write_bytes(path, read_bytes(kMulParams));
  source = open_file_source(path);
  ASSERT_TRUE(source.ok());
  std::filesystem::resize_file(path, 3000);  // what was read is whole, but the file is being written
  const auto grown = read_params(**source, {}, quiet);
  ASSERT_FALSE(grown.ok());
  EXPECT_EQ(grown.error().error_class, ErrorClass::kIo);
}

TEST(ReadParams, ReportsProgress) {
  struct Recorder final : Progress {
    uint64_t total = 0, last = 0, begun = 0, ended = 0;
    void begin_stage(std::string_view, uint64_t t, std::string_view) override {
      total += t;
      ++begun;
      last = 0;
    }
    void advance(uint64_t done) override {
      EXPECT_GE(done, last);
      last = done;
    }
    void end_stage() override { ++ended; }
  } recorder;
  ASSERT_TRUE(read_params(kMulParams, {}, recorder).ok());
  EXPECT_EQ(recorder.begun, 2u);
  EXPECT_EQ(recorder.ended, 2u);
  EXPECT_EQ(recorder.total, 2 + 3 + 2 + 3 + 1 + 1u);
  EXPECT_EQ(recorder.last, 10u);  // all points of the second stage
}

TEST(VerifyingKeyFile, RoundTripAndRefusals) {
  const auto bytes = read_bytes(kPorepVk);
  const auto vk = read_vk(kPorepVk);
  ASSERT_TRUE(vk.ok()) << vk.error().describe();
  EXPECT_EQ(vk->ic.size(), 40u);
  EXPECT_EQ(encode_vk(*vk), bytes);
  TemporaryDirectory directory;
  ASSERT_TRUE(write_vk(directory.file("vk"), *vk).ok());
  EXPECT_EQ(read_bytes(directory.file("vk")), bytes);

  for (size_t length = 0; length < bytes.size(); length += 7) {
    EXPECT_FALSE(decode_vk(std::span(bytes).first(length)).ok()) << length;
  }
  for (size_t i = 0; i < bytes.size(); i += 5) {
    auto damaged = bytes;
    damaged[i] ^= 0x04;
    const auto result = decode_vk(damaged);
    ASSERT_FALSE(result.ok()) << i;
    EXPECT_EQ(result.error().error_class, ErrorClass::kCorrupt);
  }
  auto longer = bytes;
  longer.push_back(7);
  EXPECT_FALSE(decode_vk(longer).ok());
  auto none = bytes;
  none.resize(868);
  std::fill(none.begin() + 864, none.end(), 0);
  const auto result = decode_vk(none);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().field, "ic");
}

TEST(Writer, FailuresLeaveTheOldFileAndNoOther) {
  TemporaryDirectory directory;
  NoProgress quiet;
  const Srs srs = make_srs({2, 1023, 500, 400, 300, 300});
  const std::string path = directory.file("p");
  write_bytes(path, {1, 2, 3});

  // A limit on file sizes stands in for a full disk: write fails with EFBIG after 64 KiB.
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{65536, old.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const Status status = write_params(path, srs, quiet);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().error_class, ErrorClass::kIo);
  EXPECT_EQ(status.error().file, path);
  EXPECT_EQ(status.error().offset, 65536u);
  EXPECT_EQ(read_bytes(path), (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ(directory.entries(), 1u);

  {
    auto abandoned = AtomicFile::create(path);
    ASSERT_TRUE(abandoned.ok());
    EXPECT_EQ(directory.entries(), 2u);
  }
  EXPECT_EQ(directory.entries(), 1u);

  const Status nowhere = write_params(directory.file("no/where"), srs, quiet);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().error_class, ErrorClass::kNotFound);
  std::filesystem::create_directory(directory.file("folder"));
  const Status folder = write_params(directory.file("folder"), srs, quiet);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().error_class, ErrorClass::kIo);
  EXPECT_EQ(directory.entries(), 2u);
  ASSERT_EQ(mkfifo(directory.file("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(write_params(directory.file("pipe"), srs, quiet).ok());  // and it is still a pipe
  EXPECT_TRUE(std::filesystem::is_fifo(directory.file("pipe")));
  std::filesystem::remove(directory.file("pipe"));

  ASSERT_TRUE(write_params(path, srs, quiet).ok());  // over the old file
  EXPECT_EQ(read_bytes(path).size(), params_file_bytes(srs.shape()));
  EXPECT_EQ(directory.entries(), 2u);
}

TEST(Writer, AppendsInPiecesOfAnySize) {
  const Srs srs = make_srs({2, 1023, 500, 400, 300, 300});
  TemporaryDirectory directory;
  NoProgress quiet;
  ASSERT_TRUE(write_params(directory.file("whole"), srs, quiet).ok());
  auto writer = ParamsWriter::create(directory.file("pieces"), srs.vk, srs.shape());
  ASSERT_TRUE(writer.ok());
  const auto append = [&](Section section, const auto& points) {
    for (size_t i = 0, step = 1; i < points.size(); i += step, step = 3 * step + 1) {
      if (i + step > points.size()) step = points.size() - i;
      ASSERT_TRUE(writer->append(section, std::span(points).subspan(i, step)).ok());
    }
  };
  append(Section::kH, srs.h);
  append(Section::kL, srs.l);
  append(Section::kA, srs.a);
  append(Section::kBG1, srs.b_g1);
  append(Section::kBG2, srs.b_g2);
  EXPECT_FALSE(std::filesystem::exists(directory.file("pieces")));  // not before it is complete
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_EQ(read_bytes(directory.file("pieces")), read_bytes(directory.file("whole")));
}

}  // namespace
}  // namespace cuzk
