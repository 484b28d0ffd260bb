// Every operation of FpX8 against the scalar field, on random and on edge elements in every lane.
#include "field/fp_ifma.hpp"

#include <gtest/gtest.h>

#include "field/field_test_support.hpp"

#if CUZK_HAS_IFMA

namespace cuzk {
namespace {

using Eight = std::array<Fp, 8>;

// Elements whose stored forms are at the edges of the limbs of either radix, and random ones.
std::vector<Fp> test_elements() {
  std::vector<Fp> out = {Fp::zero(), Fp::one(), -Fp::one(), Fp::from_u64(2)};
  Fp::Limbs minus_one = Fp::kModulus;
  minus_one[0] -= 1;
  out.push_back(Fp::from_montgomery(minus_one));
  for (size_t bit = 0; bit < 380; bit += 26) {
    Fp::Limbs power{}, ones{};
    power[bit / 64] = uint64_t{1} << (bit % 64);
    for (size_t i = 0; i < bit; ++i) ones[i / 64] |= uint64_t{1} << (i % 64);
    out.push_back(Fp::from_montgomery(power));
    out.push_back(Fp::from_montgomery(ones));
    out.push_back(-Fp::from_montgomery(ones));
  }
  std::mt19937_64 rng(31);
  while (out.size() < 160) out.push_back(field_test::random<Fp>(rng));
  return out;
}

class FpX8Test : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_features().avx512_ifma) GTEST_SKIP() << "no AVX-512 IFMA";
  }

  // Calls check(a, b) with eights in which every pair of test elements meets in some lane.
  template <class Check>
  void for_all_pairs(Check check) {
    const auto elements = test_elements();
    const size_t n = elements.size();
    for (size_t first = 0; first < n; first += 8) {
      for (size_t shift = 0; shift < n; ++shift) {
        Eight a, b;
        for (size_t k = 0; k < 8; ++k) {
          a[k] = elements[(first + k) % n];
          b[k] = elements[(first + k + shift) % n];
        }
        check(a, b);
      }
    }
  }
};

CUZK_TARGET_IFMA Eight stored(const FpX8& x) {
  Eight out;
  x.store(out.data());
  return out;
}

template <class F>
Eight map(const Eight& a, const Eight& b, F f) {
  Eight out;
  for (size_t k = 0; k < 8; ++k) out[k] = f(a[k], b[k]);
  return out;
}

CUZK_TARGET_IFMA void check_arithmetic(const Eight& a, const Eight& b) {
  const FpX8 x = FpX8::load(a.data()), y = FpX8::load(b.data());
  ASSERT_EQ(stored(x), a);
  ASSERT_EQ(stored(x * y), map(a, b, [](const Fp& p, const Fp& q) { return p * q; }));
  ASSERT_EQ(stored(x.square()), map(a, b, [](const Fp& p, const Fp&) { return p.square(); }));
  ASSERT_EQ(stored(x + y), map(a, b, [](const Fp& p, const Fp& q) { return p + q; }));
  ASSERT_EQ(stored(x - y), map(a, b, [](const Fp& p, const Fp& q) { return p - q; }));
  ASSERT_EQ(stored(-x), map(a, b, [](const Fp& p, const Fp&) { return -p; }));
  ASSERT_EQ(stored(x.dbl()), map(a, b, [](const Fp& p, const Fp&) { return p.dbl(); }));
}

// Values that are not fully reduced, as they come out of operations, and lazy factors.
CUZK_TARGET_IFMA void check_chains(const Eight& a, const Eight& b) {
  const FpX8 x = FpX8::load(a.data()), y = FpX8::load(b.data());
  ASSERT_EQ(stored(FpX8::add_lazy(x, y) * y), map(a, b, [](const Fp& p, const Fp& q) { return (p + q) * q; }));
  ASSERT_EQ(stored(x * FpX8::sub_lazy(x, y)), map(a, b, [](const Fp& p, const Fp& q) { return p * (p - q); }));
  FpX8 z = x;
  FpX8::mul(z, z, y);
  FpX8::sqr(z, z);
  for (int i = 0; i < 3; ++i) z = FpX8::sub_lazy(z + x, y) * (z - x) + FpX8::add_lazy(z, z) * z - y.dbl();
  ASSERT_EQ(stored(z), map(a, b, [](const Fp& p, const Fp& q) {
              Fp r = (p * q).square();
              for (int i = 0; i < 3; ++i) r = (r + p - q) * (r - p) + r.dbl() * r - q.dbl();
              return r;
            }));
}

CUZK_TARGET_IFMA void check_masks(const Eight& a, const Eight& b) {
  const FpX8 x = FpX8::load(a.data()), y = FpX8::load(b.data());
  const __mmask8 zero = x.is_zero(), equal = x.equals(y), zero_product = (x * y).is_zero();
  const __mmask8 zero_sum = (x + (-y)).is_zero();
  const Eight chosen = stored(FpX8::select(0b10100110, x, y));
  for (size_t k = 0; k < 8; ++k) {
    ASSERT_EQ(zero >> k & 1, a[k].is_zero());
    ASSERT_EQ(equal >> k & 1, a[k] == b[k]);
    ASSERT_EQ(zero_sum >> k & 1, a[k] == b[k]);
    ASSERT_EQ(zero_product >> k & 1, a[k].is_zero() || b[k].is_zero());
    ASSERT_EQ(chosen[k], (0b10100110 >> k & 1) ? b[k] : a[k]);
  }
}

TEST_F(FpX8Test, ArithmeticMatchesScalar) { for_all_pairs(check_arithmetic); }
TEST_F(FpX8Test, ChainsOfUnreducedValuesMatchScalar) { for_all_pairs(check_chains); }
TEST_F(FpX8Test, MasksAndSelection) { for_all_pairs(check_masks); }

CUZK_TARGET_IFMA void check_access(const std::vector<Fp>& elements) {
  const Fp* from[8];
  for (size_t k = 0; k < 8; ++k) from[k] = &elements[(k * 37 + 5) % elements.size()];
  const FpX8 x = FpX8::load(from);
  Eight expected;
  for (size_t k = 0; k < 8; ++k) expected[k] = *from[k];
  EXPECT_EQ(stored(x), expected);
  Eight out, before;
  out.fill(Fp::from_u64(9));
  before = out;
  Fp* to[8];
  for (size_t k = 0; k < 8; ++k) to[k] = &out[7 - k];
  x.store(to, 0b01010011);
  for (size_t k = 0; k < 8; ++k) EXPECT_EQ(out[7 - k], (0b01010011 >> k & 1) ? expected[k] : before[k]);
  EXPECT_EQ(stored(FpX8::broadcast(elements[40])), map(out, out, [&](const Fp&, const Fp&) { return elements[40]; }));
  EXPECT_EQ(stored(FpX8::zero()), Eight{});
  expected[3] = Fp::zero();
  const Eight inverses = stored(FpX8::load(expected.data()).inverse());
  for (size_t k = 0; k < 8; ++k) EXPECT_EQ(inverses[k], expected[k].inverse());
}

TEST_F(FpX8Test, LoadsStoresAndInverse) { check_access(test_elements()); }

}  // namespace
}  // namespace cuzk

#endif  // CUZK_HAS_IFMA
