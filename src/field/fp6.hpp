// Fp6 = Fp2[v]/(v^3 - (u + 1)), the middle of the pairing's tower.
#pragma once

#include "field/fp2.hpp"

namespace cuzk {

// c0 + c1*v + c2*v^2. Same operators as PrimeField.
struct Fp6 {
  Fp2 c0, c1, c2;

  CUZK_HD static constexpr Fp6 zero() { return {}; }
  CUZK_HD static constexpr Fp6 one() { return {Fp2::one(), {}, {}}; }

  CUZK_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero() && c2.is_zero(); }
  CUZK_HD constexpr bool is_one() const { return *this == one(); }
  CUZK_HD friend constexpr bool operator==(const Fp6& a, const Fp6& b) {
    return a.c0 == b.c0 && a.c1 == b.c1 && a.c2 == b.c2;
  }

  CUZK_HD friend constexpr Fp6 operator+(const Fp6& a, const Fp6& b) { return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2}; }
  CUZK_HD friend constexpr Fp6 operator-(const Fp6& a, const Fp6& b) { return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2}; }
  // Toom-Cook/Karatsuba with six multiplications in Fp2 (Devegili et al., "Multiplication and squaring on
  // pairing-friendly fields", 2006, section 4).
  CUZK_HD friend constexpr Fp6 operator*(const Fp6& a, const Fp6& b) {
    const Fp2 p0 = a.c0 * b.c0;
    const Fp2 p1 = a.c1 * b.c1;
    const Fp2 p2 = a.c2 * b.c2;
    const Fp2 p12 = (a.c1 + a.c2) * (b.c1 + b.c2) - p1 - p2;
    const Fp2 p01 = (a.c0 + a.c1) * (b.c0 + b.c1) - p0 - p1;
    const Fp2 p02 = (a.c0 + a.c2) * (b.c0 + b.c2) - p0 - p2;
    return {p0 + p12.mul_by_nonresidue(), p01 + p2.mul_by_nonresidue(), p02 + p1};
  }
  CUZK_HD friend constexpr Fp6 operator*(const Fp6& a, const Fp2& b) { return {a.c0 * b, a.c1 * b, a.c2 * b}; }
  CUZK_HD constexpr Fp6 operator-() const { return {-c0, -c1, -c2}; }
  CUZK_HD constexpr Fp6& operator+=(const Fp6& b) { return *this = *this + b; }
  CUZK_HD constexpr Fp6& operator-=(const Fp6& b) { return *this = *this - b; }
  CUZK_HD constexpr Fp6& operator*=(const Fp6& b) { return *this = *this * b; }
  // Chung-Hasan SQR2: two multiplications and three squarings in Fp2 (Devegili et al. 2006, section 4).
  CUZK_HD constexpr Fp6 square() const {
    const Fp2 s0 = c0.square();
    const Fp2 s1 = (c0 * c1).dbl();
    const Fp2 s2 = (c0 - c1 + c2).square();
    const Fp2 s3 = (c1 * c2).dbl();
    const Fp2 s4 = c2.square();
    return {s0 + s3.mul_by_nonresidue(), s1 + s4.mul_by_nonresidue(), s1 + s2 + s3 - s0 - s4};
  }
  CUZK_HD constexpr Fp6 dbl() const { return {c0.dbl(), c1.dbl(), c2.dbl()}; }

  // Times v, the non-residue of Fp12.
  CUZK_HD constexpr Fp6 mul_by_nonresidue() const { return {c2.mul_by_nonresidue(), c0, c1}; }
  // Times b0 + b1*v: five multiplications in Fp2.
  CUZK_HD constexpr Fp6 mul_by_01(const Fp2& b0, const Fp2& b1) const {
    const Fp2 p0 = c0 * b0;
    const Fp2 p1 = c1 * b1;
    const Fp2 p01 = (c0 + c1) * (b0 + b1) - p0 - p1;
    return {p0 + (c2 * b1).mul_by_nonresidue(), p01, p1 + c2 * b0};
  }
  // Times b1*v: three multiplications in Fp2.
  CUZK_HD constexpr Fp6 mul_by_1(const Fp2& b1) const { return {(c2 * b1).mul_by_nonresidue(), c0 * b1, c1 * b1}; }

  // 1/x; zero for zero. One inversion in Fp. Not constant time.
  constexpr Fp6 inverse() const {
    const Fp2 t0 = c0.square() - (c1 * c2).mul_by_nonresidue();
    const Fp2 t1 = c2.square().mul_by_nonresidue() - c0 * c1;
    const Fp2 t2 = c1.square() - c0 * c2;
    const Fp2 norm = c0 * t0 + (c2 * t1 + c1 * t2).mul_by_nonresidue();
    return Fp6{t0, t1, t2} * norm.inverse();
  }
};

}  // namespace cuzk
