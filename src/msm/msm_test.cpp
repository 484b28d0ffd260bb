#include "msm/msm.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "field/cpu_features.hpp"
#include "msm/digits.hpp"
#include "msm/msm_test_support.hpp"
#include "msm/msm_tuning.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

using namespace msm_test;

template <class C>
class MsmTest : public testing::Test {};
using Curves = testing::Types<G1Curve, G2Curve>;
TYPED_TEST_SUITE(MsmTest, Curves);

template <class C>
Jacobian<C> naive(const Points<C>& bases, const Scalars& scalars) {
  Jacobian<C> total = Jacobian<C>::infinity();
  for (size_t i = 0; i < bases.size(); ++i) total += Jacobian<C>::from_affine(bases[i]).mul(scalars[i]);
  return total;
}

// The same sum where bases[i] = logs[i] * generator.
template <class C>
Jacobian<C> by_logs(const Scalars& logs, const Scalars& scalars) {
  Fr sum;
  for (size_t i = 0; i < logs.size(); ++i) sum += logs[i] * scalars[i];
  return Jacobian<C>::from_affine(C::generator()).mul(sum);
}

TYPED_TEST(MsmTest, EqualsTheNaiveSumAtEverySmallSize) {
  const auto known = known_points<TypeParam>(70, 1);
  for (const bool portable : {true, false}) {
    const Arithmetic arithmetic(portable);
    for (size_t n = 0; n <= 70; ++n) {
      const Points<TypeParam> bases(known.points.begin(), known.points.begin() + static_cast<ptrdiff_t>(n));
      const Scalars scalars = make_scalars(n, Distribution::kUniform, n);
      ASSERT_EQ(msm<TypeParam>(bases, scalars), naive<TypeParam>(bases, scalars)) << n;
    }
  }
}

TYPED_TEST(MsmTest, EveryDistributionAroundPowersOfTwo) {
  const auto known = known_points<TypeParam>(4097, 2);
  for (const bool portable : {true, false}) {
    const Arithmetic arithmetic(portable);
    for (unsigned k = 3; k <= 12; k += 3) {
      for (const size_t n : {(size_t{1} << k) - 1, size_t{1} << k, (size_t{1} << k) + 1}) {
        for (const Distribution d : kDistributions) {
          const Points<TypeParam> bases(known.points.begin(), known.points.begin() + static_cast<ptrdiff_t>(n));
          const Scalars logs(known.logs.begin(), known.logs.begin() + static_cast<ptrdiff_t>(n));
          const Scalars scalars = make_scalars(n, d, 10 * n);
          ASSERT_EQ(msm<TypeParam>(bases, scalars), by_logs<TypeParam>(logs, scalars)) << n << " " << name(d);
        }
      }
    }
  }
}

TYPED_TEST(MsmTest, KnownLogarithmsAtALargeSize) {
  const size_t n = std::is_same_v<TypeParam, G1Curve> ? 1 << 15 : 1 << 13;
  const auto known = known_points<TypeParam>(n, 3);
  for (const Distribution d : kDistributions) {
    const Scalars scalars = make_scalars(n, d, 7);
    EXPECT_EQ(msm<TypeParam>(known.points, scalars), by_logs<TypeParam>(known.logs, scalars)) << name(d);
  }
}

// Bases that meet in every exceptional way: infinities, one point many times, opposite points, small multiples of the
// generator whose sums coincide.
TYPED_TEST(MsmTest, InfiniteRepeatedAndOppositeBases) {
  for (const bool portable : {true, false}) {
    const Arithmetic arithmetic(portable);
    for (const size_t n : {9u, 64u, 300u, 2000u}) {
      for (const Bases kind : kBases) {
        const auto known = exceptional_points<TypeParam>(n, kind, n);
        for (const Distribution d : {Distribution::kUniform, Distribution::kEqual, Distribution::kBits}) {
          const Scalars scalars = make_scalars(n, d, n);
          ASSERT_EQ(msm<TypeParam>(known.points, scalars), by_logs<TypeParam>(known.logs, scalars))
              << n << " " << static_cast<int>(kind) << " " << name(d);
        }
      }
    }
  }
}

TYPED_TEST(MsmTest, SameResultOnAnyNumberOfThreads) {
  const auto known = known_points<TypeParam>(3000, 4);
  for (const Distribution d : kDistributions) {
    const Scalars scalars = make_scalars(known.points.size(), d, 1);
    const auto expected = by_logs<TypeParam>(known.logs, scalars);
    for (const size_t threads : {1, 2, 3, 16}) {
      const Threads limit(threads);
      EXPECT_EQ(msm<TypeParam>(known.points, scalars), expected) << threads << " " << name(d);
    }
  }
}

TYPED_TEST(MsmTest, ExtremeScalars) {
  const auto known = known_points<TypeParam>(64, 5);
  const Fr half = Fr::from_u64(2).inverse();  // (r + 1)/2, the first that is taken as a negative
  for (const Fr& s : {-Fr::one(), half, half - Fr::one(), -half, Fr::from_u64(2).pow(254)}) {
    Scalars scalars(64, s);
    ASSERT_EQ(msm<TypeParam>(known.points, scalars), by_logs<TypeParam>(known.logs, scalars));
    // At every single place, among zeros.
    for (size_t i = 0; i < 64; i += 21) {
      scalars.assign(64, Fr::zero());
      scalars[i] = s;
      ASSERT_EQ(msm<TypeParam>(known.points, scalars), by_logs<TypeParam>(known.logs, scalars));
    }
  }
}

TYPED_TEST(MsmTest, SelectedSumEqualsTheSumOfLogarithms) {
  std::mt19937_64 rng(8);
  for (const bool portable : {true, false}) {
    const Arithmetic arithmetic(portable);
    for (const size_t n : {0u, 1u, 2u, 63u, 64u, 65u, 1000u, 12000u}) {
      const auto known = known_points<TypeParam>(n, n);
      for (const unsigned percent : {0u, 1u, 50u, 99u, 100u}) {
        BitVector bits(n);
        Fr log;
        for (size_t i = 0; i < n; ++i) {
          if (rng() % 100 >= percent) continue;
          bits.set(i);
          log += known.logs[i];
        }
        ASSERT_EQ(sum_selected<TypeParam>(known.points, bits),
                  Jacobian<TypeParam>::from_affine(TypeParam::generator()).mul(log))
            << n << " " << percent;
      }
    }
    for (const Bases kind : kBases) {
      const auto known = exceptional_points<TypeParam>(1000, kind, 3);
      BitVector bits(1000);
      Fr log;
      for (size_t i = 0; i < 1000; i += 1 + i % 2) bits.set(i), log += known.logs[i];
      ASSERT_EQ(sum_selected<TypeParam>(known.points, bits),
                Jacobian<TypeParam>::from_affine(TypeParam::generator()).mul(log));
    }
  }
}

// What every caller of a sum must be able to rely on: a wrong base or scalar changes it.
TYPED_TEST(MsmTest, EveryTermCounts) {
  auto known = known_points<TypeParam>(100, 6);
  Scalars scalars = make_scalars(100, Distribution::kUniform, 6);
  const auto expected = msm<TypeParam>(known.points, scalars);
  for (size_t i = 0; i < 100; i += 9) {
    scalars[i] += Fr::one();
    EXPECT_FALSE(msm<TypeParam>(known.points, scalars) == expected);
    scalars[i] -= Fr::one();
    std::swap(known.points[i], known.points[i + 1 < 100 ? i + 1 : 0]);
    EXPECT_FALSE(msm<TypeParam>(known.points, scalars) == expected);
    std::swap(known.points[i], known.points[i + 1 < 100 ? i + 1 : 0]);
  }
  EXPECT_EQ(msm<TypeParam>(known.points, scalars), expected);
}

TEST(Digits, AddUpToTheScalar) {
  std::mt19937_64 rng(9);
  Scalars scalars = make_scalars(200, Distribution::kUniform, 9);
  for (uint64_t i = 0; i < 40; ++i) scalars.push_back(Fr::from_u64(i)), scalars.push_back(-Fr::from_u64(i));
  const Fr half = Fr::from_u64(2).inverse();
  for (const Fr& s : {half, half - Fr::one(), half + Fr::one(), -half}) scalars.push_back(s);
  for (unsigned i = 0; i < 255; ++i) {
    scalars.push_back(Fr::from_u64(2).pow(i));
    scalars.push_back(Fr::from_u64(2).pow(i) - Fr::one());
  }
  for (unsigned bits = msm_tuning::kMinWindowBits; bits <= msm_tuning::kMaxWindowBits; ++bits) {
    const msm_detail::DigitCutter cutter(bits);
    ASSERT_EQ(cutter.windows(), msm_tuning::windows(bits));
    std::vector<msm_detail::DigitCode> codes(cutter.windows());
    for (const Fr& s : scalars) {
      cutter.cut(s, codes.data(), 1);
      Fr sum;
      for (size_t w = codes.size(); w-- > 0;) {
        for (unsigned i = 0; i < bits; ++i) sum = sum.dbl();
        if (codes[w] == 0) continue;
        ASSERT_LT(msm_detail::digit_bucket(codes[w]), 1u << (bits - 1));
        const Fr digit = Fr::from_u64(msm_detail::digit_bucket(codes[w]) + 1);
        sum += msm_detail::digit_negative(codes[w]) ? -digit : digit;
      }
      ASSERT_EQ(sum, s) << bits;
    }
  }
}

TEST(MsmDeath, DifferentLengthsAreABug) {
  const Points<G1Curve> bases(3, G1Curve::generator());
  const Scalars scalars(2);
  EXPECT_DEATH(msm<G1Curve>(bases, scalars), "");
  EXPECT_DEATH(sum_selected<G1Curve>(bases, BitVector(4)), "");
}

}  // namespace
}  // namespace cuzk
