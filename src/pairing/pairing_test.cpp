#include "pairing/pairing.hpp"

#include <gtest/gtest.h>

#include "curve/check.hpp"
#include "curve/test_vectors.hpp"

namespace cuzk {
namespace {

using testing_support::fp_of;
using testing_support::golden_lines;
using testing_support::point_of;

const std::string kNoble = CUZK_GOLDEN_DIR "/pairing/noble_pairings.txt";  // tests/oracle/noble_vectors.mjs

Fp12 fp12_of(const std::vector<std::string>& fields, size_t at) {
  std::array<Fp, 12> c;
  for (size_t i = 0; i < 12; ++i) c[i] = fp_of(fields.at(at + i));
  const auto six = [&](size_t i) { return Fp6{{c[i], c[i + 1]}, {c[i + 2], c[i + 3]}, {c[i + 4], c[i + 5]}}; };
  return {six(0), six(6)};
}

G1Affine g1(const Fr& k) { return G1Jacobian::from_affine(G1Curve::generator()).mul(k).to_affine(); }
G2Affine g2(const Fr& k) { return G2Jacobian::from_affine(G2Curve::generator()).mul(k).to_affine(); }
G1Affine g1(uint64_t k) { return g1(Fr::from_u64(k)); }
G2Affine g2(uint64_t k) { return g2(Fr::from_u64(k)); }
Fp12 base() { return pairing(G1Curve::generator(), G2Curve::generator()); }
// By squaring and multiplying in Fp12, without anything of the cyclotomic subgroup.
Fp12 plain_pow(const Fp12& value, std::span<const uint64_t> exponent) {
  Fp12 out = Fp12::one();
  for (size_t i = 64 * exponent.size(); i-- > 0;) {
    out = out.square();
    if (exponent[i / 64] >> (i % 64) & 1) out *= value;
  }
  return out;
}
Fp12 plain_pow(const Fp12& value, const Fr& exponent) {
  const Fr::Limbs plain = exponent.to_plain();
  return plain_pow(value, plain);
}

TEST(Pairing, MatchesNoble) {
  const auto lines = golden_lines(kNoble, {"pairing"});
  EXPECT_GE(lines.size(), 12u);
  for (const auto& line : lines) {
    const Fp12 expected = fp12_of(line, 2);
    EXPECT_EQ(pairing(point_of<G1Curve>(line[0]), point_of<G2Curve>(line[1])), expected);
    EXPECT_FALSE(expected.is_one());
  }
}

TEST(Pairing, PowersMatchNoble) {
  for (const auto& line : golden_lines(kNoble, {"power"})) {
    const Fr k = testing_support::fr_of(line[0]);
    const Fp12 expected = fp12_of(line, 1);
    EXPECT_EQ(gt_pow(base(), testing_support::limbs_of(line[0])), expected);
    EXPECT_EQ(plain_pow(base(), k), expected);
    EXPECT_EQ(pairing(g1(k), G2Curve::generator()), expected);
    EXPECT_EQ(pairing(G1Curve::generator(), g2(k)), expected);
  }
}

TEST(Pairing, ProductsMatchNoble) {
  for (const auto& line : golden_lines(kNoble, {"product"})) {
    const size_t count = std::stoul(line[0]);
    std::vector<G1Affine> p;
    std::vector<G2Prepared> q;
    std::vector<const G2Prepared*> pointers;
    Fp12 one_by_one = Fp12::one();
    for (size_t i = 0; i < count; ++i) {
      p.push_back(point_of<G1Curve>(line[1 + 2 * i]));
      const auto point = point_of<G2Curve>(line[2 + 2 * i]);
      q.emplace_back(point);
      one_by_one *= pairing(p.back(), point);
    }
    for (const auto& prepared : q) pointers.push_back(&prepared);
    const Fp12 expected = fp12_of(line, 1 + 2 * count);
    EXPECT_EQ(final_exponentiation(miller_loop(p, q)), expected);
    EXPECT_EQ(one_by_one, expected);
    EXPECT_TRUE(pairing_product_is(p, q, expected));
    EXPECT_TRUE(pairing_product_is(p, pointers, expected));
    EXPECT_FALSE(pairing_product_is(p, q, expected * base()));
    EXPECT_FALSE(pairing_product_is(p, pointers, expected.conjugate()));
    p[count - 1] = -p[count - 1];
    EXPECT_FALSE(pairing_product_is(p, q, expected));
  }
}

TEST(Pairing, FinalExponentiationMatchesNoble) {
  for (const auto& line : golden_lines(kNoble, {"final"})) {
    EXPECT_EQ(final_exponentiation(fp12_of(line, 0)), fp12_of(line, 12));
  }
}

TEST(Pairing, FinalExponentiationLandsInTheSubgroupAndForgetsSmallFields) {
  const Fp12 f = fp12_of(golden_lines(kNoble, {"final"}).front(), 0);
  const Fp12 e = final_exponentiation(f);
  EXPECT_TRUE(plain_pow(e, Fr::kModulus).is_one());
  EXPECT_FALSE(e.is_one());
  // Elements of Fp6, and so factors of the lines from Fp2, go to 1.
  EXPECT_TRUE(final_exponentiation(Fp12{f.c0, Fp6::zero()}).is_one());
  EXPECT_EQ(final_exponentiation(f * Fp12{f.c1, Fp6::zero()}), e);
  EXPECT_TRUE(final_exponentiation(Fp12::one()).is_one());
  EXPECT_TRUE(final_exponentiation(Fp12::zero()).is_zero());
  EXPECT_EQ(final_exponentiation(f.square()), e.square());
}

TEST(Pairing, IsBilinearAndNotDegenerate) {
  const Fp12 e = base();
  EXPECT_FALSE(e.is_one());
  EXPECT_TRUE(plain_pow(e, Fr::kModulus).is_one());
  EXPECT_EQ(pairing(g1(6), g2(35)), plain_pow(e, Fr::from_u64(210)));
  EXPECT_EQ(pairing(g1(35), g2(6)), pairing(g1(6), g2(35)));
  EXPECT_EQ(pairing(g1(6), g2(5)) * pairing(g1(7), g2(5)), pairing(g1(13), g2(5)));
  EXPECT_EQ(pairing(g1(5), g2(6)) * pairing(g1(5), g2(7)), pairing(g1(5), g2(13)));
  EXPECT_EQ(pairing(-g1(5), g2(6)), pairing(g1(5), g2(6)).conjugate());
  EXPECT_EQ(pairing(-g1(5), g2(6)), pairing(g1(5), -g2(6)));
  EXPECT_EQ(pairing(-g1(5), g2(6)), pairing(g1(5), g2(6)).inverse());
}

TEST(Pairing, InfinityCountsAsOne) {
  EXPECT_TRUE(pairing(G1Affine::infinity(), G2Curve::generator()).is_one());
  EXPECT_TRUE(pairing(G1Curve::generator(), G2Affine::infinity()).is_one());
  EXPECT_TRUE(pairing(G1Affine::infinity(), G2Affine::infinity()).is_one());
  const std::vector<G1Affine> p = {G1Affine::infinity(), g1(3), g1(5)};
  std::vector<G2Prepared> q;
  q.emplace_back(g2(7));
  q.emplace_back(g2(11));
  q.emplace_back(G2Affine::infinity());
  EXPECT_TRUE(q[2].is_infinity());
  EXPECT_FALSE(q[0].is_infinity());
  EXPECT_TRUE(pairing_product_is(p, q, pairing(g1(3), g2(11))));
  EXPECT_TRUE(miller_loop(std::span<const G1Affine>(), std::span<const G2Prepared>()).is_one());
  EXPECT_TRUE(pairing_product_is(std::span<const G1Affine>(), std::span<const G2Prepared>(), Fp12::one()));
}

TEST(Pairing, ProductOfTwoThatCancel) {
  const std::vector<G1Affine> p = {g1(6), -g1(35)};
  std::vector<G2Prepared> q;
  q.emplace_back(g2(35));
  q.emplace_back(g2(6));
  EXPECT_TRUE(pairing_product_is(p, q, Fp12::one()));
  const std::vector<G1Affine> wrong = {g1(6), -g1(34)};
  EXPECT_FALSE(pairing_product_is(wrong, q, Fp12::one()));
}

TEST(Pairing, GtPow) {
  const Fp12 e = base();
  for (uint64_t k = 0; k < 40; ++k) {
    EXPECT_EQ(gt_pow(e, std::span<const uint64_t>(&k, 1)), plain_pow(e, Fr::from_u64(k))) << k;
  }
  const std::array<uint64_t, 3> wide = {0, 5, 0};
  EXPECT_EQ(gt_pow(e, wide), plain_pow(e, wide));
  EXPECT_TRUE(gt_pow(e, Fr::kModulus).is_one());
  EXPECT_TRUE(gt_pow(e, std::span<const uint64_t>()).is_one());
}

}  // namespace
}  // namespace cuzk
