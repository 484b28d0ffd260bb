// Multiplication, squaring and Montgomery reduction by MULX, ADCX and ADOX. Included by limbs_x86.cpp, tests and
// benches.
//
// MULX leaves the flags alone and ADCX and ADOX carry through different flags, so that the low and the high halves of a
// row's products go up two chains at once (Ozturk, Guilford, Gopal, Feghali, "New instructions supporting large
// integer arithmetic on Intel architecture processors", 2012). Callers check cpu_features().adx.
//
// Reduction. With k = -p^-1 mod 2^64 the multiple k*p is -1 mod 2^64, so t + t0*k*p is divisible by 2^64 for t0 = t mod
// 2^64: (t + t0*k*p)/2^64 = floor(t/2^64) + t0*Q with Q = (k*p + 1)/2^64. This step needs no multiplication by k, which
// leaves MULX and two additions in the chain from one limb to the next, instead of IMUL, MULX and two (the idea of
// scaling the modulus: Hars, "Long modular multiplication for cryptographic applications", 2004). It leaves a value up
// to k*p, one limb longer, so that the last step (in places the last two) is the ordinary one with m = t0*k.
//
// mont_mul modulo p: k < 0.54*2^64, p < 0.102*2^384; values stay below (1 + 0.54)*2^64*p < 2^448 and the last step ends
// below (0.54 + 0.102 + 1)*p < 2p. Modulo r: k < 2^64, r < 0.453*2^256; values stay below 2*2^64*r < 2^320, then 3r
// after the third step, and the fourth ends below (0.001 + 0.453 + 1)*r < 2r. mont_redc has its bound beside it.
#pragma once

#include "field/limbs_x86.hpp"

#if CUZK_X86_ASM

namespace cuzk::limbs::adx {

using x86::Limbs4;
using x86::Limbs6;
using Wide6 = std::array<uint64_t, 12>;

// Operands in memory are named by a "memory" clobber: an "m" operand beside the pointer would take one more register in
// unoptimised builds, where these blocks already need all there are.

// Rows of instructions, as they belong together.
// clang-format off

// (low, high) += rdx * source, low through CF and high through OF.
#define CUZK_MULADD(source, low, high) \
  "mulxq " source ",%[l],%[h]\n adcxq %[l],%[" low "]\n adoxq %[h],%[" high "]\n"
// The last product of a row: its high half starts the limb `top`.
#define CUZK_MULADD_TOP(source, low, top)                                                              \
  "mulxq " source ",%[l],%[" top "]\n adcxq %[l],%[" low "]\n movl $0,%k[l]\n adoxq %[l],%[" top "]\n" \
  "adcxq %[l],%[" top "]\n"
#define CUZK_CLEAR_FLAGS "xorl %k[l],%k[l]\n"

// (r6..r0) += b[i]*a, which does not overflow.
#define CUZK_ROW_6(i, r0, r1, r2, r3, r4, r5, r6)                                                             \
  "movq 8*" #i "(%[b]),%%rdx\n" CUZK_CLEAR_FLAGS CUZK_MULADD("(%[a])", r0, r1) CUZK_MULADD("8(%[a])", r1, r2) \
      CUZK_MULADD("16(%[a])", r2, r3) CUZK_MULADD("24(%[a])", r3, r4) CUZK_MULADD("32(%[a])", r4, r5)         \
          CUZK_MULADD("40(%[a])", r5, r6) "movl $0,%k[l]\n adcxq %[l],%[" r6 "]\n"
// The same with y[i] and the limbs 6..11 of a.
#define CUZK_SECOND_ROW_6(i, r0, r1, r2, r3, r4, r5, r6)                                                          \
  "movq 8*" #i "(%[y]),%%rdx\n" CUZK_CLEAR_FLAGS CUZK_MULADD("48(%[a])", r0, r1) CUZK_MULADD("56(%[a])", r1, r2)  \
      CUZK_MULADD("64(%[a])", r2, r3) CUZK_MULADD("72(%[a])", r3, r4) CUZK_MULADD("80(%[a])", r4, r5)             \
          CUZK_MULADD("88(%[a])", r5, r6) "movl $0,%k[l]\n adcxq %[l],%[" r6 "]\n"
// (r6, r5..r0) = (r5..r0) + b[i]*a
#define CUZK_ROW_TOP_6(i, r0, r1, r2, r3, r4, r5, r6)                                                         \
  "movq 8*" #i "(%[b]),%%rdx\n" CUZK_CLEAR_FLAGS CUZK_MULADD("(%[a])", r0, r1) CUZK_MULADD("8(%[a])", r1, r2) \
      CUZK_MULADD("16(%[a])", r2, r3) CUZK_MULADD("24(%[a])", r3, r4) CUZK_MULADD("32(%[a])", r4, r5)         \
          CUZK_MULADD_TOP("40(%[a])", r5, r6)
// (r6..r0) = b[0]*a
#define CUZK_FIRST_ROW_6(r0, r1, r2, r3, r4, r5, r6)                                                   \
  "movq (%[b]),%%rdx\n mulxq (%[a]),%[" r0 "],%[" r1 "]\n mulxq 8(%[a]),%[l],%[" r2 "]\n"              \
  "addq %[l],%[" r1 "]\n mulxq 16(%[a]),%[l],%[" r3 "]\n adcq %[l],%[" r2 "]\n"                        \
  "mulxq 24(%[a]),%[l],%[" r4 "]\n adcq %[l],%[" r3 "]\n mulxq 32(%[a]),%[l],%[" r5 "]\n"              \
  "adcq %[l],%[" r4 "]\n mulxq 40(%[a]),%[l],%[" r6 "]\n adcq %[l],%[" r5 "]\n adcq $0,%[" r6 "]\n"
// (r0, r6..r1) = (r6..r1) + r0*Q: the step that divides by 2^64 without k.
#define CUZK_SCALED_STEP_6(r0, r1, r2, r3, r4, r5, r6)                                        \
  "movq %[" r0 "],%%rdx\n" CUZK_CLEAR_FLAGS CUZK_MULADD("cuzk_field_p+56(%%rip)", r1, r2)     \
      CUZK_MULADD("cuzk_field_p+64(%%rip)", r2, r3) CUZK_MULADD("cuzk_field_p+72(%%rip)", r3, r4) \
          CUZK_MULADD("cuzk_field_p+80(%%rip)", r4, r5) CUZK_MULADD("cuzk_field_p+88(%%rip)", r5, r6) \
              CUZK_MULADD_TOP("cuzk_field_p+96(%%rip)", r6, r0)
// (r6..r1, r0) += m*p with the m that makes r0 zero; r6 does not overflow.
#define CUZK_REDUCE_6(r0, r1, r2, r3, r4, r5, r6)                                                               \
  "movq cuzk_field_p+48(%%rip),%%rdx\n imulq %[" r0 "],%%rdx\n" CUZK_CLEAR_FLAGS                                \
  CUZK_MULADD("cuzk_field_p(%%rip)", r0, r1) CUZK_MULADD("cuzk_field_p+8(%%rip)", r1, r2)                       \
  CUZK_MULADD("cuzk_field_p+16(%%rip)", r2, r3) CUZK_MULADD("cuzk_field_p+24(%%rip)", r3, r4)                   \
  CUZK_MULADD("cuzk_field_p+32(%%rip)", r4, r5) CUZK_MULADD("cuzk_field_p+40(%%rip)", r5, r6)                   \
  "adcxq %[" r0 "],%[" r6 "]\n"

// a*b/2^384 mod p; a, b < p.
inline void mont_mul(Limbs6& out, const Limbs6& a, const Limbs6& b) {
  uint64_t t0, t1, t2, t3, t4, t5, t6, high, low;
  __asm__ volatile(
      CUZK_FIRST_ROW_6("t0", "t1", "t2", "t3", "t4", "t5", "t6") CUZK_SCALED_STEP_6("t0", "t1", "t2", "t3", "t4", "t5", "t6")
      CUZK_ROW_6(1, "t1", "t2", "t3", "t4", "t5", "t6", "t0") CUZK_SCALED_STEP_6("t1", "t2", "t3", "t4", "t5", "t6", "t0")
      CUZK_ROW_6(2, "t2", "t3", "t4", "t5", "t6", "t0", "t1") CUZK_SCALED_STEP_6("t2", "t3", "t4", "t5", "t6", "t0", "t1")
      CUZK_ROW_6(3, "t3", "t4", "t5", "t6", "t0", "t1", "t2") CUZK_SCALED_STEP_6("t3", "t4", "t5", "t6", "t0", "t1", "t2")
      CUZK_ROW_6(4, "t4", "t5", "t6", "t0", "t1", "t2", "t3") CUZK_SCALED_STEP_6("t4", "t5", "t6", "t0", "t1", "t2", "t3")
      CUZK_ROW_6(5, "t5", "t6", "t0", "t1", "t2", "t3", "t4") CUZK_REDUCE_6("t5", "t6", "t0", "t1", "t2", "t3", "t4")
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
        [t6] "=&r"(t6), [h] "=&r"(high), [l] "=&r"(low)
      : [a] "r"(a.data()), [b] "r"(b.data())
      : "rdx", "cc", "memory");
  out = x86::reduce_once(t6, t0, t1, t2, t3, t4);
}

// (a0*b + a1*y)/2^384 mod p, where a1 lies directly behind a0 in memory, with one reduction, for factors < p (Longa, "Efficient algorithms for large prime
// characteristic fields and their application to bilinear pairings", 2022). Values stay below (0.54 + 2)*2^64*p, and the
// last step ends below (0.54 + 2*0.102 + 1)*p < 2p.
inline void mont_mul_sum(Limbs6& out, const Limbs6& a0, [[maybe_unused]] const Limbs6& a1,
                         const Limbs6& b, const Limbs6& y) {
  uint64_t t0, t1, t2, t3, t4, t5, t6, high, low;
  __asm__ volatile(
      CUZK_FIRST_ROW_6("t0", "t1", "t2", "t3", "t4", "t5", "t6") CUZK_SECOND_ROW_6(0, "t0", "t1", "t2", "t3", "t4", "t5", "t6")
      CUZK_SCALED_STEP_6("t0", "t1", "t2", "t3", "t4", "t5", "t6")
      CUZK_ROW_6(1, "t1", "t2", "t3", "t4", "t5", "t6", "t0") CUZK_SECOND_ROW_6(1, "t1", "t2", "t3", "t4", "t5", "t6", "t0")
      CUZK_SCALED_STEP_6("t1", "t2", "t3", "t4", "t5", "t6", "t0")
      CUZK_ROW_6(2, "t2", "t3", "t4", "t5", "t6", "t0", "t1") CUZK_SECOND_ROW_6(2, "t2", "t3", "t4", "t5", "t6", "t0", "t1")
      CUZK_SCALED_STEP_6("t2", "t3", "t4", "t5", "t6", "t0", "t1")
      CUZK_ROW_6(3, "t3", "t4", "t5", "t6", "t0", "t1", "t2") CUZK_SECOND_ROW_6(3, "t3", "t4", "t5", "t6", "t0", "t1", "t2")
      CUZK_SCALED_STEP_6("t3", "t4", "t5", "t6", "t0", "t1", "t2")
      CUZK_ROW_6(4, "t4", "t5", "t6", "t0", "t1", "t2", "t3") CUZK_SECOND_ROW_6(4, "t4", "t5", "t6", "t0", "t1", "t2", "t3")
      CUZK_SCALED_STEP_6("t4", "t5", "t6", "t0", "t1", "t2", "t3")
      CUZK_ROW_6(5, "t5", "t6", "t0", "t1", "t2", "t3", "t4") CUZK_SECOND_ROW_6(5, "t5", "t6", "t0", "t1", "t2", "t3", "t4")
      CUZK_REDUCE_6("t5", "t6", "t0", "t1", "t2", "t3", "t4")
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
        [t6] "=&r"(t6), [h] "=&r"(high), [l] "=&r"(low)
      : [a] "r"(a0.data()), [b] "r"(b.data()), [y] "r"(y.data())
      : "rdx", "cc", "memory");
  out = x86::reduce_once(t6, t0, t1, t2, t3, t4);
}

#define CUZK_STORE(i, r) "movq %[" r "],8*" #i "(%[out])\n"

// out = a*b, 12 limbs, for any a, b.
inline void wide_mul(Wide6& out, const Limbs6& a, const Limbs6& b) {
  uint64_t t0, t1, t2, t3, t4, t5, t6, high, low;
  __asm__ volatile(
      CUZK_FIRST_ROW_6("t0", "t1", "t2", "t3", "t4", "t5", "t6") CUZK_STORE(0, "t0")
      CUZK_ROW_TOP_6(1, "t1", "t2", "t3", "t4", "t5", "t6", "t0") CUZK_STORE(1, "t1")
      CUZK_ROW_TOP_6(2, "t2", "t3", "t4", "t5", "t6", "t0", "t1") CUZK_STORE(2, "t2")
      CUZK_ROW_TOP_6(3, "t3", "t4", "t5", "t6", "t0", "t1", "t2") CUZK_STORE(3, "t3")
      CUZK_ROW_TOP_6(4, "t4", "t5", "t6", "t0", "t1", "t2", "t3") CUZK_STORE(4, "t4")
      CUZK_ROW_TOP_6(5, "t5", "t6", "t0", "t1", "t2", "t3", "t4") CUZK_STORE(5, "t5") CUZK_STORE(6, "t6")
      CUZK_STORE(7, "t0") CUZK_STORE(8, "t1") CUZK_STORE(9, "t2") CUZK_STORE(10, "t3") CUZK_STORE(11, "t4")
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
        [t6] "=&r"(t6), [h] "=&r"(high), [l] "=&r"(low)
      : [a] "r"(a.data()), [b] "r"(b.data()), [out] "r"(out.data())
      : "rdx", "cc", "memory");
}

// Limb pair 2i, 2i+1 of the square: twice the limbs off the diagonal (in `out`) plus a[i]^2.
#define CUZK_DOUBLE_ADD(i, k, half) \
  "movq 8*" #k "(%[out]),%[t1]\n adcxq %[t1],%[t1]\n adoxq %[" half "],%[t1]\n" CUZK_STORE(k, "t1")
#define CUZK_SQUARE_PAIR(i, k0, k1)                                       \
  "movq 8*" #i "(%[a]),%%rdx\n mulxq %%rdx,%[l],%[h]\n"                   \
  CUZK_DOUBLE_ADD(i, k0, "l") CUZK_DOUBLE_ADD(i, k1, "h")

// out = a^2, 12 limbs, for any a: 15 products off the diagonal, doubled, and 6 squares.
inline void wide_sqr(Wide6& out, const Limbs6& a) {
  uint64_t t1, t2, t3, t4, t5, t6, high, low;
  __asm__ volatile(
      // a0 * (a1..a5) -> limbs 1..6
      "movq (%[a]),%%rdx\n mulxq 8(%[a]),%[t1],%[t2]\n mulxq 16(%[a]),%[l],%[t3]\n addq %[l],%[t2]\n"
      "mulxq 24(%[a]),%[l],%[t4]\n adcq %[l],%[t3]\n mulxq 32(%[a]),%[l],%[t5]\n adcq %[l],%[t4]\n"
      "mulxq 40(%[a]),%[l],%[t6]\n adcq %[l],%[t5]\n adcq $0,%[t6]\n" CUZK_STORE(1, "t1") CUZK_STORE(2, "t2")
      // + a1 * (a2..a5) -> limbs 3..7
      "movq 8(%[a]),%%rdx\n" CUZK_CLEAR_FLAGS CUZK_MULADD("16(%[a])", "t3", "t4") CUZK_MULADD("24(%[a])", "t4", "t5")
      CUZK_MULADD("32(%[a])", "t5", "t6") CUZK_MULADD_TOP("40(%[a])", "t6", "t1") CUZK_STORE(3, "t3") CUZK_STORE(4, "t4")
      // + a2 * (a3..a5) -> limbs 5..8
      "movq 16(%[a]),%%rdx\n" CUZK_CLEAR_FLAGS CUZK_MULADD("24(%[a])", "t5", "t6") CUZK_MULADD("32(%[a])", "t6", "t1")
      CUZK_MULADD_TOP("40(%[a])", "t1", "t2") CUZK_STORE(5, "t5") CUZK_STORE(6, "t6")
      // + a3 * (a4, a5) -> limbs 7..9; + a4 * a5 -> limbs 9, 10
      "movq 24(%[a]),%%rdx\n" CUZK_CLEAR_FLAGS CUZK_MULADD("32(%[a])", "t1", "t2") CUZK_MULADD_TOP("40(%[a])", "t2", "t3")
      CUZK_STORE(7, "t1") CUZK_STORE(8, "t2")
      "movq 32(%[a]),%%rdx\n mulxq 40(%[a]),%[l],%[t4]\n addq %[l],%[t3]\n adcq $0,%[t4]\n"
      CUZK_STORE(9, "t3") CUZK_STORE(10, "t4")
      // doubling through CF, squares through OF
      "movq (%[a]),%%rdx\n" CUZK_CLEAR_FLAGS "mulxq %%rdx,%[l],%[h]\n" CUZK_STORE(0, "l") CUZK_DOUBLE_ADD(0, 1, "h")
      CUZK_SQUARE_PAIR(1, 2, 3) CUZK_SQUARE_PAIR(2, 4, 5) CUZK_SQUARE_PAIR(3, 6, 7) CUZK_SQUARE_PAIR(4, 8, 9)
      "movq 40(%[a]),%%rdx\n mulxq %%rdx,%[l],%[h]\n" CUZK_DOUBLE_ADD(5, 10, "l")
      "movl $0,%k[t1]\n adcxq %[t1],%[t1]\n adoxq %[h],%[t1]\n" CUZK_STORE(11, "t1")
      : [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5), [t6] "=&r"(t6),
        [h] "=&r"(high), [l] "=&r"(low)
      : [a] "r"(a.data()), [out] "r"(out.data())
      : "rdx", "cc", "memory");
}

// wide/2^384 mod p for wide <= 2^384*(p - 2), which 9*p^2 is below. The fifth step ends below wide/2^320 + 1.54*p and the
// sixth below wide/2^384 + (1 + 2^-63)*p < 2p. The limbs 7..11 are added last, so that they do not lengthen the chain.
inline void mont_redc(Limbs6& out, const Wide6& wide) {
  uint64_t t0 = wide[0], t1 = wide[1], t2 = wide[2], t3 = wide[3], t4 = wide[4], t5 = wide[5], t6 = wide[6];
  uint64_t high, low;
  __asm__ volatile(
      CUZK_SCALED_STEP_6("t0", "t1", "t2", "t3", "t4", "t5", "t6")
      CUZK_SCALED_STEP_6("t1", "t2", "t3", "t4", "t5", "t6", "t0")
      CUZK_SCALED_STEP_6("t2", "t3", "t4", "t5", "t6", "t0", "t1")
      CUZK_SCALED_STEP_6("t3", "t4", "t5", "t6", "t0", "t1", "t2")
      CUZK_REDUCE_6("t4", "t5", "t6", "t0", "t1", "t2", "t3")
      CUZK_REDUCE_6("t5", "t6", "t0", "t1", "t2", "t3", "t4")
      "addq 56(%[w]),%[t0]\n adcq 64(%[w]),%[t1]\n adcq 72(%[w]),%[t2]\n adcq 80(%[w]),%[t3]\n adcq 88(%[w]),%[t4]\n"
      : CUZK_T6, [t6] "+&r"(t6), [h] "=&r"(high), [l] "=&r"(low)
      : [w] "r"(wide.data())
      : "rdx", "cc", "memory");
  out = x86::reduce_once(t6, t0, t1, t2, t3, t4);
}

// (r4..r0) += b[i]*a, which does not overflow.
#define CUZK_ROW_4(i, r0, r1, r2, r3, r4)                                                                     \
  "movq 8*" #i "(%[b]),%%rdx\n" CUZK_CLEAR_FLAGS CUZK_MULADD("(%[a])", r0, r1) CUZK_MULADD("8(%[a])", r1, r2) \
      CUZK_MULADD("16(%[a])", r2, r3) CUZK_MULADD("24(%[a])", r3, r4) "movl $0,%k[l]\n adcxq %[l],%[" r4 "]\n"
// (r4..r0) = b[0]*a
#define CUZK_FIRST_ROW_4(r0, r1, r2, r3, r4)                                                           \
  "movq (%[b]),%%rdx\n mulxq (%[a]),%[" r0 "],%[" r1 "]\n mulxq 8(%[a]),%[l],%[" r2 "]\n"              \
  "addq %[l],%[" r1 "]\n mulxq 16(%[a]),%[l],%[" r3 "]\n adcq %[l],%[" r2 "]\n"                        \
  "mulxq 24(%[a]),%[l],%[" r4 "]\n adcq %[l],%[" r3 "]\n adcq $0,%[" r4 "]\n"
// (r0, r4..r1) = (r4..r1) + r0*Q
#define CUZK_SCALED_STEP_4(r0, r1, r2, r3, r4)                                                    \
  "movq %[" r0 "],%%rdx\n" CUZK_CLEAR_FLAGS CUZK_MULADD("cuzk_field_r+40(%%rip)", r1, r2)         \
      CUZK_MULADD("cuzk_field_r+48(%%rip)", r2, r3) CUZK_MULADD("cuzk_field_r+56(%%rip)", r3, r4) \
          CUZK_MULADD_TOP("cuzk_field_r+64(%%rip)", r4, r0)
// (r4..r1, r0) += m*r with the m that makes r0 zero, and r0 = the carry out of r4.
#define CUZK_REDUCE_4(r0, r1, r2, r3, r4)                                                         \
  "movq cuzk_field_r+32(%%rip),%%rdx\n imulq %[" r0 "],%%rdx\n" CUZK_CLEAR_FLAGS                  \
  CUZK_MULADD("cuzk_field_r(%%rip)", r0, r1) CUZK_MULADD("cuzk_field_r+8(%%rip)", r1, r2)         \
  CUZK_MULADD("cuzk_field_r+16(%%rip)", r2, r3) CUZK_MULADD("cuzk_field_r+24(%%rip)", r3, r4)     \
  "movl $0,%k[l]\n adcxq %[l],%[" r4 "]\n adoxq %[l],%[" r0 "]\n adcxq %[l],%[" r0 "]\n"

// a*b/2^256 mod r; a, b < r.
inline void mont_mul(Limbs4& out, const Limbs4& a, const Limbs4& b) {
  uint64_t t0, t1, t2, t3, t4, high, low;
  __asm__ volatile(
      CUZK_FIRST_ROW_4("t0", "t1", "t2", "t3", "t4") CUZK_SCALED_STEP_4("t0", "t1", "t2", "t3", "t4")
      CUZK_ROW_4(1, "t1", "t2", "t3", "t4", "t0") CUZK_SCALED_STEP_4("t1", "t2", "t3", "t4", "t0")
      CUZK_ROW_4(2, "t2", "t3", "t4", "t0", "t1") CUZK_REDUCE_4("t2", "t3", "t4", "t0", "t1")
      CUZK_ROW_4(3, "t3", "t4", "t0", "t1", "t2") CUZK_REDUCE_4("t3", "t4", "t0", "t1", "t2")
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [h] "=&r"(high),
        [l] "=&r"(low)
      : [a] "r"(a.data()), [b] "r"(b.data())
      : "rdx", "cc", "memory");
  out = x86::reduce_once(t4, t0, t1, t2);
}

// clang-format on

}  // namespace cuzk::limbs::adx

#endif  // CUZK_X86_ASM
