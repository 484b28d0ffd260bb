// Fp2 = Fp[u]/(u^2 + 1), the field of definition of G2.
#pragma once

#include "field/fp.hpp"

namespace cuzk {

// c0 + c1*u. Same operators as PrimeField.
struct Fp2 {
  Fp c0, c1;

  CUZK_HD static constexpr Fp2 zero() { return {}; }
  CUZK_HD static constexpr Fp2 one() { return {Fp::one(), Fp::zero()}; }
  CUZK_HD static constexpr Fp2 from_u64(uint64_t value) { return {Fp::from_u64(value), Fp::zero()}; }

  CUZK_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  CUZK_HD constexpr bool is_one() const { return *this == one(); }
  CUZK_HD friend constexpr bool operator==(const Fp2& a, const Fp2& b) { return a.c0 == b.c0 && a.c1 == b.c1; }

  CUZK_HD friend constexpr Fp2 operator+(const Fp2& a, const Fp2& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
  CUZK_HD friend constexpr Fp2 operator-(const Fp2& a, const Fp2& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
  // Karatsuba, three multiplications in Fp; with ADX two sums of two products with one reduction each.
  CUZK_HD friend constexpr Fp2 operator*(const Fp2& a, const Fp2& b) {
#if CUZK_X86_ASM && !defined(__CUDA_ARCH__)
    if (!std::is_constant_evaluated()) {
      Fp2 out{uninitialised(), uninitialised()};
      out.assign_product(a, b);
      return out;
    }
#endif
#if defined(__CUDA_ARCH__)
    return device_product(a.c0, a.c1, b.c0, b.c1);
#endif
    const Fp low = a.c0 * b.c0;
    const Fp high = a.c1 * b.c1;
    const Fp cross = (a.c0 + a.c1) * (b.c0 + b.c1);
    return {low - high, cross - low - high};
  }
  CUZK_HD friend constexpr Fp2 operator*(const Fp2& a, const Fp& b) { return {a.c0 * b, a.c1 * b}; }
  CUZK_HD constexpr Fp2 operator-() const { return {-c0, -c1}; }
  CUZK_HD constexpr Fp2& operator+=(const Fp2& b) { return *this = *this + b; }
  CUZK_HD constexpr Fp2& operator-=(const Fp2& b) { return *this = *this - b; }
  CUZK_HD constexpr Fp2& operator*=(const Fp2& b) {
#if CUZK_X86_ASM && !defined(__CUDA_ARCH__)
    if (!std::is_constant_evaluated()) {
      assign_product(*this, b);
      return *this;
    }
#endif
    return *this = *this * b;
  }
  // (c0+c1)(c0-c1) + 2*c0*c1*u: two multiplications in Fp.
  CUZK_HD constexpr Fp2 square() const {
#if CUZK_X86_ASM && !defined(__CUDA_ARCH__)
    if (!std::is_constant_evaluated()) {
      Fp2 out{uninitialised(), uninitialised()};
      limbs::x86::fp2_sqr(out.c0.limbs_, out.c1.limbs_, c0.limbs_, c1.limbs_);
      return out;
    }
#endif
    return {(c0 + c1) * (c0 - c1), (c0 * c1).dbl()};
  }
  CUZK_HD constexpr Fp2 dbl() const { return {c0.dbl(), c1.dbl()}; }

  // c0 - c1*u, which is also the Frobenius map x -> x^p.
  CUZK_HD constexpr Fp2 conjugate() const { return {c0, -c1}; }
  // Times u + 1, the non-residue of the sextic twist and of Fp6.
  CUZK_HD constexpr Fp2 mul_by_nonresidue() const { return {c0 - c1, c0 + c1}; }
  // c0^2 + c1^2 = x^(p+1), in Fp.
  CUZK_HD constexpr Fp norm() const { return c0.square() + c1.square(); }
  // 1/x; zero for zero. One inversion in Fp. Not constant time.
  CUZK_HD constexpr Fp2 inverse() const {
    const Fp t = norm().inverse();
    return {c0 * t, -(c1 * t)};
  }

  // x^exponent; plain 64-bit limbs, least significant first. Not constant time.
  constexpr Fp2 pow(std::span<const uint64_t> exponent) const {
    Fp2 out = one();
    for (size_t i = exponent.size(); i-- > 0;) {
      for (int bit = 63; bit >= 0; --bit) {
        out = out.square();
        if (exponent[i] >> bit & 1) out *= *this;
      }
    }
    return out;
  }

 private:
#if defined(__CUDA_ARCH__)
  // Not inlined: three products of Fp are 1,200 instructions.
  __device__ __noinline__ static Fp2 device_product(Fp a0, Fp a1, Fp b0, Fp b1) {
    const Fp low = a0 * b0;
    const Fp high = a1 * b1;
    const Fp cross = (a0 + a1) * (b0 + b1);
    return {low - high, cross - low - high};
  }
#endif
  CUZK_HD static constexpr Fp uninitialised() { return Fp{Fp::Uninitialised{}}; }
#if CUZK_X86_ASM
  // *this = a*b; a and b may be *this.
  void assign_product(const Fp2& a, const Fp2& b) {
    limbs::x86::fp2_mul(c0.limbs_, c1.limbs_, a.c0.limbs_, a.c1.limbs_, b.c0.limbs_, b.c1.limbs_);
  }
#endif
};

static_assert(sizeof(Fp2) == 2 * sizeof(Fp), "the assembly reads c1 directly behind c0");

}  // namespace cuzk
