// The scalar field eight residues at a time: five limbs of 52 bits, so that 2^260 is 35.3 r and bounds can be kept in
// multiples of r: a product of values below a and b is below 1 + 0.0284*a*b. See field/ifma_lanes.hpp for what
// including sources must check.
#pragma once

#include "field/fr.hpp"
#include "field/ifma_lanes.hpp"

#if CUZK_X86_ASM

namespace cuzk::ifma {

using FrLanes = Lanes<5>;
using FrLimbs = Limbs52<5>;

alignas(64) inline constexpr Modulus<5> kFrModulus = make_modulus<5>(FrParams::kModulus);

// The number that Fr stores times 2^256 as this form stores it, times 2^260; fully reduced. For constants.
inline FrLimbs to_fr_limbs(const Fr& x) { return to_limbs52<5>((x * Fr::from_u64(16)).montgomery()); }

// Any tidy value to one below 2: the quotient by r, estimated from the top limb, is exact or one too small. (2^266/r
// is 2261.26; what the constant, the lower limbs and both truncations lose is below one in all.)
CUZK_IFMA_INLINE void reduce_below_2r(FrLanes& x) {
  constexpr int64_t kReciprocal = 2260;
  const __m512i zero = _mm512_setzero_si512();
  const __m512i q = _mm512_srli_epi64(_mm512_madd52hi_epu64(zero, x.l[4], _mm512_set1_epi64(kReciprocal)), 6);
#pragma GCC unroll 8
  for (size_t j = 0; j < 5; ++j) {
    x.l[j] = _mm512_sub_epi64(x.l[j], _mm512_madd52lo_epu64(zero, q, load512(kFrModulus.p[j].data())));
    if (j < 4) {
      x.l[j + 1] = _mm512_sub_epi64(x.l[j + 1], _mm512_madd52hi_epu64(zero, q, load512(kFrModulus.p[j].data())));
    }
  }
  tidy(x);
}

}  // namespace cuzk::ifma

#endif  // CUZK_X86_ASM
