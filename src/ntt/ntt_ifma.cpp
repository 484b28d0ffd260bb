// The passes with AVX-512 IFMA: eight columns or rows at a time, radix 2^52, five limbs.
//
// Bounds, in multiples of r (field/ifma_fr.hpp): twiddles are below 1.06. A ct butterfly multiplies v, so that the
// product t is below 2 while v is below 33, and makes u + t and u - t + 2: each of at most 16 stages adds 2 to the
// bound of loaded values (1) and nothing is ever reduced. A gs butterfly takes values below 2 and doubles the bound of
// u; sums are brought back below 2.
#include "field/ifma_fr.hpp"
#include "ntt/engine.hpp"

#if CUZK_X86_ASM

#define CUZK_NTT_TARGET CUZK_IFMA_TARGET
#include "ntt/passes.hpp"

namespace cuzk::ntt {
namespace {

using Lanes5 = ifma::FrLanes;
using Limbs5 = ifma::FrLimbs;
using ifma::kFrModulus;

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
    ifma::reduce_below_2r(x);
    ifma::reduce_once(x, kFrModulus);
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
  static Twiddle twiddle(const Fr& w) { return ifma::to_fr_limbs(w); }
  // Elements are stored times 2^256 and products divide by 2^260.
  static Fr factor() { return Fr::from_u64(16); }

  CUZK_IFMA_INLINE static IfmaLane mul(const IfmaLane& a, const IfmaLane& b) {
    return {ifma::mul<5>(a.v, b.v, kFrModulus)};
  }
  // Of products; below 2.
  CUZK_IFMA_INLINE static IfmaLane sub(const IfmaLane& a, const IfmaLane& b) {
    Lanes5 x = subtract(a.v, b.v);
    ifma::tidy(x);
    ifma::reduce_below_2r(x);
    return {x};
  }
  CUZK_IFMA_INLINE static void ct(IfmaLane& a, IfmaLane& b, const IfmaLane& w) {
    const Lanes5 t = ifma::mul<5>(b.v, w.v, kFrModulus);
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
    ifma::reduce_below_2r(a.v);
    b.v = ifma::mul<5>(t, w.v, kFrModulus);
  }

 private:
  CUZK_IFMA_INLINE static __m256i load_words(const Fr* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  // a - b + 2r, not tidy; b below 2.
  CUZK_IFMA_INLINE static Lanes5 subtract(const Lanes5& a, const Lanes5& b) {
    return ifma::add_limbs(ifma::sub_limbs(a, b), ifma::broadcast<5>(kTwoR));
  }
};

}  // namespace

std::unique_ptr<const Engine> make_ifma_engine(unsigned log2_size) {
  return std::make_unique<PassEngine<IfmaLane>>(log2_size);
}

}  // namespace cuzk::ntt

#endif  // CUZK_X86_ASM
