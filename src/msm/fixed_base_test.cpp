#include <gtest/gtest.h>

#include "msm/msm.hpp"
#include "msm/msm_test_support.hpp"
#include "msm/msm_tuning.hpp"

namespace cuzk {
namespace {

using namespace msm_test;

template <class C>
class FixedBaseTest : public testing::Test {};
using Curves = testing::Types<G1Curve, G2Curve>;
TYPED_TEST_SUITE(FixedBaseTest, Curves);

Scalars interesting_scalars() {
  Scalars out = make_scalars(40, Distribution::kUniform, 1);
  for (uint64_t i = 0; i < 40; ++i) out.push_back(Fr::from_u64(i)), out.push_back(-Fr::from_u64(i));
  const Fr two = Fr::from_u64(2);
  for (unsigned i = 0; i < 255; i += 3) {
    out.push_back(two.pow(i));
    out.push_back(two.pow(i) - Fr::one());
    out.push_back(-two.pow(i));
  }
  // With windows of w bits the lower part of r - 2*(r mod 2^w) is the multiple that its upper part is.
  for (unsigned bits = 5; bits <= 240; ++bits) {
    Fr::Limbs low = Fr::kModulus;
    for (size_t i = 0; i < 4; ++i) {
      if (64 * (i + 1) <= bits) continue;
      low[i] = 64 * i >= bits ? 0 : low[i] & ((uint64_t{1} << (bits % 64)) - 1);
    }
    out.push_back(-Fr::from_plain(low).dbl());
    out.push_back(Fr::from_plain(low).dbl());
  }
  return out;
}

TYPED_TEST(FixedBaseTest, EqualsScalarMultiplication) {
  const Scalars scalars = interesting_scalars();
  for (const bool portable : {true, false}) {
    const Arithmetic arithmetic(portable);
    for (const size_t expected : {size_t{1}, size_t{300}, size_t{5000}}) {
      const FixedBase<TypeParam> table(TypeParam::generator(), expected);
      Points<TypeParam> out(scalars.size());
      table.multiply(scalars, out);
      const auto g = Jacobian<TypeParam>::from_affine(TypeParam::generator());
      for (size_t i = 0; i < scalars.size(); ++i) {
        ASSERT_EQ(out[i], g.mul(scalars[i]).to_affine()) << i << " " << table.window_bits();
      }
    }
  }
}

TYPED_TEST(FixedBaseTest, OtherBasesAndThreads) {
  std::mt19937_64 rng(4);
  const Scalars scalars = make_scalars(100, Distribution::kUniform, 4);
  const auto base = Jacobian<TypeParam>::from_affine(TypeParam::generator()).mul(random_fr(rng));
  for (const size_t threads : {1, 3}) {
    const Threads limit(threads);
    const FixedBase<TypeParam> table(base.to_affine(), 1000);
    Points<TypeParam> out(100);
    table.multiply(scalars, out);
    for (size_t i = 0; i < 100; ++i) ASSERT_EQ(out[i], base.mul(scalars[i]).to_affine());
    const FixedBase<TypeParam> infinite(Affine<TypeParam>::infinity(), 10);
    infinite.multiply(scalars, out);
    for (const auto& p : out) ASSERT_TRUE(p.is_infinity());
    table.multiply({}, {});
  }
}

TEST(FixedBase, TableGrowsWithTheExpectedCount) {
  EXPECT_LT(msm_tuning::fixed_base_bits(1), 8u);
  EXPECT_GT(msm_tuning::fixed_base_bits(10'000'000), 13u);
}

}  // namespace
}  // namespace cuzk
