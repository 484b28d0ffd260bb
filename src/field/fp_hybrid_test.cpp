// The hybrid multiplier on the host: the same source that device code compiles, with fused multiply-adds.
#include "field/fp_hybrid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "field/field_test_support.hpp"

namespace cuzk {
namespace {

constexpr unsigned kDigits = FpHybrid::kDigits;
constexpr int64_t kHalf = int64_t{1} << (hybrid::kDigitBits - 1);

FpHybrid to_hybrid(const Fp& x) { return FpHybrid::from_fp(x).reduced(); }

// The digits as they are, not reduced.
template <class Element = FpHybrid>
Element from_digits(const std::vector<int64_t>& digits) {
  Element out;
  for (unsigned k = 0; k < kDigits; ++k) {
    out.d[k] = static_cast<double>(digits[k]);
    out.s[k] = static_cast<uint32_t>(digits[k]);
  }
  return out;
}
// The element that digits of any size stand for, by Horner's rule in Fp. In hybrid form it is x*2^390.
template <class Element>
Fp value(const Element& x) {
  Fp out;
  const Fp radix = Fp::from_u64(uint64_t{1} << hybrid::kDigitBits);
  for (unsigned k = kDigits; k-- > 0;) {
    const auto digit = static_cast<int64_t>(x.d[k]);
    EXPECT_EQ(static_cast<double>(digit), x.d[k]);
    EXPECT_EQ(static_cast<uint32_t>(digit), x.s[k]);
    const Fp magnitude = Fp::from_u64(static_cast<uint64_t>(digit < 0 ? -digit : digit));
    out = out * radix + (digit < 0 ? -magnitude : magnitude);
  }
  static const Fp kFactor = Fp::from_u64(2).pow(hybrid::kRadixBits).inverse();
  return out * kFactor;
}
void expect_in_range(const FpHybrid& x, double limit) {
  for (unsigned k = 0; k + 1 < kDigits; ++k) {
    EXPECT_GE(x.d[k], -static_cast<double>(kHalf));
    EXPECT_LT(x.d[k], static_cast<double>(kHalf));
  }
  EXPECT_LE(std::abs(x.d[kDigits - 1] * hybrid::kPerModulus), limit);
}

std::vector<Fp> edges() {
  std::vector<Fp> out;
  const Fp half = Fp::from_u64(2).inverse();
  for (const uint64_t n : {0, 1, 2, 3, 63, 64, 65}) {
    for (const Fp& x : {Fp::from_u64(n), half + Fp::from_u64(n)}) {
      out.push_back(x);
      out.push_back(-x);
    }
  }
  // Montgomery forms at the ends of the range, single bits, long runs of ones.
  Fp::Limbs limbs = Fp::kModulus;
  limbs[0] -= 1;
  out.push_back(Fp::from_montgomery(limbs));
  for (unsigned bit = 0; bit < 380; bit += 19) {
    Fp::Limbs single{}, ones{};
    single[bit / 64] = uint64_t{1} << (bit % 64);
    for (unsigned i = 0; i < bit; ++i) ones[i / 64] |= uint64_t{1} << (i % 64);
    out.push_back(Fp::from_montgomery(single));
    out.push_back(Fp::from_montgomery(ones));
    out.push_back(-out.back());
  }
  return out;
}

std::vector<Fp> samples(size_t random) {
  std::mt19937_64 rng(1);
  std::vector<Fp> out = edges();
  for (size_t i = 0; i < random; ++i) out.push_back(field_test::random<Fp>(rng));
  return out;
}

struct MinusTwo {
  static constexpr bool kAny = true;
  FpHybrid a, b;
  void load() {}
  template <unsigned k>
  double add_digit(double c) const {
    return c - a.d[k] - b.d[k];
  }
  template <unsigned k>
  uint32_t word() const {
    return 0 - a.s[k] - b.s[k];
  }
};

void expect_same(const FpHybrid& a, const FpHybrid& b) {
  for (unsigned k = 0; k < kDigits; ++k) {
    EXPECT_EQ(a.d[k], b.d[k]);
    EXPECT_EQ(a.s[k], b.s[k]);
  }
}

TEST(FpHybrid, ConversionsAreInverse) {
  for (const Fp& x : samples(2000)) {
    const FpHybrid unreduced = FpHybrid::from_fp(x), h = unreduced.reduced();
    EXPECT_EQ(value(unreduced), x);
    EXPECT_EQ(value(h), x);
    expect_in_range(unreduced, 64.001);  // of p, taken as its last digit
    expect_in_range(h, 0.62);
    EXPECT_EQ(h.to_fp(), x);
    EXPECT_EQ(h.is_zero(), x.is_zero());
    EXPECT_TRUE(h.may_be_zero() || !x.is_zero());
    const FpHybrid::Packed packed = h.pack();
    expect_same(FpHybrid::unpack(packed), h);
    EXPECT_EQ(packed == FpHybrid::Packed{}, x.is_zero());
  }
  EXPECT_EQ(value(FpHybrid::one()), Fp::one());
}

TEST(FpHybrid, ToFpTakesEveryRepresentative) {
  // x, x + p and x - p where these are below 0.99 p.
  for (const Fp& x : samples(200)) {
    for (const int64_t times : {-1, 0, 1}) {
      std::vector<int64_t> digits(kDigits);
      const FpHybrid h = to_hybrid(x);
      int64_t carry = 0;
      for (unsigned k = 0; k < kDigits; ++k) {
        int64_t digit = static_cast<int64_t>(h.d[k]) + times * hybrid::kModulusDigits[k] + carry;
        carry = k + 1 < kDigits ? (digit + kHalf) >> hybrid::kDigitBits : 0;
        digits[k] = digit - carry * (int64_t{1} << hybrid::kDigitBits);
      }
      const FpHybrid shifted = from_digits(digits);
      expect_same(FpHybrid::unpack(shifted.pack()), shifted);
      if (std::abs(shifted.d[kDigits - 1] * hybrid::kPerModulus) < 0.99) {
        EXPECT_EQ(shifted.to_fp(), x);
      }
    }
  }
}

TEST(FpHybrid, AgreesWithFp) {
  const std::vector<Fp> all = samples(60);
  for (const Fp& x : all) {
    const FpHybrid a = to_hybrid(x);
    EXPECT_EQ(FpHybrid::square(a).to_fp(), x.square());
    for (const Fp& y : all) {
      const FpHybrid b = to_hybrid(y), product = a * b;
      EXPECT_EQ(product.to_fp(), x * y);
      expect_in_range(product, 0.52);
      EXPECT_EQ(product.is_zero(), (x * y).is_zero());
      EXPECT_EQ(((a - b) * a).to_fp(), (x - y) * x);
      EXPECT_EQ(((a + b) * a).to_fp(), (x + y) * x);
      // Zero is unique, which is how equal coordinates are found.
      EXPECT_EQ(((a - b) * FpHybrid::one()).is_zero(), x == y);
      const FpHybrid with_terms = FpHybrid::square(a, MinusTwo{a, b});
      EXPECT_EQ(with_terms.to_fp(), x.square() - x - y);
      expect_in_range(with_terms, 0.51);
      EXPECT_EQ(FpHybrid::product(a - b, b, MinusTwo{b, b}).to_fp(), (x - y) * y - y - y);
      const FpHybrid::Packed pa = a.pack(), pb = b.pack();
      EXPECT_EQ(value(FpHybrid::difference(pa, pb)), x - y);
      EXPECT_EQ(value(FpHybrid::difference(pa, b)), x - y);
      EXPECT_EQ(value(FpHybrid::signed_sum(pa, pb, 1)), x + y);
      EXPECT_EQ(value(FpHybrid::signed_sum(pa, pb, -1)), x - y);
    }
  }
}

TEST(FpHybrid, AgreesWithTheGoldenVectors) {
  for (const auto& row : field_test::golden("fp_mul_mont")) {
    const Fp a = field_test::parse_mont<Fp>(row.at(0)), b = field_test::parse_mont<Fp>(row.at(1));
    EXPECT_EQ((to_hybrid(a) * to_hybrid(b)).to_fp(), field_test::parse_mont<Fp>(row.at(2)));
  }
  EXPECT_FALSE(field_test::golden("fp_mul_mont").empty());
}

// Operands whose digits are at the ends of their ranges, one of them with digits of twice the size.
TEST(FpHybrid, ExtremeDigits) {
  std::mt19937_64 rng(2);
  const int64_t kTop = hybrid::kModulusDigits[kDigits - 1];
  const auto extreme = [&](int64_t scale, unsigned pattern) {
    std::vector<int64_t> digits(kDigits);
    for (unsigned k = 0; k < kDigits; ++k) {
      const int64_t size = k + 1 < kDigits ? kHalf : kTop;
      const bool negative = pattern < 4 ? (pattern >> (k % 2) & 1) != 0 : (rng() & 1) != 0;
      const int64_t off = pattern % 3 == 2 ? static_cast<int64_t>(rng() % 3) : 0;
      digits[k] = scale * (negative ? -size + off : size - 1 - off);
    }
    return digits;
  };
  for (unsigned pattern = 0; pattern < 300; ++pattern) {
    for (unsigned other = 0; other < 16; ++other) {
      const auto wide = from_digits<FpHybrid::Wide>(extreme(2, pattern));
      const auto narrow = from_digits(extreme(1, other));
      const FpHybrid product = wide * narrow;
      EXPECT_EQ(value(product), value(wide) * value(narrow));
      expect_in_range(product, 0.62);
      EXPECT_EQ(product.to_fp(), value(product));
      EXPECT_EQ(value(FpHybrid::product(wide, narrow, MinusTwo{narrow, narrow})),
                value(wide) * value(narrow) - value(narrow) - value(narrow));
    }
    const auto narrow = from_digits(extreme(1, pattern));
    EXPECT_EQ(value(FpHybrid::square(narrow)), value(narrow).square());
  }
}

// The largest |C - S| that any column of a product can have when its digit is taken, as a part of 2^31: the sizes of
// all operands and the roundings in the order of fp_hybrid.hpp, with bits and digits as parameters. Upper bounds
// throughout: a rounding is half a unit in the last place of the largest result.
struct Shape {
  unsigned bits, digits;
  double top;  // size of the last digit
  std::vector<double> modulus, reducer;
};
double worst_rounding(const Shape& shape, double a_scale, double b_scale, double terms = 0) {
  const unsigned n = shape.digits;
  const double half = std::exp2(shape.bits - 1), per_digit = std::exp2(-static_cast<double>(shape.bits));
  std::vector<double> size(2 * n), error(2 * n);
  double worst = 0;
  const auto rounding = [](double x) { return x == 0 ? 0 : std::exp2(std::ceil(std::log2(x)) - 1 - 52 - 1); };
  const auto add = [&](unsigned k, double x) {
    size[k] += x;
    error[k] += rounding(size[k]);
  };
  const auto digit = [&](unsigned i, double scale) { return scale * (i + 1 < n ? half : shape.top); };
  const auto row = [&](unsigned i) {
    for (unsigned j = 0; j < n; ++j) add(i + j, digit(i, b_scale) * digit(j, a_scale));
  };
  // Taking a digit subtracts the low word, which is below 2^32, and 2^52.
  const auto take = [&](unsigned k) { worst = std::max(worst, error[k] + rounding(size[k] + std::exp2(53))); };
  const auto carry = [&](unsigned k) {
    add(k + 1, size[k] * per_digit);
    error[k + 1] += 1 + error[k] * per_digit;
  };
  row(0);
  for (unsigned i = 0; i + 1 < n; ++i) {
    take(i);
    row(i + 1);
    carry(i);
    for (unsigned j = 0; j < n; ++j) add(i + j + 1, half * shape.reducer[j]);
  }
  take(n - 1);
  size[n - 1] += half * shape.modulus[0];
  carry(n - 1);
  for (unsigned j = 1; j < n; ++j) add(n - 1 + j, half * shape.modulus[j]);
  for (unsigned k = n; k < 2 * n - 1; ++k) {
    if (terms > 0) {
      // Two addends, and the multiple of p that brings the sum back.
      add(k, terms * half);
      add(k, terms * half);
      add(k, 4 * half);
    }
    take(k);
    if (k + 2 < 2 * n) carry(k);
  }
  return worst / std::exp2(31);
}
Shape shape_of(unsigned bits, unsigned digits) {
  // Digits of the constants: their own for the header's shape, else as large as they may be.
  Shape out{bits, digits, std::exp2(381.0 - bits * (digits - 1)), {}, {}};
  out.modulus.assign(digits, std::exp2(bits - 1));
  out.reducer.assign(digits, std::exp2(bits - 1));
  if (bits == hybrid::kDigitBits && digits == kDigits) {
    for (unsigned k = 0; k < digits; ++k) {
      out.modulus[k] = std::abs(static_cast<double>(hybrid::kModulusDigits[k]));
      out.reducer[k] = std::abs(static_cast<double>(hybrid::kReducerDigits[k + 1]));
    }
  }
  return out;
}

TEST(FpHybrid, RoundingIsBounded) {
  const Shape shape = shape_of(hybrid::kDigitBits, kDigits);
  // What the types allow: an element times an element or a sum of two, with addends; and from_fp's results, whose last
  // digit is up to 64 times as large.
  EXPECT_LT(worst_rounding(shape, 1, 1), 0.5);
  EXPECT_LT(worst_rounding(shape, 2, 1), 0.9);
  EXPECT_LT(worst_rounding(shape, 2, 1, 1), 1);
  Shape unreduced = shape;
  unreduced.top *= 64;
  EXPECT_LT(worst_rounding(unreduced, 2, 1, 1), 1);
  // What they do not allow, and other shapes: the bound is not loose by more than a few bits.
  EXPECT_GT(worst_rounding(shape, 3, 1), 1);
  EXPECT_GT(worst_rounding(shape, 2, 2), 1);
  EXPECT_GT(worst_rounding(shape_of(40, 10), 1, 1), 1);
  EXPECT_GT(worst_rounding(shape_of(43, 9), 1, 1), 1);
  EXPECT_GT(worst_rounding(shape_of(48, 8), 1, 1), 1);
}

}  // namespace
}  // namespace cuzk
