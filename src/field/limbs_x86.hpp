// Montgomery arithmetic modulo r (4 limbs) and p (6 limbs) of BLS12-381 for x86-64, in inline assembly.
//
// Additions and subtractions need the baseline only; GCC 12 turns neither unsigned __int128 nor _addcarry_u64 into
// clean carry chains. Multiplications need BMI2 (MULX, which leaves the flags alone) and ADX (ADCX, ADOX: two carry
// chains at once); callers check cpu_features().adx. Source for the two chains: Ozturk, Guilford, Gopal, Feghali, "New
// instructions supporting large integer arithmetic on Intel architecture processors" (2012).
//
// The moduli are read by their symbols, relative to the instruction pointer, so that no block needs more than twelve
// registers and unoptimised and sanitizer builds compile too.
#pragma once

#include "field/cpu_features.hpp"

#if CUZK_X86_ASM

#include <array>
#include <cstdint>

extern "C" {
// The modulus m; k = -m^-1 mod 2^64; (k*m + 1)/2^64 (limbs_adx.hpp).
extern __attribute__((visibility("hidden"))) const std::array<uint64_t, 9> cuzk_field_r;
extern __attribute__((visibility("hidden"))) const std::array<uint64_t, 13> cuzk_field_p;
}

namespace cuzk::limbs::x86 {

// t[0..5] minus p where that is not negative.
#define CUZK_REDUCE_ONCE_6                                                                         \
  "movq %[t0],%[c0]\n movq %[t1],%[c1]\n movq %[t2],%[c2]\n movq %[t3],%[c3]\n movq %[t4],%[c4]\n" \
  "movq %[t5],%[c5]\n subq cuzk_field_p(%%rip),%[c0]\n sbbq cuzk_field_p+8(%%rip),%[c1]\n"         \
  "sbbq cuzk_field_p+16(%%rip),%[c2]\n sbbq cuzk_field_p+24(%%rip),%[c3]\n"                        \
  "sbbq cuzk_field_p+32(%%rip),%[c4]\n sbbq cuzk_field_p+40(%%rip),%[c5]\n"                        \
  "cmovncq %[c0],%[t0]\n cmovncq %[c1],%[t1]\n cmovncq %[c2],%[t2]\n cmovncq %[c3],%[t3]\n"        \
  "cmovncq %[c4],%[t4]\n cmovncq %[c5],%[t5]\n"
#define CUZK_REDUCE_ONCE_4                                                      \
  "movq %[t0],%[c0]\n movq %[t1],%[c1]\n movq %[t2],%[c2]\n movq %[t3],%[c3]\n" \
  "subq cuzk_field_r(%%rip),%[c0]\n sbbq cuzk_field_r+8(%%rip),%[c1]\n"         \
  "sbbq cuzk_field_r+16(%%rip),%[c2]\n sbbq cuzk_field_r+24(%%rip),%[c3]\n"     \
  "cmovncq %[c0],%[t0]\n cmovncq %[c1],%[t1]\n cmovncq %[c2],%[t2]\n cmovncq %[c3],%[t3]\n"

#define CUZK_T6 [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5)
#define CUZK_C6 [c0] "=&r"(c0), [c1] "=&r"(c1), [c2] "=&r"(c2), [c3] "=&r"(c3), [c4] "=&r"(c4), [c5] "=&r"(c5)
#define CUZK_T4 [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3)
#define CUZK_C4 [c0] "=&r"(c0), [c1] "=&r"(c1), [c2] "=&r"(c2), [c3] "=&r"(c3)

using Limbs4 = std::array<uint64_t, 4>;
using Limbs6 = std::array<uint64_t, 6>;

inline Limbs6 reduce_once(uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3, uint64_t t4, uint64_t t5) {
  uint64_t c0, c1, c2, c3, c4, c5;
  __asm__(CUZK_REDUCE_ONCE_6 : CUZK_T6, CUZK_C6 : : "cc");
  return {t0, t1, t2, t3, t4, t5};
}

inline Limbs4 reduce_once(uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3) {
  uint64_t c0, c1, c2, c3;
  __asm__(CUZK_REDUCE_ONCE_4 : CUZK_T4, CUZK_C4 : : "cc");
  return {t0, t1, t2, t3};
}

// a + b mod p.
inline Limbs6 add_mod(const Limbs6& a, const Limbs6& b) {
  uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
  __asm__(
      "addq (%[b]),%[t0]\n adcq 8(%[b]),%[t1]\n adcq 16(%[b]),%[t2]\n adcq 24(%[b]),%[t3]\n adcq 32(%[b]),%[t4]\n"
      "adcq 40(%[b]),%[t5]\n"
      : CUZK_T6
      : [b] "r"(b.data()), "m"(b)
      : "cc");
  return reduce_once(t0, t1, t2, t3, t4, t5);
}

inline Limbs4 add_mod(const Limbs4& a, const Limbs4& b) {
  uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
  uint64_t c0, c1, c2, c3;
  __asm__("addq (%[b]),%[t0]\n adcq 8(%[b]),%[t1]\n adcq 16(%[b]),%[t2]\n adcq 24(%[b]),%[t3]\n" CUZK_REDUCE_ONCE_4
          : CUZK_T4, CUZK_C4
          : [b] "r"(b.data()), "m"(b)
          : "cc");
  return {t0, t1, t2, t3};
}

inline Limbs6 dbl_mod(const Limbs6& a) {
  uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
  __asm__(
      "addq %[t0],%[t0]\n adcq %[t1],%[t1]\n adcq %[t2],%[t2]\n adcq %[t3],%[t3]\n adcq %[t4],%[t4]\n"
      "adcq %[t5],%[t5]\n"
      : CUZK_T6
      :
      : "cc");
  return reduce_once(t0, t1, t2, t3, t4, t5);
}

// a - b mod p: the modulus is added under a mask where the subtraction borrows.
inline Limbs6 sub_mod(const Limbs6& a, const Limbs6& b) {
  uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
  uint64_t mask;
  __asm__(
      "subq (%[b]),%[t0]\n sbbq 8(%[b]),%[t1]\n sbbq 16(%[b]),%[t2]\n sbbq 24(%[b]),%[t3]\n sbbq 32(%[b]),%[t4]\n"
      "sbbq 40(%[b]),%[t5]\n sbbq %[m],%[m]\n"
      : CUZK_T6, [m] "=r"(mask)
      : [b] "r"(b.data()), "m"(b)
      : "cc");
  uint64_t c0 = mask, c1, c2, c3, c4, c5;
  __asm__(
      "movq %[c0],%[c1]\n movq %[c0],%[c2]\n movq %[c0],%[c3]\n movq %[c0],%[c4]\n movq %[c0],%[c5]\n"
      "andq cuzk_field_p(%%rip),%[c0]\n andq cuzk_field_p+8(%%rip),%[c1]\n andq cuzk_field_p+16(%%rip),%[c2]\n"
      "andq cuzk_field_p+24(%%rip),%[c3]\n andq cuzk_field_p+32(%%rip),%[c4]\n andq cuzk_field_p+40(%%rip),%[c5]\n"
      "addq %[c0],%[t0]\n adcq %[c1],%[t1]\n adcq %[c2],%[t2]\n adcq %[c3],%[t3]\n adcq %[c4],%[t4]\n"
      "adcq %[c5],%[t5]\n"
      : CUZK_T6, [c0] "+&r"(c0), [c1] "=&r"(c1), [c2] "=&r"(c2), [c3] "=&r"(c3), [c4] "=&r"(c4), [c5] "=&r"(c5)
      :
      : "cc");
  return {t0, t1, t2, t3, t4, t5};
}

inline Limbs4 sub_mod(const Limbs4& a, const Limbs4& b) {
  uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
  uint64_t c0, c1, c2, c3;
  __asm__(
      "subq (%[b]),%[t0]\n sbbq 8(%[b]),%[t1]\n sbbq 16(%[b]),%[t2]\n sbbq 24(%[b]),%[t3]\n sbbq %[c0],%[c0]\n"
      "movq %[c0],%[c1]\n movq %[c0],%[c2]\n movq %[c0],%[c3]\n"
      "andq cuzk_field_r(%%rip),%[c0]\n andq cuzk_field_r+8(%%rip),%[c1]\n andq cuzk_field_r+16(%%rip),%[c2]\n"
      "andq cuzk_field_r+24(%%rip),%[c3]\n"
      "addq %[c0],%[t0]\n adcq %[c1],%[t1]\n adcq %[c2],%[t2]\n adcq %[c3],%[t3]\n"
      : CUZK_T4, CUZK_C4
      : [b] "r"(b.data()), "m"(b)
      : "cc");
  return {t0, t1, t2, t3};
}

// Multiplications, out of line: at 60 to 90 cycles each a call costs nothing that can be measured, and the code stays
// small. They take the ADX form where the processor has it, the portable form elsewhere. `out` may be an operand.

// a*b/2^256 mod r and a*b/2^384 mod p for a, b below the modulus.
__attribute__((visibility("hidden"))) void mont_mul(Limbs4& out, const Limbs4& a, const Limbs4& b);
__attribute__((visibility("hidden"))) void mont_mul(Limbs6& out, const Limbs6& a, const Limbs6& b);
__attribute__((visibility("hidden"))) void mont_sqr(Limbs4& out, const Limbs4& a);
__attribute__((visibility("hidden"))) void mont_sqr(Limbs6& out, const Limbs6& a);
// (a0 + a1*u)(b0 + b1*u) and (a0 + a1*u)^2 in Fp2. a1 must lie directly behind a0 in memory, as in struct Fp2.
__attribute__((visibility("hidden"))) void fp2_mul(Limbs6& out0, Limbs6& out1, const Limbs6& a0, const Limbs6& a1,
                                                   const Limbs6& b0, const Limbs6& b1);
__attribute__((visibility("hidden"))) void fp2_sqr(Limbs6& out0, Limbs6& out1, const Limbs6& a0, const Limbs6& a1);

}  // namespace cuzk::limbs::x86

#endif  // CUZK_X86_ASM
