// FpX8: eight elements of Fp at once with AVX-512 IFMA, for batched point arithmetic.
//
// Use it only where cpu_features().avx512_ifma. Functions that use it should be marked CUZK_TARGET_IFMA, so that the
// short operations are inlined into them; without the mark they are called.
//
// Form: lane k of limbs[0..7] holds element k in radix 2^52, every limb below 2^52, value below 2p and congruent to the
// stored (Montgomery, R = 2^384) form of Fp. Load and store change only the radix, not the domain: mul shifts one factor up
// by 32 bits, so that the eight reduction steps of 52 bits, 2^416 in all, divide by 2^384 net.
#pragma once

#include "field/cpu_features.hpp"

#if CUZK_X86_ASM && !defined(__CUDACC__)
#define CUZK_HAS_IFMA 1

#include <immintrin.h>

#include "field/fp.hpp"

#define CUZK_TARGET_IFMA __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma")))

namespace cuzk {
namespace ifma {
// Shifts by vector operators: GCC 12 warns of uninitialised values inside its own shift intrinsics.
typedef uint64_t Unsigned8 __attribute__((vector_size(64)));
typedef int64_t Signed8 __attribute__((vector_size(64)));
CUZK_TARGET_IFMA inline __m512i shift_right(const __m512i& x, int n) { return (__m512i)((Unsigned8)x >> n); }
CUZK_TARGET_IFMA inline __m512i shift_right_signed(const __m512i& x, int n) { return (__m512i)((Signed8)x >> n); }
CUZK_TARGET_IFMA inline __m512i shift_left(const __m512i& x, int n) { return (__m512i)((Unsigned8)x << n); }
}  // namespace ifma

struct alignas(64) FpX8 {
  __m512i limbs[8];

  // Eight consecutive elements; the elements that eight pointers point to; one element in all lanes.
  CUZK_TARGET_IFMA static FpX8 load(const Fp* from);
  CUZK_TARGET_IFMA static FpX8 load(const Fp* const (&from)[8]);
  CUZK_TARGET_IFMA static FpX8 broadcast(const Fp& value);
  CUZK_TARGET_IFMA static FpX8 zero() {
    FpX8 out;
    for (auto& limb : out.limbs) limb = _mm512_setzero_si512();
    return out;
  }

  // Fully reduced elements. The second form writes only the lanes in `mask`.
  CUZK_TARGET_IFMA void store(Fp* to) const;
  CUZK_TARGET_IFMA void store(Fp* const (&to)[8], __mmask8 mask = 0xff) const;

  // Lanes that are zero modulo p; lanes where this equals b modulo p.
  CUZK_TARGET_IFMA __mmask8 is_zero() const;
  CUZK_TARGET_IFMA __mmask8 equals(const FpX8& b) const { return sub(*this, b).is_zero(); }

  // a*b and a^2. One factor of mul may be below 4p (add_lazy, sub_lazy) where the other is below 2p. `out` may be a factor.
  CUZK_TARGET_IFMA static void mul(FpX8& out, const FpX8& a, const FpX8& b);
  CUZK_TARGET_IFMA static void sqr(FpX8& out, const FpX8& a);
  CUZK_TARGET_IFMA friend FpX8 operator*(const FpX8& a, const FpX8& b) {
    FpX8 out;
    mul(out, a, b);
    return out;
  }
  CUZK_TARGET_IFMA FpX8 square() const {
    FpX8 out;
    sqr(out, *this);
    return out;
  }
  CUZK_TARGET_IFMA friend FpX8 operator+(const FpX8& a, const FpX8& b) { return add(a, b); }
  CUZK_TARGET_IFMA friend FpX8 operator-(const FpX8& a, const FpX8& b) { return sub(a, b); }
  CUZK_TARGET_IFMA FpX8 operator-() const { return sub(zero(), *this); }
  CUZK_TARGET_IFMA FpX8 dbl() const { return add(*this, *this); }

  // a + b and a - b + 2p, below 4p: only as one factor of a multiplication.
  CUZK_TARGET_IFMA static FpX8 add_lazy(const FpX8& a, const FpX8& b) {
    FpX8 out;
    for (int i = 0; i < 8; ++i) out.limbs[i] = _mm512_add_epi64(a.limbs[i], b.limbs[i]);
    out.carry();
    return out;
  }
  CUZK_TARGET_IFMA static FpX8 sub_lazy(const FpX8& a, const FpX8& b) {
    FpX8 out;
    for (int i = 0; i < 8; ++i) {
      out.limbs[i] = _mm512_add_epi64(_mm512_sub_epi64(a.limbs[i], b.limbs[i]), twice_modulus(i));
    }
    out.carry();
    return out;
  }

  // Lane by lane: b where the bit of mask is set, a elsewhere.
  CUZK_TARGET_IFMA static FpX8 select(__mmask8 mask, const FpX8& a, const FpX8& b) {
    FpX8 out;
    for (int i = 0; i < 8; ++i) out.limbs[i] = _mm512_mask_blend_epi64(mask, a.limbs[i], b.limbs[i]);
    return out;
  }

  // 1/x lane by lane, zero for zero: one inversion and 21 multiplications in Fp. Not constant time.
  CUZK_TARGET_IFMA FpX8 inverse() const;

 private:
  static constexpr uint64_t kMask = (uint64_t{1} << 52) - 1;
  // Limb i of factor*p in radix 2^52.
  static constexpr uint64_t modulus_limb(int i, unsigned factor) {
    const size_t bit = 52 * static_cast<size_t>(i);
    uint64_t limb = 0;
    Fp::Limbs multiple{};
    for (unsigned k = 0; k < factor; ++k) limbs::add<6>(multiple, multiple, Fp::kModulus);
    limb = multiple[bit / 64] >> (bit % 64);
    if (bit % 64 > 12 && bit / 64 + 1 < 6) limb |= multiple[bit / 64 + 1] << (64 - bit % 64);
    return limb & kMask;
  }
  CUZK_TARGET_IFMA static __m512i twice_modulus(int i) {
    static constexpr uint64_t kTwice[8] = {modulus_limb(0, 2), modulus_limb(1, 2), modulus_limb(2, 2), modulus_limb(3, 2),
                                           modulus_limb(4, 2), modulus_limb(5, 2), modulus_limb(6, 2), modulus_limb(7, 2)};
    return _mm512_set1_epi64(static_cast<long long>(kTwice[i]));
  }
  // Brings limbs 0..6 into [0, 2^52); signed limbs are allowed, and the sign stays in limb 7.
  CUZK_TARGET_IFMA void carry() {
    const __m512i mask = _mm512_set1_epi64(static_cast<long long>(kMask));
    for (int i = 0; i < 7; ++i) {
      limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], ifma::shift_right_signed(limbs[i], 52));
      limbs[i] = _mm512_and_si512(limbs[i], mask);
    }
  }
  // x where that is not negative, else x + 2p.
  CUZK_TARGET_IFMA static FpX8 non_negative(FpX8& x) {
    FpX8 raised;
    for (int i = 0; i < 8; ++i) raised.limbs[i] = _mm512_add_epi64(x.limbs[i], twice_modulus(i));
    x.carry();
    raised.carry();
    return select(_mm512_movepi64_mask(x.limbs[7]), x, raised);
  }
  CUZK_TARGET_IFMA static FpX8 add(const FpX8& a, const FpX8& b) {
    FpX8 out;
    for (int i = 0; i < 8; ++i) {
      out.limbs[i] = _mm512_sub_epi64(_mm512_add_epi64(a.limbs[i], b.limbs[i]), twice_modulus(i));
    }
    return non_negative(out);
  }
  CUZK_TARGET_IFMA static FpX8 sub(const FpX8& a, const FpX8& b) {
    FpX8 out;
    for (int i = 0; i < 8; ++i) out.limbs[i] = _mm512_sub_epi64(a.limbs[i], b.limbs[i]);
    return non_negative(out);
  }
  CUZK_TARGET_IFMA FpX8 canonical() const;

  friend struct FpX8Kernels;
};

}  // namespace cuzk

#else
#define CUZK_HAS_IFMA 0
#endif
