// The lanes against the scalar field, for Fp in eight limbs and Fr in five, on edge and random values, reduced or not.
#include "field/ifma_lanes.hpp"

#include <gtest/gtest.h>

#include "field/field_test_support.hpp"

#if CUZK_X86_ASM

namespace cuzk {
namespace {

template <class F>
constexpr size_t kLanesLimbs = F::kLimbs == 6 ? 8 : 5;
template <class F>
alignas(64) constexpr ifma::Modulus<kLanesLimbs<F>> kLanesModulus = ifma::make_modulus<kLanesLimbs<F>>(F::kModulus);

// Plain integers below 2p, two of each residue.
template <class F>
std::vector<typename F::Limbs> test_integers() {
  using L = typename F::Limbs;
  std::vector<L> out;
  const auto add_value = [&](const L& value) {
    out.push_back(value);
    L raised{};
    limbs::add<F::kLimbs>(raised, value, F::kModulus);
    out.push_back(raised);
  };
  L minus_one = F::kModulus, one{};
  one[0] = 1;
  limbs::sub<F::kLimbs>(minus_one, minus_one, one);
  for (const L& value : {L{}, one, minus_one}) add_value(value);
  for (size_t bit = 13; bit < 64 * F::kLimbs - 4; bit += 26) {
    L power{}, ones{};
    power[bit / 64] = uint64_t{1} << (bit % 64);
    limbs::sub<F::kLimbs>(ones, power, one);
    add_value(power);
    add_value(ones);
  }
  std::mt19937_64 rng(41);
  while (out.size() < 120) add_value(field_test::random<F>(rng).montgomery());
  return out;
}

// The residue of an integer below 2p.
template <class F>
F residue(const typename F::Limbs& integer) {
  return F::from_plain(limbs::reduce_once<F::kLimbs>(integer, 0, F::kModulus));
}

template <class F>
struct Eight {
  std::array<typename F::Limbs, 8> lane;
};

template <class F>
CUZK_IFMA_TARGET ifma::Lanes<kLanesLimbs<F>> load(const Eight<F>& x) {
  __m512i rows[8];
  for (size_t k = 0; k < 8; ++k) rows[k] = _mm512_maskz_loadu_epi64((1u << F::kLimbs) - 1, x.lane[k].data());
  ifma::transpose(rows);
  return ifma::from_words<kLanesLimbs<F>, F::kLimbs, 0>(rows);
}

template <class F>
CUZK_IFMA_TARGET Eight<F> stored(const ifma::Lanes<kLanesLimbs<F>>& x) {
  __m512i rows[8];
  for (auto& row : rows) row = _mm512_setzero_si512();
  ifma::to_words<kLanesLimbs<F>, F::kLimbs>(x, rows);
  ifma::transpose(rows);
  Eight<F> out;
  for (size_t k = 0; k < 8; ++k) _mm512_mask_storeu_epi64(out.lane[k].data(), (1u << F::kLimbs) - 1, rows[k]);
  return out;
}

template <class F>
class IfmaLanesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_features().avx512_ifma) GTEST_SKIP() << "no AVX-512 IFMA";
  }
};
using Fields = testing::Types<Fr, Fp>;
TYPED_TEST_SUITE(IfmaLanesTest, Fields);

template <class F>
CUZK_IFMA_TARGET void check(const Eight<F>& a, const Eight<F>& b) {
  constexpr size_t N = kLanesLimbs<F>;
  const auto& modulus = kLanesModulus<F>;
  const F scale = F::from_u64(2).pow(uint64_t{52} * N).inverse();
  const auto x = load<F>(a), y = load<F>(b);
  ASSERT_EQ(stored<F>(x).lane, a.lane);
  // Factors below 2p: the product is below (1 + 4p/R)*p < 2p, as reduce_once needs.
  auto product = ifma::mul<N>(x, y, modulus), square = ifma::sqr<N>(x, modulus);
  ifma::reduce_once<N>(product, modulus);
  ifma::reduce_once<N>(square, modulus);
  const auto products = stored<F>(product), squares = stored<F>(square);
  auto difference = ifma::sub_limbs<N>(ifma::add_limbs<N>(x, y), y);
  ifma::tidy<N>(difference);
  ASSERT_EQ(stored<F>(difference).lane, a.lane);
  const __mmask8 zero = ifma::zero_lanes<N>(product);
  for (size_t k = 0; k < 8; ++k) {
    const F u = residue<F>(a.lane[k]), v = residue<F>(b.lane[k]);
    ASSERT_EQ(products.lane[k], (u * v * scale).to_plain());
    ASSERT_EQ(squares.lane[k], (u * u * scale).to_plain());
    ASSERT_EQ(zero >> k & 1, u.is_zero() || v.is_zero());
  }
}

TYPED_TEST(IfmaLanesTest, MatchesScalar) {
  using F = TypeParam;
  const auto integers = test_integers<F>();
  const size_t n = integers.size();
  for (size_t first = 0; first < n; first += 8) {
    for (size_t shift = 0; shift < n; ++shift) {
      Eight<F> a, b;
      for (size_t k = 0; k < 8; ++k) {
        a.lane[k] = integers[(first + k) % n];
        b.lane[k] = integers[(first + k + shift) % n];
      }
      check<F>(a, b);
    }
  }
}

CUZK_IFMA_TARGET void check_shifted_words() {
  // 2^32 times a value, as msm/ and ntt/ bring R = 2^(64M) to R = 2^(52N).
  Eight<Fp> a;
  std::mt19937_64 rng(42);
  for (auto& lane : a.lane) lane = field_test::random<Fp>(rng).montgomery();
  __m512i rows[8];
  for (size_t k = 0; k < 8; ++k) rows[k] = _mm512_maskz_loadu_epi64(0x3f, a.lane[k].data());
  ifma::transpose(rows);
  const auto shifted = ifma::from_words<8, 6, 32>(rows);
  for (size_t k = 0; k < 8; ++k) {
    std::array<uint64_t, 7> words{};
    for (size_t i = 0; i < 6; ++i) {
      words[i] |= a.lane[k][i] << 32;
      words[i + 1] = a.lane[k][i] >> 32;
    }
    const auto expected = ifma::to_limbs52<8>(words);
    for (size_t i = 0; i < 8; ++i) {
      alignas(64) uint64_t lanes[8];
      _mm512_store_si512(lanes, shifted.l[i]);
      EXPECT_EQ(lanes[k], expected[i]);
    }
  }
}

TEST(IfmaLanes, ShiftedWords) {
  if (!cpu_features().avx512_ifma) GTEST_SKIP() << "no AVX-512 IFMA";
  check_shifted_words();
}

}  // namespace
}  // namespace cuzk

#endif  // CUZK_X86_ASM
