#include "field/fp_ifma.hpp"

#if CUZK_HAS_IFMA

#include "field/batch_inverse.hpp"

namespace cuzk {

using ifma::shift_left;
using ifma::shift_right;

// The long operations, and the constants that they share.
struct FpX8Kernels {
  // Limbs of p, and -p^-1 mod 2^52.
  static constexpr uint64_t kModulus[8] = {FpX8::modulus_limb(0, 1), FpX8::modulus_limb(1, 1), FpX8::modulus_limb(2, 1),
                                           FpX8::modulus_limb(3, 1), FpX8::modulus_limb(4, 1), FpX8::modulus_limb(5, 1),
                                           FpX8::modulus_limb(6, 1), FpX8::modulus_limb(7, 1)};
  static constexpr uint64_t kInverse = Fp::kInverse & FpX8::kMask;

  CUZK_TARGET_IFMA static __m512i modulus(int i) { return _mm512_set1_epi64(static_cast<long long>(kModulus[i])); }
  CUZK_TARGET_IFMA static __m512i mask52() { return _mm512_set1_epi64(static_cast<long long>(FpX8::kMask)); }

  // b*2^32 in eight limbs; b < 2^384.
  CUZK_TARGET_IFMA static inline __attribute__((always_inline)) void shift32(__m512i (&out)[8], const FpX8& b) {
    const __m512i mask = mask52();
    out[0] = _mm512_and_si512(shift_left(b.limbs[0], 32), mask);
    for (int i = 1; i < 8; ++i) {
      out[i] = _mm512_or_si512(_mm512_and_si512(shift_left(b.limbs[i], 32), mask), shift_right(b.limbs[i - 1], 20));
    }
  }

  // The 8x8 transpose of words: out[i] has word i of the eight rows.
  CUZK_TARGET_IFMA static inline __attribute__((always_inline)) void transpose(const __m512i (&rows)[8],
                                                                              __m512i (&out)[8]) {
    __m512i pair[8], quad[8];
    for (int i = 0; i < 8; i += 2) {  // pair[i + k]: words k, k+2, k+4, k+6 of rows i and i+1
      pair[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
      pair[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int half = 0; half < 8; half += 4) {  // quad[half + k]: words k and k+4 of four rows
      for (int k = 0; k < 2; ++k) {
        quad[half + k] = __builtin_shufflevector(pair[half + k], pair[half + 2 + k], 0, 1, 8, 9, 4, 5, 12, 13);
        quad[half + 2 + k] = __builtin_shufflevector(pair[half + k], pair[half + 2 + k], 2, 3, 10, 11, 6, 7, 14, 15);
      }
    }
    for (int k = 0; k < 4; ++k) {
      out[k] = __builtin_shufflevector(quad[k], quad[4 + k], 0, 1, 2, 3, 8, 9, 10, 11);
      out[4 + k] = __builtin_shufflevector(quad[k], quad[4 + k], 4, 5, 6, 7, 12, 13, 14, 15);
    }
  }

  // low >> right | high << left
  CUZK_TARGET_IFMA static inline __attribute__((always_inline)) __m512i join(const __m512i& low, int right,
                                                                            const __m512i& high, int left) {
    return _mm512_or_si512(shift_right(low, right), shift_left(high, left));
  }

  CUZK_TARGET_IFMA static inline __attribute__((always_inline)) FpX8 from_rows(const __m512i (&rows)[8]) {
    __m512i w[8];
    transpose(rows, w);
    const __m512i mask = mask52();
    FpX8 out;
    out.limbs[0] = _mm512_and_si512(w[0], mask);
    out.limbs[1] = _mm512_and_si512(join(w[0], 52, w[1], 12), mask);
    out.limbs[2] = _mm512_and_si512(join(w[1], 40, w[2], 24), mask);
    out.limbs[3] = _mm512_and_si512(join(w[2], 28, w[3], 36), mask);
    out.limbs[4] = _mm512_and_si512(join(w[3], 16, w[4], 48), mask);
    out.limbs[5] = _mm512_and_si512(shift_right(w[4], 4), mask);
    out.limbs[6] = _mm512_and_si512(join(w[4], 56, w[5], 8), mask);
    out.limbs[7] = shift_right(w[5], 44);
    return out;
  }

  // The inverse of from_rows; x is fully reduced.
  CUZK_TARGET_IFMA static inline __attribute__((always_inline)) void to_rows(const FpX8& x, __m512i (&rows)[8]) {
    const __m512i* l = x.limbs;
    __m512i w[8];
    w[0] = join(l[0], 0, l[1], 52);
    w[1] = join(l[1], 12, l[2], 40);
    w[2] = join(l[2], 24, l[3], 28);
    w[3] = join(l[3], 36, l[4], 16);
    w[4] = _mm512_or_si512(join(l[4], 48, l[5], 4), shift_left(l[6], 56));
    w[5] = join(l[6], 8, l[7], 44);
    w[6] = w[7] = _mm512_setzero_si512();
    transpose(w, rows);
  }
};

CUZK_TARGET_IFMA FpX8 FpX8::load(const Fp* from) {
  const Fp* const pointers[8] = {from, from + 1, from + 2, from + 3, from + 4, from + 5, from + 6, from + 7};
  return load(pointers);
}

CUZK_TARGET_IFMA FpX8 FpX8::load(const Fp* const (&from)[8]) {
  __m512i rows[8];
  for (int i = 0; i < 8; ++i) rows[i] = _mm512_maskz_loadu_epi64(0x3f, from[i]->montgomery().data());
  return FpX8Kernels::from_rows(rows);
}

CUZK_TARGET_IFMA FpX8 FpX8::broadcast(const Fp& value) {
  const Fp* const pointers[8] = {&value, &value, &value, &value, &value, &value, &value, &value};
  return load(pointers);
}

CUZK_TARGET_IFMA FpX8 FpX8::canonical() const {
  FpX8 reduced;
  for (int i = 0; i < 8; ++i) reduced.limbs[i] = _mm512_sub_epi64(limbs[i], FpX8Kernels::modulus(i));
  reduced.carry();
  return select(_mm512_movepi64_mask(reduced.limbs[7]), reduced, *this);
}

CUZK_TARGET_IFMA void FpX8::store(Fp* to) const {
  Fp* const pointers[8] = {to, to + 1, to + 2, to + 3, to + 4, to + 5, to + 6, to + 7};
  store(pointers);
}

CUZK_TARGET_IFMA void FpX8::store(Fp* const (&to)[8], __mmask8 mask) const {
  __m512i rows[8];
  FpX8Kernels::to_rows(canonical(), rows);
  for (int i = 0; i < 8; ++i) {
    if ((mask >> i & 1) == 0) continue;
    alignas(64) uint64_t words[8];
    _mm512_store_si512(words, rows[i]);
    *to[i] = Fp::from_montgomery({words[0], words[1], words[2], words[3], words[4], words[5]});
  }
}

CUZK_TARGET_IFMA __mmask8 FpX8::is_zero() const {
  __m512i any = limbs[0], other = _mm512_xor_si512(limbs[0], FpX8Kernels::modulus(0));
  for (int i = 1; i < 8; ++i) {
    any = _mm512_or_si512(any, limbs[i]);
    other = _mm512_or_si512(other, _mm512_xor_si512(limbs[i], FpX8Kernels::modulus(i)));
  }
  return static_cast<__mmask8>(_mm512_testn_epi64_mask(any, any) | _mm512_testn_epi64_mask(other, other));
}

// Montgomery multiplication by rows of 52-bit limbs, two products of low and two of high halves a column and row. Bounds:
// a column takes at most 32 halves and a carry, below 2^58. For a < 4p and b < 2p the result is below
// (a*b*2^32 + 2^416*p)/2^416 < (8*0.102 + 1)*p < 2p.
CUZK_TARGET_IFMA void FpX8::mul(FpX8& out, const FpX8& a, const FpX8& b) {
  __m512i shifted[8], t[8];
  FpX8Kernels::shift32(shifted, b);
  const __m512i zero = _mm512_setzero_si512();
  const __m512i mask = FpX8Kernels::mask52();
  const __m512i inverse = _mm512_set1_epi64(static_cast<long long>(FpX8Kernels::kInverse));
  for (auto& column : t) column = zero;
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) t[j] = _mm512_madd52lo_epu64(t[j], a.limbs[j], shifted[i]);
    const __m512i m = _mm512_madd52lo_epu64(zero, t[0], inverse);
    // t[0] + low half of m*p[0] is a multiple of 2^52: its carry needs no product.
    const __m512i carry = shift_right(_mm512_add_epi64(t[0], mask), 52);
    t[1] = _mm512_add_epi64(t[1], carry);
#pragma GCC unroll 8
    for (int j = 0; j < 7; ++j) {
      t[j] = _mm512_madd52hi_epu64(t[j + 1], a.limbs[j], shifted[i]);
      t[j] = _mm512_madd52lo_epu64(t[j], m, FpX8Kernels::modulus(j + 1));
      t[j] = _mm512_madd52hi_epu64(t[j], m, FpX8Kernels::modulus(j));
    }
    t[7] = _mm512_madd52hi_epu64(zero, a.limbs[7], shifted[i]);
    t[7] = _mm512_madd52hi_epu64(t[7], m, FpX8Kernels::modulus(7));
  }
  for (int j = 0; j < 8; ++j) out.limbs[j] = t[j];
  out.carry();
}

CUZK_TARGET_IFMA void FpX8::sqr(FpX8& out, const FpX8& a) { mul(out, a, a); }

CUZK_TARGET_IFMA FpX8 FpX8::inverse() const {
  Fp values[8], scratch[8];
  store(values);
  batch_inverse<Fp>(values, scratch);
  return load(values);
}

}  // namespace cuzk

#endif  // CUZK_HAS_IFMA
