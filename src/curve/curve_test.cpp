#include <gtest/gtest.h>

#include "curve/check.hpp"

namespace cuzk {
namespace {
TEST(Curve, Smoke) {
  auto g = G1Jacobian::from_affine(G1Curve::generator());
  auto g2 = G2Jacobian::from_affine(G2Curve::generator());
  EXPECT_TRUE(is_on_curve(G1Curve::generator()));
  EXPECT_TRUE(is_on_curve(G2Curve::generator()));
  EXPECT_TRUE(g.mul(std::span<const uint64_t>(Fr::kModulus)).is_infinity());
  EXPECT_TRUE(g2.mul(std::span<const uint64_t>(Fr::kModulus)).is_infinity());
  EXPECT_EQ(g.mul(Fr::from_u64(5)), g.dbl().dbl() + g);
  EXPECT_TRUE(is_in_subgroup(G1Curve::generator()));
  EXPECT_TRUE(is_in_subgroup(G2Curve::generator()));
  EXPECT_FALSE(is_in_subgroup(G1Affine{Fp::zero(), Fp::from_u64(2)}));
  auto x = G1Xyzz::from_affine(G1Curve::generator());
  auto a = G1Curve::generator();
  for (int i = 0; i < 3; ++i) x.add(a);
  EXPECT_EQ(x.to_affine(), g.dbl().dbl().to_affine());
}
}  // namespace
}  // namespace cuzk
