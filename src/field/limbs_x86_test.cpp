// The assembly forms against the portable form and against schoolbook integers, on random and on edge inputs.
#include "field/limbs_x86.hpp"

#include <gtest/gtest.h>

#include "field/field_test_support.hpp"
#include "field/limbs_adx.hpp"

namespace cuzk {
namespace {

// x mod p, bit by bit; the only arithmetic here is shift, compare and subtract.
template <size_t N, size_t M>
std::array<uint64_t, N> schoolbook_mod(const std::array<uint64_t, M>& x, const std::array<uint64_t, N>& p) {
  std::array<uint64_t, N> rest{};
  for (size_t bit = 64 * M; bit-- > 0;) {
    for (size_t i = N; i-- > 1;) rest[i] = rest[i] << 1 | rest[i - 1] >> 63;
    rest[0] = rest[0] << 1 | (x[bit / 64] >> (bit % 64) & 1);
    if (!limbs::less(rest, p)) limbs::sub<N>(rest, rest, p);
  }
  return rest;
}

template <size_t N>
std::array<uint64_t, 2 * N> schoolbook_product(const std::array<uint64_t, N>& a, const std::array<uint64_t, N>& b) {
  std::array<uint64_t, 2 * N> out{};
  for (size_t i = 0; i < 2 * N; ++i) {  // 32-bit digits
    uint64_t carry = 0;
    const uint64_t x = a[i / 2] >> (32 * (i % 2)) & 0xffffffff;
    for (size_t j = 0; j < 2 * N || carry != 0; ++j) {
      const uint64_t y = j < 2 * N ? b[j / 2] >> (32 * (j % 2)) & 0xffffffff : 0;
      const size_t at = i + j;
      const uint64_t sum = (out[at / 2] >> (32 * (at % 2)) & 0xffffffff) + x * y + carry;
      out[at / 2] &= ~(uint64_t{0xffffffff} << (32 * (at % 2)));
      out[at / 2] |= (sum & 0xffffffff) << (32 * (at % 2));
      carry = sum >> 32;
    }
  }
  return out;
}

// x*2^(64N) mod p = expected mod p?
template <size_t N, size_t M>
bool is_montgomery_reduction(const std::array<uint64_t, N>& x, const std::array<uint64_t, M>& expected,
                             const std::array<uint64_t, N>& p) {
  std::array<uint64_t, 2 * N> shifted{};
  for (size_t i = 0; i < N; ++i) shifted[N + i] = x[i];
  return limbs::less(x, p) && schoolbook_mod<N>(shifted, p) == schoolbook_mod<N>(expected, p);
}

template <class F>
std::vector<typename F::Limbs> edge_values() {
  using L = typename F::Limbs;
  L zero{}, one{}, minus_one = F::kModulus, minus_two = F::kModulus, ones{}, low_ones{}, top = F::kModulus;
  one[0] = 1;
  limbs::sub<F::kLimbs>(minus_one, minus_one, one);
  limbs::sub<F::kLimbs>(minus_two, minus_one, one);
  for (size_t i = 0; i + 1 < F::kLimbs; ++i) ones[i] = ~uint64_t{0};
  low_ones[0] = ~uint64_t{0};
  for (size_t i = 0; i + 1 < F::kLimbs; ++i) top[i] = ~uint64_t{0};
  top[F::kLimbs - 1] -= 1;
  return {zero, one, minus_one, minus_two, ones, low_ones, top, F::kOne, F::kRSquared};
}

template <class F>
std::vector<typename F::Limbs> test_values(size_t random_count) {
  auto out = edge_values<F>();
  std::mt19937_64 rng(11);
  for (size_t i = 0; i < random_count; ++i) {
    auto limbs = field_test::random<F>(rng).montgomery();
    // Every fourth value gets runs of ones or zeros, where carries travel far.
    if (i % 4 == 1) limbs[i / 4 % (F::kLimbs - 1)] = ~uint64_t{0};
    if (i % 4 == 2) limbs[i / 4 % F::kLimbs] = 0;
    out.push_back(limbs);
  }
  return out;
}

template <class F>
class LimbsX86Test : public testing::Test {};
using Fields = testing::Types<Fr, Fp>;
TYPED_TEST_SUITE(LimbsX86Test, Fields);

TYPED_TEST(LimbsX86Test, PortableMatchesSchoolbook) {
  using F = TypeParam;
  const auto values = test_values<F>(20);
  for (const auto& a : values) {
    for (const auto& b : values) {
      const auto product = limbs::mont_mul_portable<F::kLimbs>(a, b, F::kModulus, F::kInverse);
      EXPECT_TRUE(is_montgomery_reduction(product, schoolbook_product<F::kLimbs>(a, b), F::kModulus));
    }
  }
}

#if CUZK_X86_ASM
TYPED_TEST(LimbsX86Test, AssemblyMatchesPortable) {
  using F = TypeParam;
  const auto values = test_values<F>(120);
  for (const auto& a : values) {
    for (const auto& b : values) {
      EXPECT_EQ(limbs::x86::add_mod(a, b), limbs::add_mod<F::kLimbs>(a, b, F::kModulus));
      EXPECT_EQ(limbs::x86::sub_mod(a, b), limbs::sub_mod<F::kLimbs>(a, b, F::kModulus));
      if (!cpu_features().adx) continue;
      const auto expected = limbs::mont_mul_portable<F::kLimbs>(a, b, F::kModulus, F::kInverse);
      typename F::Limbs product = a;
      limbs::adx::mont_mul(product, product, b);  // in place
      EXPECT_EQ(product, expected);
      limbs::adx::mont_mul(product, a, b);
      EXPECT_EQ(product, expected);
    }
    typename F::Limbs square = a;
    limbs::x86::mont_sqr(square, square);
    EXPECT_EQ(square, limbs::mont_mul_portable<F::kLimbs>(a, a, F::kModulus, F::kInverse));
  }
}

TYPED_TEST(LimbsX86Test, OperatorsAgreeWithAndWithoutAdx) {
  using F = TypeParam;
  std::mt19937_64 rng(12);
  for (int i = 0; i < 100; ++i) {
    const F a = field_test::random<F>(rng), b = field_test::random<F>(rng);
    const F product = a * b, square = a.square();
    const CpuFeatures before = restrict_cpu_features({});
    const F portable_product = a * b, portable_square = a.square();
    restrict_cpu_features(before);
    EXPECT_EQ(product, portable_product);
    EXPECT_EQ(square, portable_square);
  }
}

TEST(LimbsX86, Fp2AgreesWithAndWithoutAdxAndInPlace) {
  const auto values = test_values<Fp>(20);
  const size_t n = values.size();
  for (size_t i = 0; i < n * n; ++i) {
    const auto pick = [&](size_t at) { return Fp::from_montgomery(values[at % n]); };
    const Fp2 a{pick(i), pick(i / n)}, b{pick(7 * i + 3), pick(i * i + i / 5)};
    const Fp2 product = a * b, square = a.square();
    Fp2 in_place = a;
    in_place *= b;
    EXPECT_EQ(in_place, product);
    in_place = b;
    in_place = a * in_place;
    EXPECT_EQ(in_place, product);
    const CpuFeatures before = restrict_cpu_features({});
    EXPECT_EQ(product, a * b);
    EXPECT_EQ(square, a * a);
    EXPECT_EQ(square, a.square());
    restrict_cpu_features(before);
  }
}

TEST(LimbsAdx, WideProductsAndReductionMatchSchoolbook) {
  if (!cpu_features().adx) GTEST_SKIP() << "no ADX";
  auto values = test_values<Fp>(40);
  Fp::Limbs ones;
  ones.fill(~uint64_t{0});  // the wide products take any limbs
  values.push_back(ones);
  for (const auto& a : values) {
    for (const auto& b : values) {
      limbs::adx::Wide6 wide;
      limbs::adx::wide_mul(wide, a, b);
      ASSERT_EQ(wide, schoolbook_product<6>(a, b));
      if (a == ones || b == ones) continue;
      Fp::Limbs reduced;
      limbs::adx::mont_redc(reduced, wide);
      ASSERT_TRUE(is_montgomery_reduction(reduced, wide, Fp::kModulus));
    }
    limbs::adx::Wide6 square;
    limbs::adx::wide_sqr(square, a);
    ASSERT_EQ(square, schoolbook_product<6>(a, a));
  }
}

TEST(LimbsAdx, ReductionHoldsUpToItsBound) {
  if (!cpu_features().adx) GTEST_SKIP() << "no ADX";
  std::mt19937_64 rng(13);
  const auto highs = test_values<Fp>(40);
  Fp::Limbs largest = Fp::kModulus;
  largest[0] -= 3;
  for (const auto& value : highs) {
    const Fp::Limbs high = limbs::less(value, largest) ? value : largest;
    for (int fill = 0; fill < 3; ++fill) {
      limbs::adx::Wide6 wide;
      for (size_t i = 0; i < 6; ++i) {
        wide[i] = fill == 0 ? 0 : fill == 1 ? ~uint64_t{0} : rng();
        wide[6 + i] = high[i];
      }
      Fp::Limbs reduced;
      limbs::adx::mont_redc(reduced, wide);
      EXPECT_TRUE(is_montgomery_reduction(reduced, wide, Fp::kModulus));
    }
  }
}
#endif

}  // namespace
}  // namespace cuzk
