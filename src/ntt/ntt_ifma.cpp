// The passes with AVX-512 IFMA: eight columns or rows at a time, radix 2^52, five limbs.
//
// Bounds, in multiples of r (2^260 is 35.3 r): a product of values below a and b is below 1 + 0.0284*a*b. Twiddles are
// below 1.06. A ct butterfly multiplies v, so that the product t is below 2 while v is below 33, and makes u + t and
// u - t + 2: each of at most 16 stages adds 2 to the bound of loaded values (1) and nothing is ever reduced. A gs
// butterfly takes values below 2 and doubles the bound of u; sums are brought back below 2.
#include "field/ifma_lanes.hpp"
#include "ntt/engine.hpp"

#if CUZK_X86_ASM

#define CUZK_NTT_TARGET CUZK_IFMA_TARGET
#include "ntt/passes.hpp"

namespace cuzk::ntt {
namespace {

using Lanes5 = ifma::Lanes<5>;
using Limbs5 = ifma::Limbs52<5>;

alignas(64) constexpr ifma::Modulus<5> kR = ifma::make_modulus<5>(FrParams::kModulus);

constexpr Limbs5 two_r() {
  std::array<uint64_t, 5> out{};
  for (size_t i = 0; i < 4; ++i) {
    out[i] |= FrParams::kModulus[i] << 1;
    out[i + 1] = FrParams::kModulus[i] >> 63;
  }
  return ifma::to_limbs52<5>(out);
}
constexpr Limbs5 kTwoR = two_r();

struct IfmaLane {
  static constexpr size_t kLanes = 8;
  using Twiddle = Limbs5;
  Lanes5 v;

  CUZK_IFMA_INLINE static IfmaLane load(const Fr* base, const size_t* index) {
    __m512i r[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) {
      r[i] =
          _mm512_inserti64x4(_mm512_castsi256_si512(load_words(base + index[i])), load_words(base + index[i + 4]), 1);
    }
    // Words 0 and 2 (then 1 and 3) of neighbours side by side; then those of one word in order.
    const __m512i even01 = _mm512_unpacklo_epi64(r[0], r[1]), odd01 = _mm512_unpackhi_epi64(r[0], r[1]);
    const __m512i even23 = _mm512_unpacklo_epi64(r[2], r[3]), odd23 = _mm512_unpackhi_epi64(r[2], r[3]);
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    const __m512i w[4] = {_mm512_permutex2var_epi64(even01, low, even23), _mm512_permutex2var_epi64(odd01, low, odd23),
                          _mm512_permutex2var_epi64(even01, high, even23),
                          _mm512_permutex2var_epi64(odd01, high, odd23)};
    return {ifma::from_words<5, 4, 0>(w)};
  }

  CUZK_IFMA_INLINE void store(Fr* base, const size_t* index) const {
    Lanes5 x = v;
    reduce(x);
    ifma::reduce_once(x, kR);
    __m512i w[4];
    ifma::to_words<5, 4>(x, w);
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    const __m512i even01 = _mm512_permutex2var_epi64(w[0], low, w[2]),
                  even23 = _mm512_permutex2var_epi64(w[0], high, w[2]);
    const __m512i odd01 = _mm512_permutex2var_epi64(w[1], low, w[3]),
                  odd23 = _mm512_permutex2var_epi64(w[1], high, w[3]);
    const __m512i r[4] = {_mm512_unpacklo_epi64(even01, odd01), _mm512_unpackhi_epi64(even01, odd01),
                          _mm512_unpacklo_epi64(even23, odd23), _mm512_unpackhi_epi64(even23, odd23)};
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(base + index[i]), _mm512_castsi512_si256(r[i]));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(base + index[i + 4]), _mm512_extracti64x4_epi64(r[i], 1));
    }
  }

  CUZK_IFMA_INLINE static IfmaLane broadcast(const Twiddle& w) { return {ifma::broadcast<5>(w)}; }
  static Twiddle twiddle(const Fr& w) { return ifma::to_limbs52<5>((w * factor()).montgomery()); }
  // Elements are stored times 2^256 and products divide by 2^260.
  static Fr factor() { return Fr::from_u64(16); }

  CUZK_IFMA_INLINE static IfmaLane mul(const IfmaLane& a, const IfmaLane& b) { return {ifma::mul<5>(a.v, b.v, kR)}; }
  // Of products; below 2.
  CUZK_IFMA_INLINE static IfmaLane sub(const IfmaLane& a, const IfmaLane& b) {
    Lanes5 x = subtract(a.v, b.v);
    ifma::tidy(x);
    reduce(x);
    return {x};
  }
  CUZK_IFMA_INLINE static void ct(IfmaLane& a, IfmaLane& b, const IfmaLane& w) {
    const Lanes5 t = ifma::mul<5>(b.v, w.v, kR);
    b.v = subtract(a.v, t);
    a.v = ifma::add_limbs(a.v, t);
    ifma::tidy(a.v);
    ifma::tidy(b.v);
  }
  CUZK_IFMA_INLINE static void gs(IfmaLane& a, IfmaLane& b, const IfmaLane& w) {
    Lanes5 t = subtract(a.v, b.v);
    ifma::tidy(t);
    a.v = ifma::add_limbs(a.v, b.v);
    ifma::tidy(a.v);
    reduce(a.v);
    b.v = ifma::mul<5>(t, w.v, kR);
  }

 private:
  CUZK_IFMA_INLINE static __m256i load_words(const Fr* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  // a - b + 2r, not tidy; b below 2.
  CUZK_IFMA_INLINE static Lanes5 subtract(const Lanes5& a, const Lanes5& b) {
    return ifma::add_limbs(ifma::sub_limbs(a, b), ifma::broadcast<5>(kTwoR));
  }
  // Any tidy value to one below 2: the quotient by r, estimated from the top limb, is exact or one too small. (2^266/r
  // is 2261.26; what the constant, the lower limbs and both truncations lose is below one in all.)
  CUZK_IFMA_INLINE static void reduce(Lanes5& x) {
    constexpr int64_t kReciprocal = 2260;
    const __m512i zero = _mm512_setzero_si512();
    const __m512i q = _mm512_srli_epi64(_mm512_madd52hi_epu64(zero, x.l[4], _mm512_set1_epi64(kReciprocal)), 6);
#pragma GCC unroll 8
    for (size_t j = 0; j < 5; ++j) {
      x.l[j] = _mm512_sub_epi64(x.l[j], _mm512_madd52lo_epu64(zero, q, ifma::load512(kR.p[j].data())));
      if (j < 4) {
        x.l[j + 1] = _mm512_sub_epi64(x.l[j + 1], _mm512_madd52hi_epu64(zero, q, ifma::load512(kR.p[j].data())));
      }
    }
    ifma::tidy(x);
  }
};

}  // namespace

std::unique_ptr<const Engine> make_ifma_engine(unsigned log2_size) {
  return std::make_unique<PassEngine<IfmaLane>>(log2_size);
}

}  // namespace cuzk::ntt

#endif  // CUZK_X86_ASM
