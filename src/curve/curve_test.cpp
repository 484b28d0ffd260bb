#include <gtest/gtest.h>

#include <random>

#include "curve/check.hpp"
#include "curve/mul_secret.hpp"
#include "curve/test_vectors.hpp"

namespace cuzk {
namespace {

using testing_support::golden_lines;
using testing_support::point_of;

// Written by tests/oracle/curve_points.py from affine formulas over Python's integers.
const std::string kPoints = CUZK_GOLDEN_DIR "/curve/points.txt";

template <class Curve>
struct Group;
template <>
struct Group<G1Curve> {
  static constexpr const char* kKey = "g1";
};
template <>
struct Group<G2Curve> {
  static constexpr const char* kKey = "g2";
};

Fr random_fr(std::mt19937_64& rng) {
  Fr::Limbs limbs{rng(), rng(), rng(), rng() >> 2};
  return Fr::from_plain_checked(limbs).value_or(Fr::from_u64(limbs[0]));
}

// The same point with another z.
template <class Curve>
Jacobian<Curve> rescaled(const Jacobian<Curve>& p, const typename Curve::Field& z) {
  return {p.x * z.square(), p.y * (z.square() * z), p.z * z};
}
template <class Curve>
Xyzz<Curve> rescaled(const Affine<Curve>& p, const typename Curve::Field& z) {
  if (p.is_infinity()) return Xyzz<Curve>::infinity();
  const auto zz = z.square();
  return {p.x * zz, p.y * (zz * z), zz, zz * z};
}

// By doubling and adding, the slow way that cannot be wrong where + is right.
template <class Curve>
Jacobian<Curve> slow_mul(const Affine<Curve>& p, std::span<const uint64_t> scalar) {
  auto out = Jacobian<Curve>::infinity();
  for (size_t i = 64 * scalar.size(); i-- > 0;) {
    out = out.dbl();
    if (scalar[i / 64] >> (i % 64) & 1) out += p;
  }
  return out;
}

template <class Curve>
class CurveTest : public testing::Test {
 protected:
  static std::vector<std::vector<std::string>> lines(const std::string& kind) {
    return golden_lines(kPoints, {kind, Group<Curve>::kKey});
  }
  static Jacobian<Curve> times(uint64_t k) {
    return Jacobian<Curve>::from_affine(Curve::generator()).mul(Fr::from_u64(k));
  }
};
using Curves = testing::Types<G1Curve, G2Curve>;
TYPED_TEST_SUITE(CurveTest, Curves);

#define USING_TYPES                                 \
  using C = TypeParam;                              \
  using Field [[maybe_unused]] = typename C::Field; \
  using A [[maybe_unused]] = Affine<C>;             \
  using J [[maybe_unused]] = Jacobian<C>;           \
  using X [[maybe_unused]] = Xyzz<C>

TYPED_TEST(CurveTest, AdditionMatchesTheOracleInEveryForm) {
  USING_TYPES;
  const Field z = Field::from_u64(7), w = -Field::from_u64(11);
  for (const auto& line : this->lines("add")) {
    const A a = point_of<C>(line[0]), b = point_of<C>(line[1]), sum = point_of<C>(line[2]);
    const J ja = rescaled<C>(J::from_affine(a), z), jb = rescaled<C>(J::from_affine(b), w);
    EXPECT_EQ((ja + jb).to_affine(), sum);
    EXPECT_EQ((jb + ja).to_affine(), sum);
    EXPECT_EQ((ja + b).to_affine(), sum);
    EXPECT_EQ((jb + a).to_affine(), sum);
    EXPECT_EQ((J::from_affine(a) + b).to_affine(), sum);
    EXPECT_EQ((ja - -jb).to_affine(), sum);
    EXPECT_EQ((ja - -b).to_affine(), sum);
    X xa = rescaled<C>(a, z);
    const X xb = rescaled<C>(b, w);
    xa.add(xb);
    EXPECT_EQ(xa.to_affine(), sum);
    EXPECT_EQ(xa.to_jacobian().to_affine(), sum);
    xa = rescaled<C>(a, z);
    xa.add(b);
    EXPECT_EQ(xa.to_affine(), sum);
    xa.subtract(b);
    EXPECT_EQ(xa.to_affine(), a);
    xa.subtract(xb);
    EXPECT_EQ(xa.to_affine(), (ja - jb).to_affine());
    xa = X::from_affine(a);
    xa.add(b);
    EXPECT_EQ(xa.to_affine(), sum);
    const auto complete = [](const A& p) {
      return p.is_infinity() ? internal::Projective<C>::infinity() : internal::Projective<C>{p.x, p.y, Field::one()};
    };
    const auto p = complete(a) + complete(b);
    EXPECT_EQ((J{p.x * p.z, p.y * p.z.square(), p.z}.to_affine()), sum);
    EXPECT_FALSE(p.x.is_zero() && p.y.is_zero() && p.z.is_zero());
  }
}

TYPED_TEST(CurveTest, DoublingMatchesTheOracleAndAddition) {
  USING_TYPES;
  size_t checked = 0;
  for (const auto& line : this->lines("add")) {
    if (line[0] != line[1]) continue;
    const A a = point_of<C>(line[0]), twice = point_of<C>(line[2]);
    EXPECT_EQ(rescaled<C>(J::from_affine(a), Field::from_u64(5)).dbl().to_affine(), twice);
    EXPECT_EQ(rescaled<C>(a, Field::from_u64(5)).dbl().to_affine(), twice);
    EXPECT_EQ(X::dbl_affine(a).to_affine(), twice);
    ++checked;
  }
  EXPECT_GE(checked, 4u);
}

TYPED_TEST(CurveTest, MultiplicationMatchesTheOracle) {
  USING_TYPES;
  for (const auto& line : this->lines("mul")) {
    const A a = point_of<C>(line[0]), product = point_of<C>(line[2]);
    const Fr k = testing_support::fr_of(line[1]);
    EXPECT_EQ(J::from_affine(a).mul(k).to_affine(), product) << line[1];
    EXPECT_EQ(mul_secret(a, k).to_affine(), product) << line[1];
    EXPECT_EQ(mul_secret(rescaled<C>(J::from_affine(a), Field::from_u64(3)), k).to_affine(), product) << line[1];
  }
  for (const auto& line : this->lines("mul_wide")) {
    const A a = point_of<C>(line[0]), product = point_of<C>(line[2]);
    EXPECT_EQ(J::from_affine(a).mul(testing_support::limbs_of(line[1])).to_affine(), product) << line[1];
  }
}

TYPED_TEST(CurveTest, MultiplicationMatchesDoublingAndAdding) {
  USING_TYPES;
  std::mt19937_64 rng(1);
  const A g = C::generator();
  for (uint64_t k = 0; k < 300; ++k) {
    const uint64_t limbs[1] = {k};
    EXPECT_EQ(J::from_affine(g).mul(limbs), slow_mul<C>(g, limbs)) << k;
  }
  for (int i = 0; i < 30; ++i) {
    const Fr k = random_fr(rng);
    const Fr::Limbs plain = k.to_plain();
    const J expected = slow_mul<C>(g, plain);
    EXPECT_EQ(J::from_affine(g).mul(k), expected);
    EXPECT_EQ(mul_secret(g, k), expected);
  }
  // Carries of the signed digits run through to the very top.
  const std::vector<uint64_t> ones(16, ~uint64_t{0});
  EXPECT_EQ(J::from_affine(g).mul(ones), slow_mul<C>(g, ones));
  EXPECT_TRUE(J::from_affine(g).mul(std::span<const uint64_t>()).is_infinity());
  EXPECT_TRUE(J::infinity().mul(Fr::from_u64(3)).is_infinity());
  EXPECT_TRUE(mul_secret(A::infinity(), Fr::from_u64(3)).is_infinity());
  EXPECT_TRUE(mul_secret(J{}, Fr::from_u64(3)).is_infinity());
  EXPECT_TRUE(mul_secret(J::infinity(), Fr::from_u64(3)).is_infinity());
  EXPECT_TRUE(mul_secret(g, Fr::zero()).is_infinity());
  EXPECT_EQ(mul_secret(g, -Fr::one()).to_affine(), -g);
}

TYPED_TEST(CurveTest, GroupLawsHold) {
  USING_TYPES;
  const J a = this->times(1234567), b = this->times(7654321), c = this->times(99);
  EXPECT_EQ((a + b) + c, a + (b + c));
  EXPECT_EQ(a + b, b + a);
  EXPECT_EQ(a + b, this->times(1234567 + 7654321));
  EXPECT_EQ(a - a, J::infinity());
  EXPECT_EQ(a + J::infinity(), a);
  EXPECT_EQ(J{} + a, a);  // a zeroed object is infinity
  EXPECT_EQ(J{}.dbl(), J::infinity());
  EXPECT_EQ(X{}.dbl(), X::infinity());
  EXPECT_TRUE(J{}.to_affine().is_infinity());
  EXPECT_TRUE(X{}.to_affine().is_infinity());
  EXPECT_TRUE(X{}.to_jacobian().is_infinity());
  EXPECT_TRUE(J::from_affine(A::infinity()).is_infinity());
  EXPECT_TRUE(X::from_affine(A::infinity()).is_infinity());
  EXPECT_TRUE(X::dbl_affine(A::infinity()).is_infinity());
}

TYPED_TEST(CurveTest, EqualityIsOfPoints) {
  USING_TYPES;
  const J a = this->times(3);
  EXPECT_EQ(a, (rescaled<C>(a, Field::from_u64(9))));
  EXPECT_FALSE(a == -a);
  EXPECT_FALSE(a == this->times(4));
  EXPECT_FALSE(a == J::infinity());
  EXPECT_FALSE(J::infinity() == a);
  const A p = a.to_affine();
  EXPECT_EQ(rescaled<C>(p, Field::from_u64(9)), X::from_affine(p));
  EXPECT_FALSE(X::from_affine(p) == X::from_affine(-p));
  EXPECT_FALSE(X::from_affine(p) == X::infinity());
}

TYPED_TEST(CurveTest, AddingAPointToItselfInPlace) {
  USING_TYPES;
  const A g = C::generator();
  X x = rescaled<C>(g, Field::from_u64(3));
  x.add(x);
  EXPECT_EQ(x.to_jacobian(), this->times(2));
  x.subtract(x);
  EXPECT_TRUE(x.is_infinity());
  J j = this->times(5);
  j += j;
  EXPECT_EQ(j, this->times(10));
}

TYPED_TEST(CurveTest, BatchToAffine) {
  USING_TYPES;
  for (const size_t n : {0, 1, 2, 17}) {
    std::vector<J> points;
    std::vector<X> points_x;
    for (size_t i = 0; i < n; ++i) {
      points.push_back(i % 5 == 3 ? J::infinity() : this->times(3 * i + 1).dbl());
      points_x.push_back(rescaled<C>(points.back().to_affine(), Field::from_u64(i + 2)));
    }
    std::vector<A> out(n, C::generator()), out_x(n, C::generator());
    batch_to_affine<C>(std::span<const J>(points), std::span<A>(out));
    batch_to_affine<C>(std::span<const X>(points_x), std::span<A>(out_x));
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(out[i], points[i].to_affine()) << i;
      EXPECT_EQ(out_x[i], points[i].to_affine()) << i;
    }
  }
  const std::vector<J> infinite(3, J::infinity());
  std::vector<A> out(3, C::generator());
  batch_to_affine<C>(std::span<const J>(infinite), std::span<A>(out));
  for (const A& p : out) EXPECT_TRUE(p.is_infinity());
}

TYPED_TEST(CurveTest, OnCurve) {
  USING_TYPES;
  const A g = C::generator();
  EXPECT_TRUE(is_on_curve(g));
  EXPECT_TRUE(is_on_curve(-g));
  EXPECT_TRUE(is_on_curve(A::infinity()));
  EXPECT_FALSE(is_on_curve(A{g.x, g.y + Field::one()}));
  EXPECT_FALSE(is_on_curve(A{g.x + Field::one(), g.y}));
  EXPECT_FALSE(is_on_curve(A{Field::zero(), Field::one()}));
  EXPECT_FALSE(is_on_curve(A{Field::one(), Field::zero()}));
}

TYPED_TEST(CurveTest, SubgroupCheckMatchesTheOracleAndMultiplicationByR) {
  USING_TYPES;
  size_t inside = 0, outside = 0;
  for (const auto& line : this->lines("member")) {
    const A a = point_of<C>(line[0]);
    EXPECT_TRUE(is_on_curve(a));
    EXPECT_EQ(is_in_subgroup(a), line[1] == "1") << line[0];
    EXPECT_EQ(J::from_affine(a).mul(std::span<const uint64_t>(Fr::kModulus)).is_infinity(), line[1] == "1");
    ++(line[1] == "1" ? inside : outside);
  }
  EXPECT_GE(inside, 5u);
  EXPECT_GE(outside, 15u);
  for (uint64_t k = 1; k < 20; ++k) EXPECT_TRUE(is_in_subgroup(this->times(k * k * k).to_affine()));
}

TEST(Endomorphism, PhiIsMinusTheSquareOfTheParameter) {
  const uint64_t parameter[1] = {kCurveParameter};
  const auto g = G1Jacobian::from_affine(G1Curve::generator()).mul(Fr::from_u64(5));
  EXPECT_EQ(-g.mul(parameter).mul(parameter), G1Jacobian::from_affine(endomorphism_phi(g.to_affine())));
}

TEST(Endomorphism, PsiIsTheParameter) {
  const uint64_t parameter[1] = {kCurveParameter};
  const auto g = G2Jacobian::from_affine(G2Curve::generator()).mul(Fr::from_u64(5));
  EXPECT_EQ(-g.mul(parameter), G2Jacobian::from_affine(endomorphism_psi(g.to_affine())));
}

}  // namespace
}  // namespace cuzk
