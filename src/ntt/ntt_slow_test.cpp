// Sizes whose rows and columns leave the second-level cache.
#include <gtest/gtest.h>

#include <vector>

#include "ntt/ntt.hpp"
#include "ntt/quotient.hpp"

namespace cuzk {
namespace {

// A polynomial whose values are known at every point: (x^m - s^m)/(x - s) has coefficients s^(m-1-i).
void geometric(unsigned k, ntt::Arithmetic arithmetic) {
  const Domain domain(k, arithmetic);
  const size_t m = domain.size();
  const Fr s = Fr::from_u64(0x123456789abcdef).square(), seven = Fr::from_u64(7);
  std::vector<Fr> values(m);
  Fr power = Fr::one();
  for (size_t i = m; i-- > 0; power *= s) values[i] = power;
  const Fr s_m = s.pow(m);
  const std::vector<Fr> coefficients = values;
  domain.forward(values);
  Fr x = Fr::one();
  for (size_t j = 0; j < m; ++j, x *= domain.root()) ASSERT_EQ(values[j] * (x - s), Fr::one() - s_m) << j;
  domain.inverse(values);
  ASSERT_TRUE(values == coefficients);
  domain.coset_forward(values);
  x = seven;
  for (size_t j = 0; j < m; ++j, x *= domain.root()) {
    ASSERT_EQ(values[j] * (x - s), domain.z_on_coset() + Fr::one() - s_m) << j;
  }
  domain.coset_inverse(values);
  ASSERT_TRUE(values == coefficients);
}

TEST(NttSlow, KnownPolynomial) {
  for (const unsigned k : {18u, 19u, 20u, 21u, 22u, 23u}) geometric(k, ntt::Arithmetic::kFastest);
}
TEST(NttSlow, KnownPolynomialPortable) {
  for (const unsigned k : {19u, 20u}) geometric(k, ntt::Arithmetic::kPortable);
}

// h(x) * (x^m - 1) = a(x)*b(x) - c(x) at a point, for a satisfied system.
TEST(NttSlow, Quotient) {
  const Domain domain(20);
  const size_t m = domain.size();
  std::vector<Fr> a(m), b(m), c(m);
  const Fr step = Fr::from_u64(3).inverse();
  Fr v = step;
  for (size_t i = 0; i < m; ++i) {
    a[i] = v;
    v = v.square() + step;
    b[i] = v;
    v = v * step + a[i];
    c[i] = a[i] * b[i];
  }
  std::vector<Fr> pa = a, pb = b, pc = c;
  for (auto* p : {&pa, &pb, &pc}) domain.inverse(*p);
  compute_h(domain, a, b, c);
  auto at = [&](const std::vector<Fr>& p) {
    Fr out;
    for (size_t i = m; i-- > 0;) out = out * v + p[i];
    return out;
  };
  EXPECT_TRUE(a.back().is_zero());
  EXPECT_EQ(at(a) * (v.pow(m) - Fr::one()), at(pa) * at(pb) - at(pc));
}

}  // namespace
}  // namespace cuzk
