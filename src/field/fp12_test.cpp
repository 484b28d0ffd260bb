#include "field/fp12.hpp"

#include <gtest/gtest.h>

#include "field/batch_inverse.hpp"
#include "field/field_test_support.hpp"
#include "field/sqrt.hpp"

namespace cuzk {
namespace {

using field_test::golden;
using field_test::random;

template <class F>
class FieldAxiomsTest : public testing::Test {};
using AllFields = testing::Types<Fr, Fp, Fp2, Fp6, Fp12>;
TYPED_TEST_SUITE(FieldAxiomsTest, AllFields);

TYPED_TEST(FieldAxiomsTest, HoldOnRandomElements) {
  using F = TypeParam;
  std::mt19937_64 rng(1);
  for (int i = 0; i < 50; ++i) {
    const F a = random<F>(rng), b = random<F>(rng), c = random<F>(rng);
    EXPECT_EQ((a + b) * c, a * c + b * c);
    EXPECT_EQ((a * b) * c, a * (b * c));
    EXPECT_EQ(a * b, b * a);
    EXPECT_EQ(a - b, a + (-b));
    EXPECT_EQ(a.square(), a * a);
    EXPECT_EQ(a.dbl(), a + a);
    EXPECT_EQ(a * a.inverse(), F::one());
    EXPECT_NE(a, b);
    F d = a;
    d += b;
    d -= c;
    d *= a;
    EXPECT_EQ(d, (a + b - c) * a);
  }
}

TYPED_TEST(FieldAxiomsTest, ZeroAndOne) {
  using F = TypeParam;
  std::mt19937_64 rng(2);
  const F a = random<F>(rng);
  EXPECT_TRUE(F::zero().is_zero());
  EXPECT_FALSE(F::one().is_zero());
  EXPECT_TRUE(F::one().is_one());
  EXPECT_FALSE(a.is_one());
  EXPECT_EQ(a * F::zero(), F::zero());
  EXPECT_EQ(a * F::one(), a);
  EXPECT_EQ(F::zero().inverse(), F::zero());
  EXPECT_EQ(-F::zero(), F::zero());
  EXPECT_EQ(F::zero().square(), F::zero());
  EXPECT_EQ((-F::one()).square(), F::one());
}

TYPED_TEST(FieldAxiomsTest, BatchInverseLeavesZeros) {
  using F = TypeParam;
  std::mt19937_64 rng(3);
  for (size_t size : {0u, 1u, 2u, 17u}) {
    for (int zeros = 0; zeros < 3; ++zeros) {
      std::vector<F> values(size);
      for (size_t i = 0; i < size; ++i) {
        const bool zero = zeros == 2 || (zeros == 1 && i % 3 == 0);
        values[i] = zero ? F::zero() : random<F>(rng);
      }
      std::vector<F> expected;
      for (const F& v : values) expected.push_back(v.inverse());
      std::vector<F> scratch(size + 1, F::one());
      std::vector<F> copy = values;
      batch_inverse<F>(values);
      EXPECT_EQ(values, expected);
      batch_inverse<F>(copy, scratch);
      EXPECT_EQ(copy, expected);
    }
  }
}

TEST(Fp2, MultiplicationMatchesGolden) {
  ASSERT_GT(golden("fp2_mul").size(), 100u);
  for (const auto& row : golden("fp2_mul")) {
    const Fp2 a = field_test::parse_fp2(row, 0), b = field_test::parse_fp2(row, 2);
    EXPECT_EQ(a * b, field_test::parse_fp2(row, 4));
  }
}

TEST(Fp2, NonresidueConjugateNormScale) {
  std::mt19937_64 rng(4);
  const Fp2 a = random<Fp2>(rng);
  EXPECT_EQ(a.mul_by_nonresidue(), a * (Fp2{Fp::one(), Fp::one()}));
  EXPECT_EQ(a * a.conjugate(), (Fp2{a.norm(), Fp::zero()}));
  EXPECT_EQ(a.conjugate(), a.pow(Fp::kModulus));
  const Fp s = random<Fp>(rng);
  EXPECT_EQ(a * s, a * (Fp2{s, Fp::zero()}));
}

TEST(Fp12, MultiplicationMatchesGolden) {
  ASSERT_EQ(golden("fp12_mul").size(), 6u);
  for (const auto& row : golden("fp12_mul")) {
    const Fp12 a = field_test::parse_fp12(row, 0), b = field_test::parse_fp12(row, 12);
    EXPECT_EQ(a * b, field_test::parse_fp12(row, 24));
  }
}

TEST(Fp12, FrobeniusMatchesGolden) {
  ASSERT_EQ(golden("fp12_frobenius").size(), 3u);
  for (const auto& row : golden("fp12_frobenius")) {
    const auto power = static_cast<unsigned>(std::stoul(row[0]));
    EXPECT_EQ(field_test::parse_fp12(row, 1).frobenius(power), field_test::parse_fp12(row, 13));
  }
}

TEST(Fp12, FrobeniusPowersCompose) {
  std::mt19937_64 rng(5);
  const Fp12 a = random<Fp12>(rng);
  EXPECT_EQ(a.frobenius(1).frobenius(1), a.frobenius(2));
  EXPECT_EQ(a.frobenius(2).frobenius(1), a.frobenius(3));
  EXPECT_EQ(a.frobenius(3).frobenius(3), a.conjugate());
}

TEST(Fp12, CyclotomicSquareAfterEasyPart) {
  std::mt19937_64 rng(6);
  for (int i = 0; i < 10; ++i) {
    const Fp12 a = random<Fp12>(rng);
    const Fp12 b = a.conjugate() * a.inverse();
    const Fp12 c = b.frobenius(2) * b;
    EXPECT_EQ(c.cyclotomic_square(), c.square());
    EXPECT_EQ(c * c.conjugate(), Fp12::one());
    EXPECT_NE(a.cyclotomic_square(), a.square());  // a is not in the subgroup
  }
  EXPECT_EQ(Fp12::one().cyclotomic_square(), Fp12::one());
}

TEST(Fp12, SparseProductsMatchDense) {
  std::mt19937_64 rng(7);
  const auto line = [](const Fp2& l0, const Fp2& l1, const Fp2& l4) {
    return Fp12{{l0, l1, Fp2::zero()}, {Fp2::zero(), l4, Fp2::zero()}};
  };
  for (int i = 0; i < 10; ++i) {
    const Fp12 a = random<Fp12>(rng);
    const Fp2 l0 = random<Fp2>(rng), l1 = random<Fp2>(rng), l4 = random<Fp2>(rng);
    const Fp2 k0 = random<Fp2>(rng), k1 = random<Fp2>(rng), k4 = random<Fp2>(rng);
    EXPECT_EQ(a.mul_by_014(l0, l1, l4), a * line(l0, l1, l4));
    EXPECT_EQ(mul_014_by_014(l0, l1, l4, k0, k1, k4), line(l0, l1, l4) * line(k0, k1, k4));
    EXPECT_EQ(a.c0.mul_by_01(l0, l1), a.c0 * (Fp6{l0, l1, Fp2::zero()}));
    EXPECT_EQ(a.c0.mul_by_1(l1), a.c0 * (Fp6{Fp2::zero(), l1, Fp2::zero()}));
    EXPECT_EQ(a.c0.mul_by_nonresidue(), a.c0 * (Fp6{Fp2::zero(), Fp2::one(), Fp2::zero()}));
    EXPECT_EQ(a.c0 * l0, a.c0 * (Fp6{l0, Fp2::zero(), Fp2::zero()}));
  }
}

TEST(Sqrt, FpDecidesAsGoldenAndRootsSquareBack) {
  ASSERT_EQ(golden("fp_is_square").size(), 10u);
  int squares = 0;
  for (const auto& row : golden("fp_is_square")) {
    const Fp a = field_test::parse_plain<Fp>(row[0]);
    const auto root = sqrt(a);
    ASSERT_EQ(root.has_value(), row[1] == "1");
    if (root) {
      EXPECT_EQ(root->square(), a);
    }
    squares += root.has_value();
  }
  EXPECT_GT(squares, 0);
  EXPECT_LT(squares, 10);
  EXPECT_EQ(sqrt(Fp::zero()), Fp::zero());
  EXPECT_FALSE(sqrt(-Fp::one()).has_value());
}

TEST(Sqrt, Fp2DecidesAsGoldenAndRootsSquareBack) {
  ASSERT_EQ(golden("fp2_is_square").size(), 10u);
  for (const auto& row : golden("fp2_is_square")) {
    const Fp2 a = field_test::parse_fp2(row, 0);
    const auto root = sqrt(a);
    ASSERT_EQ(root.has_value(), row[2] == "1");
    if (root) {
      EXPECT_EQ(root->square(), a);
    }
  }
  std::mt19937_64 rng(8);
  for (int i = 0; i < 20; ++i) {
    const Fp2 r = random<Fp2>(rng);
    for (const Fp2& a : {r.square(), Fp2{r.c0, Fp::zero()}, (Fp2{Fp::zero(), r.c0}).square()}) {
      const auto root = sqrt(a);
      ASSERT_TRUE(root.has_value());
      EXPECT_EQ(root->square(), a);
    }
    EXPECT_FALSE(sqrt(r.square().mul_by_nonresidue()).has_value());  // u + 1 is not a square
  }
  EXPECT_EQ(sqrt(Fp2::zero()), Fp2::zero());
}

}  // namespace
}  // namespace cuzk
