#include <gtest/gtest.h>

#include "field/field_test_support.hpp"
#include "field/fp.hpp"
#include "field/fr.hpp"

namespace cuzk {
namespace {

template <class F>
class PrimeFieldTest : public testing::Test {};
using Fields = testing::Types<Fr, Fp>;
TYPED_TEST_SUITE(PrimeFieldTest, Fields);

TYPED_TEST(PrimeFieldTest, InverseTimesSelfIsOne) {
  using F = TypeParam;
  for (uint64_t v : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{0xffffffffffffffff}}) {
    const F x = F::from_u64(v);
    EXPECT_EQ(x * x.inverse(), F::one());
    EXPECT_EQ((-x) * x.inverse(), -F::one());
  }
  EXPECT_TRUE(F::zero().inverse().is_zero());
}

TYPED_TEST(PrimeFieldTest, BytesRefuseTheModulus) {
  using F = TypeParam;
  std::array<uint8_t, F::kBytes> bytes{};
  for (size_t i = 0; i < F::kBytes; ++i) bytes[i] = static_cast<uint8_t>(F::kModulus[i / 8] >> (8 * (i % 8)));
  EXPECT_FALSE(F::from_bytes_le(bytes).has_value());
  bytes[0] -= 1;
  EXPECT_EQ(*F::from_bytes_le(bytes), -F::one());
}

TYPED_TEST(PrimeFieldTest, InverseMatchesFermat) {
  using F = TypeParam;
  typename F::Limbs exponent = F::kModulus;  // p - 2
  typename F::Limbs two{};
  two[0] = 2;
  limbs::sub<F::kLimbs>(exponent, exponent, two);
  std::mt19937_64 rng(21);
  for (int i = 0; i < 300; ++i) {
    F x = field_test::random<F>(rng);
    if (i < 100) {  // small values, powers of two and their negatives, in stored form
      typename F::Limbs limbs{};
      limbs[(i / 2) % F::kLimbs] = uint64_t{1} << (i * 7 % 60);
      x = F::from_montgomery(limbs);
      if (i % 2 == 1) x = -x;
    }
    EXPECT_EQ(x.inverse(), x.pow(exponent));
  }
}

// The form for devices, here on the host.
TYPED_TEST(PrimeFieldTest, InverseByNarrowLimbs) {
  using F = TypeParam;
  constexpr typename F::Limbs kScale = F::kRSquared, kModulus = F::kModulus;
  std::mt19937_64 rng(22);
  for (int i = 0; i < 3000; ++i) {
    typename F::Limbs x = field_test::random<F>(rng).montgomery();
    if (i < 4 * static_cast<int>(64 * F::kLimbs)) {  // 2^k, p - 2^k, 2^k - 1, p + 1 - 2^k
      const auto bit = static_cast<size_t>(i / 4);
      typename F::Limbs power{}, one{};
      power[bit / 64] = uint64_t{1} << (bit % 64);
      one[0] = 1;
      if (i % 4 >= 2) limbs::sub<F::kLimbs>(power, power, one);
      if (!limbs::less<F::kLimbs>(power, kModulus)) continue;
      x = power;
      if (i % 2 == 1) limbs::sub<F::kLimbs>(x, kModulus, power);
      if (!limbs::less<F::kLimbs>(x, kModulus)) continue;
    }
    EXPECT_EQ((limbs::divstep::invert<limbs::divstep::Narrow, F::kLimbs>(x, kScale, kModulus, F::kInverse)),
              F::from_montgomery(x).inverse().montgomery());
  }
}

TYPED_TEST(PrimeFieldTest, InverseInConstantEvaluation) {
  using F = TypeParam;
  constexpr F kThird = F::from_u64(3).inverse();
  static_assert(kThird * F::from_u64(3) == F::one());
  EXPECT_EQ(kThird, F::from_u64(3).inverse());
}

template <class F>
std::string name() {
  return F::kLimbs == 4 ? "fr" : "fp";
}

TYPED_TEST(PrimeFieldTest, StoredFormMatchesGolden) {
  using F = TypeParam;
  using field_test::golden;
  using field_test::parse_mont;
  ASSERT_GT(golden(name<F>() + "_mul_mont").size(), 200u);
  for (const auto& row : golden(name<F>() + "_mul_mont")) {
    const F a = parse_mont<F>(row[0]), b = parse_mont<F>(row[1]), product = parse_mont<F>(row[2]);
    EXPECT_EQ(a * b, product) << row[0] << " " << row[1];
    if (a == b) {
      EXPECT_EQ(a.square(), product) << row[0];
    }
  }
  for (const auto& row : golden(name<F>() + "_add_mont")) {
    const F a = parse_mont<F>(row[0]), b = parse_mont<F>(row[1]), sum = parse_mont<F>(row[2]);
    EXPECT_EQ(a + b, sum) << row[0] << " " << row[1];
    if (a == b) {
      EXPECT_EQ(a.dbl(), sum) << row[0];
    }
  }
  for (const auto& row : golden(name<F>() + "_sub_mont")) {
    const F a = parse_mont<F>(row[0]), b = parse_mont<F>(row[1]), difference = parse_mont<F>(row[2]);
    EXPECT_EQ(a - b, difference) << row[0] << " " << row[1];
    if (a.is_zero()) {
      EXPECT_EQ(-b, difference) << row[1];
    }
  }
}

TYPED_TEST(PrimeFieldTest, PlainFormMatchesGolden) {
  using F = TypeParam;
  using field_test::golden;
  using field_test::parse_plain;
  ASSERT_GT(golden(name<F>() + "_inverse").size(), 40u);
  for (const auto& row : golden(name<F>() + "_inverse")) {
    EXPECT_EQ(parse_plain<F>(row[0]).inverse(), parse_plain<F>(row[1])) << row[0];
  }
  for (const auto& row : golden(name<F>() + "_mont")) {
    EXPECT_EQ(parse_plain<F>(row[0]), field_test::parse_mont<F>(row[1])) << row[0];
    EXPECT_EQ(parse_plain<F>(row[0]).to_plain(), field_test::parse_limbs<F::kLimbs>(row[0]));
  }
  for (const auto& row : golden(name<F>() + "_pow")) {
    const auto exponent = field_test::parse_limbs<2>(row[1]);
    EXPECT_EQ(parse_plain<F>(row[0]).pow(exponent), parse_plain<F>(row[2])) << row[0];
  }
}

TEST(Fr, RootOfUnityHasOrderTwoToThe32) {
  Fr x = fr_root_of_unity();
  for (int i = 0; i < 31; ++i) x = x.square();
  EXPECT_EQ(x, -Fr::one());
}

}  // namespace
}  // namespace cuzk
