#include "curve/encoding.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "curve/check.hpp"
#include "curve/decode_words.hpp"
#include "curve/test_vectors.hpp"

namespace cuzk {
namespace {

using testing_support::bytes_of;
using testing_support::golden_lines;
using testing_support::point_of;

const std::string kPoints = CUZK_GOLDEN_DIR "/curve/points.txt";       // tests/oracle/curve_points.py
const std::string kNoble = CUZK_GOLDEN_DIR "/curve/noble_points.txt";  // tests/oracle/noble_vectors.mjs

using Bytes = std::vector<uint8_t>;

template <class Curve>
struct Codec;
template <>
struct Codec<G1Curve> {
  static constexpr const char* kKey = "g1";
  static constexpr size_t kCoefficients = 1;
  static constexpr auto kDecompress = decompress_g1;
  static constexpr auto kDecode = decode_uncompressed_g1;
};
template <>
struct Codec<G2Curve> {
  static constexpr const char* kKey = "g2";
  static constexpr size_t kCoefficients = 2;
  static constexpr auto kDecompress = decompress_g2;
  static constexpr auto kDecode = decode_uncompressed_g2;
};

template <class Array>
Bytes to_bytes(const Array& array) {
  return Bytes(array.begin(), array.end());
}

// bytes[at .. at+48) += addend, big-endian, above the flags too.
void add_to(Bytes& bytes, size_t at, const Fp::Limbs& addend) {
  unsigned carry = 0;
  for (size_t i = 0; i < 48; ++i) {
    const unsigned sum = bytes[at + 47 - i] + (addend[i / 8] >> (8 * (i % 8)) & 0xff) + carry;
    bytes[at + 47 - i] = static_cast<uint8_t>(sum);
    carry = sum >> 8;
  }
}
void put(Bytes& bytes, size_t at, const Fp::Limbs& value) {
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 48, uint8_t{0});
  add_to(bytes, at, value);
}

template <class Curve>
class EncodingTest : public testing::Test {
 protected:
  using Point = Affine<Curve>;
  static constexpr size_t kSize = 48 * Codec<Curve>::kCoefficients;  // compressed

  static Result<Point> decompress(const Bytes& b, PointCheck check = PointCheck::kSubgroup) {
    return Codec<Curve>::kDecompress(b, check);
  }
  static Result<Point> decode(const Bytes& b, PointCheck check = PointCheck::kSubgroup) {
    expect_words_agree(b);
    return Codec<Curve>::kDecode(b, check);
  }
  static PointError read_compressed_error(const Bytes& b, PointCheck check = PointCheck::kSubgroup) {
    Point p;
    const PointError error = read_compressed(b, check, p);
    const auto result = decompress(b, check);
    EXPECT_EQ(result.ok(), error == PointError::kNone);
    if (!result.ok()) expect_typed(result.error(), error);
    return error;
  }
  static PointError read_uncompressed_error(const Bytes& b, PointCheck check = PointCheck::kSubgroup) {
    Point p;
    const PointError error = read_uncompressed(b, check, p);
    const auto result = decode(b, check);
    EXPECT_EQ(result.ok(), error == PointError::kNone);
    if (!result.ok()) expect_typed(result.error(), error);
    return error;
  }
  // The form for devices gives what the form for bytes gives.
  static void expect_words_agree(const Bytes& b) {
    constexpr size_t kWords = kUncompressedWords<Curve>;
    if (b.size() != 8 * kWords) return;
    std::array<uint64_t, kWords> words;
    std::memcpy(words.data(), b.data(), b.size());
    Point p, q;
    const PointError error = read_uncompressed(b, PointCheck::kOnCurve, p);
    EXPECT_EQ(read_uncompressed_words(words.data(), q), error);
    if (error == PointError::kNone) {
      EXPECT_EQ(q, p);
    }
  }
  static void expect_typed(const Error& error, PointError why) {
    EXPECT_EQ(error.error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(error.message, to_error(why, Curve::kName).message);
    EXPECT_NE(error.message.find(Curve::kName), std::string::npos);
  }
  static Bytes compressed_generator() { return to_bytes(compress(Curve::generator())); }
  static Bytes uncompressed_generator() { return to_bytes(encode_uncompressed(Curve::generator())); }
  static std::vector<std::vector<std::string>> outsiders() {
    auto lines = golden_lines(kPoints, {"member", Codec<Curve>::kKey});
    std::erase_if(lines, [](const auto& line) { return line[1] == "1"; });
    return lines;
  }
};
using Curves = testing::Types<G1Curve, G2Curve>;
TYPED_TEST_SUITE(EncodingTest, Curves);

TYPED_TEST(EncodingTest, MatchesNobleBothWays) {
  using C = TypeParam;
  const auto lines = golden_lines(kNoble, {"point", Codec<C>::kKey});
  EXPECT_GE(lines.size(), 30u);
  for (const auto& line : lines) {
    const auto expected = Jacobian<C>::from_affine(C::generator()).mul(testing_support::fr_of(line[0])).to_affine();
    EXPECT_EQ(to_hex(compress(expected)), line[1]);
    EXPECT_EQ(to_hex(encode_uncompressed(expected)), line[2]);
    const auto from_compressed = this->decompress(bytes_of(line[1]));
    ASSERT_TRUE(from_compressed.ok());
    EXPECT_EQ(*from_compressed, expected);
    const auto from_uncompressed = this->decode(bytes_of(line[2]));
    ASSERT_TRUE(from_uncompressed.ok());
    EXPECT_EQ(*from_uncompressed, expected);
  }
}

TYPED_TEST(EncodingTest, MatchesTheIntegerOracleOutsideTheSubgroupToo) {
  using C = TypeParam;
  for (const auto& line : golden_lines(kPoints, {"compress", Codec<C>::kKey})) {
    const auto p = point_of<C>(line[0]);
    EXPECT_EQ(to_hex(encode_uncompressed(p)), line[0]);
    EXPECT_EQ(to_hex(compress(p)), line[1]);
    const auto back = this->decompress(bytes_of(line[1]), PointCheck::kOnCurve);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, p);
  }
}

TYPED_TEST(EncodingTest, RefusesWrongLengths) {
  const Bytes compressed = this->compressed_generator(), uncompressed = this->uncompressed_generator();
  for (size_t n = 0; n <= 2 * uncompressed.size(); ++n) {
    Bytes a = compressed, b = uncompressed;
    a.resize(n);
    b.resize(n);
    if (n != compressed.size()) {
      EXPECT_EQ(this->read_compressed_error(a), PointError::kLength) << n;
    }
    if (n != uncompressed.size()) {
      EXPECT_EQ(this->read_uncompressed_error(b), PointError::kLength) << n;
    }
  }
  EXPECT_EQ(this->read_compressed_error(uncompressed), PointError::kLength);
  EXPECT_EQ(this->read_uncompressed_error(compressed), PointError::kLength);
}

TYPED_TEST(EncodingTest, EveryFlagByteOfTheGenerator) {
  using C = TypeParam;
  const Bytes compressed = this->compressed_generator(), uncompressed = this->uncompressed_generator();
  const auto g = C::generator();
  const uint8_t own_sign = compressed[0] & 0x20;
  for (unsigned flags = 0; flags < 8; ++flags) {
    Bytes b = compressed;
    b[0] = static_cast<uint8_t>((b[0] & 0x1f) | flags << 5);
    if (!(flags & 4)) {
      EXPECT_EQ(this->read_compressed_error(b), PointError::kNotCompressed) << flags;
    } else if (flags & 2) {
      EXPECT_EQ(this->read_compressed_error(b), PointError::kInfinityNotZero) << flags;
    } else {
      const auto p = this->decompress(b);
      ASSERT_TRUE(p.ok());
      EXPECT_EQ(*p, (flags << 5 & 0x20) == own_sign ? g : -g);
    }
    b = uncompressed;
    b[0] = static_cast<uint8_t>((b[0] & 0x1f) | flags << 5);
    const PointError expected[8] = {
        PointError::kNone,       PointError::kSignFlag,   PointError::kInfinityNotZero, PointError::kInfinityNotZero,
        PointError::kCompressed, PointError::kCompressed, PointError::kCompressed,      PointError::kCompressed};
    EXPECT_EQ(this->read_uncompressed_error(b), expected[flags]) << flags;
  }
}

TYPED_TEST(EncodingTest, Infinity) {
  using C = TypeParam;
  const auto infinity = Affine<C>::infinity();
  Bytes compressed(this->kSize), uncompressed(2 * this->kSize);
  compressed[0] = 0xc0;
  uncompressed[0] = 0x40;
  EXPECT_EQ(to_bytes(compress(infinity)), compressed);
  EXPECT_EQ(to_bytes(encode_uncompressed(infinity)), uncompressed);
  for (const auto check : {PointCheck::kOnCurve, PointCheck::kSubgroup}) {
    ASSERT_TRUE(this->decompress(compressed, check).ok());
    EXPECT_TRUE(this->decompress(compressed, check)->is_infinity());
    ASSERT_TRUE(this->decode(uncompressed, check).ok());
    EXPECT_TRUE(this->decode(uncompressed, check)->is_infinity());
  }
  // Any other bit set, the sign included, is refused.
  for (size_t bit = 0; bit < 8 * compressed.size(); ++bit) {
    Bytes b = compressed;
    b[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    if (bit == 6 || bit == 7) continue;  // the flags themselves: below
    EXPECT_EQ(this->read_compressed_error(b), PointError::kInfinityNotZero) << bit;
  }
  for (size_t bit = 0; bit < 8 * uncompressed.size(); ++bit) {
    Bytes b = uncompressed;
    b[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    if (bit == 6 || bit == 7) continue;
    EXPECT_EQ(this->read_uncompressed_error(b), PointError::kInfinityNotZero) << bit;
  }
  // Flags of the other form, and zeros without the flag of infinity.
  uncompressed[0] = 0xc0;
  EXPECT_EQ(this->read_uncompressed_error(uncompressed), PointError::kCompressed);
  uncompressed[0] = 0x00;
  EXPECT_EQ(this->read_uncompressed_error(uncompressed, PointCheck::kOnCurve), PointError::kNotOnCurve);
  compressed[0] = 0x40;
  EXPECT_EQ(this->read_compressed_error(compressed), PointError::kNotCompressed);
  compressed[0] = 0x00;
  EXPECT_EQ(this->read_compressed_error(compressed), PointError::kNotCompressed);
}

TYPED_TEST(EncodingTest, RefusesCoordinatesNotBelowTheModulus) {
  const Fp::Limbs p = Fp::kModulus;
  const size_t coefficients = Codec<TypeParam>::kCoefficients;
  for (size_t i = 0; i < coefficients; ++i) {  // of x; 0 is the one with the flags
    for (const uint64_t excess : {0, 1, 2, 1000}) {
      Bytes b = this->compressed_generator();
      const uint8_t flags = b[0] & 0xe0;
      Fp::Limbs value = p;
      value[0] += excess;
      put(b, 48 * i, value);
      b[0] |= flags;
      EXPECT_EQ(this->read_compressed_error(b), PointError::kXRange) << i << " " << excess;
    }
    Bytes b = this->compressed_generator();
    std::fill_n(b.begin() + static_cast<std::ptrdiff_t>(48 * i), 48, uint8_t{0xff});
    b[0] = i == 0 ? 0x9f : b[0];
    EXPECT_EQ(this->read_compressed_error(b), PointError::kXRange) << i;
  }
  for (size_t i = 0; i < 2 * coefficients; ++i) {  // of x, y
    const PointError expected = i < coefficients ? PointError::kXRange : PointError::kYRange;
    for (const uint64_t excess : {0, 1, 2, 1000}) {
      Bytes b = this->uncompressed_generator();
      Fp::Limbs value = p;
      value[0] += excess;
      put(b, 48 * i, value);
      EXPECT_EQ(this->read_uncompressed_error(b), expected) << i << " " << excess;
    }
    if (i == 0) continue;
    for (const uint8_t flag : {0x80, 0x40, 0x20, 0xe0}) {  // flags have no place but the first byte
      Bytes b = this->uncompressed_generator();
      b[48 * i] |= flag;
      EXPECT_EQ(this->read_uncompressed_error(b), expected) << i;
    }
  }
}

// x + p stands for the same residue as x, and must be refused all the same. (It fits its 381 bits where x < 2^381 - p.)
TYPED_TEST(EncodingTest, RefusesASecondEncodingOfAGoodPoint) {
  using C = TypeParam;
  size_t tried = 0;
  auto point = Jacobian<C>::from_affine(C::generator());
  for (int k = 0; k < 40; ++k, point += C::generator()) {
    const Bytes good = to_bytes(encode_uncompressed(point.to_affine()));
    ASSERT_TRUE(this->decode(good).ok());
    for (size_t i = 0; i < good.size() / 48; ++i) {
      Bytes b = good;
      add_to(b, 48 * i, Fp::kModulus);
      if (b[48 * i] & 0xe0) continue;
      ++tried;
      EXPECT_EQ(this->read_uncompressed_error(b), 2 * i < good.size() / 48 ? PointError::kXRange : PointError::kYRange);
      if (2 * i >= good.size() / 48) continue;
      b.resize(this->kSize);
      b[0] |= to_bytes(compress(point.to_affine()))[0] & 0xe0;
      EXPECT_EQ(this->read_compressed_error(b), PointError::kXRange);
    }
  }
  EXPECT_GE(tried, 5u);
}

TYPED_TEST(EncodingTest, RefusesPointsNotOnTheCurve) {
  using C = TypeParam;
  using Field = typename C::Field;
  const auto g = C::generator();
  for (const auto& p : {Affine<C>{g.x, g.y + Field::one()}, Affine<C>{g.x + Field::one(), g.y}, Affine<C>{g.y, g.x},
                        Affine<C>{g.x, Field::zero()}, Affine<C>{Field::zero(), g.y}}) {
    for (const auto check : {PointCheck::kOnCurve, PointCheck::kSubgroup}) {
      EXPECT_EQ(this->read_uncompressed_error(to_bytes(encode_uncompressed(p)), check), PointError::kNotOnCurve);
    }
  }
  // About half of all x are on no point; where one is, the point that comes back is on the curve and has this x.
  size_t on = 0, off = 0;
  Field x = g.x;
  for (int i = 0; i < 64; ++i, x += Field::one()) {
    Bytes b = to_bytes(compress(Affine<C>{x, g.y}));
    const PointError error = this->read_compressed_error(b, PointCheck::kOnCurve);
    if (error == PointError::kNone) {
      const auto p = this->decompress(b, PointCheck::kOnCurve);
      EXPECT_TRUE(is_on_curve(*p));
      EXPECT_EQ(p->x, x);
      ++on;
    } else {
      EXPECT_EQ(error, PointError::kNotOnCurve);
      ++off;
    }
  }
  EXPECT_GE(on, 16u);
  EXPECT_GE(off, 16u);
}

TYPED_TEST(EncodingTest, RefusesPointsOutsideTheSubgroupWhereAsked) {
  using C = TypeParam;
  const auto lines = this->outsiders();
  EXPECT_GE(lines.size(), 15u);
  for (const auto& line : lines) {
    const Bytes uncompressed = bytes_of(line[0]);
    const Bytes compressed = to_bytes(compress(point_of<C>(uncompressed)));
    EXPECT_EQ(this->read_uncompressed_error(uncompressed, PointCheck::kOnCurve), PointError::kNone);
    EXPECT_EQ(this->read_compressed_error(compressed, PointCheck::kOnCurve), PointError::kNone);
    EXPECT_EQ(this->read_uncompressed_error(uncompressed), PointError::kNotInSubgroup);
    EXPECT_EQ(this->read_compressed_error(compressed), PointError::kNotInSubgroup);
  }
}

TYPED_TEST(EncodingTest, TheSignFlagChoosesTheRoot) {
  using C = TypeParam;
  auto point = Jacobian<C>::from_affine(C::generator());
  for (int k = 0; k < 20; ++k, point = point.dbl()) {
    const auto p = point.to_affine();
    Bytes b = to_bytes(compress(p));
    EXPECT_EQ(*this->decompress(b), p);
    b[0] ^= 0x20;
    EXPECT_EQ(*this->decompress(b), -p);
    EXPECT_EQ(to_bytes(compress(-p)), b);
  }
}

// G2's sign is decided by y.c0 where y.c1 = 0; the oracle has such points, and MatchesTheIntegerOracle reads them.
TEST(EncodingG2, TheOracleHasPointsWithRealY) {
  size_t low = 0, high = 0;
  for (const auto& line : golden_lines(kPoints, {"compress", "g2"})) {
    const auto p = point_of<G2Curve>(line[0]);
    if (p.is_infinity() || !p.y.c1.is_zero()) continue;
    ++(bytes_of(line[1])[0] & 0x20 ? high : low);
  }
  EXPECT_GE(low, 3u);
  EXPECT_GE(high, 3u);
}

TYPED_TEST(EncodingTest, RandomBytesNeverPassUnchanged) {
  std::mt19937_64 rng(7);
  size_t good = 0;
  for (int i = 0; i < 200; ++i) {
    Bytes b(this->kSize);
    for (uint8_t& byte : b) byte = static_cast<uint8_t>(rng());
    b[0] = static_cast<uint8_t>((b[0] & 0x2f) | 0x80);
    if (b.size() > 48) b[48] &= 0x0f;
    const auto p = this->decompress(b, PointCheck::kOnCurve);
    if (!p.ok()) continue;
    ++good;
    EXPECT_EQ(to_bytes(compress(*p)), b);
    const Bytes uncompressed = to_bytes(encode_uncompressed(*p));
    EXPECT_EQ(*this->decode(uncompressed, PointCheck::kOnCurve), *p);
  }
  EXPECT_GE(good, 50u);
}

TEST(PointErrors, EachHasItsOwnText) {
  std::vector<std::string> seen;
  for (int e = 1; e <= static_cast<int>(PointError::kNotInSubgroup); ++e) {
    const Error error = to_error(static_cast<PointError>(e), "G1");
    EXPECT_EQ(error.error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), error.message), 0);
    seen.push_back(error.message);
  }
}

}  // namespace
}  // namespace cuzk
