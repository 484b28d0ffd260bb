// Fp12 = Fp6[w]/(w^2 - v), where the pairing takes its values.
#pragma once

#include "field/fp6.hpp"
#include "field/frobenius_constants.hpp"

namespace cuzk {

// c0 + c1*w. As a polynomial in w over Fp2 (w^6 = u + 1) the coefficients of w^0 .. w^5 are
// c0.c0, c1.c0, c0.c1, c1.c1, c0.c2, c1.c2. Same operators as PrimeField.
struct Fp12 {
  Fp6 c0, c1;

  CUZK_HD static constexpr Fp12 zero() { return {}; }
  CUZK_HD static constexpr Fp12 one() { return {Fp6::one(), {}}; }

  CUZK_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  CUZK_HD constexpr bool is_one() const { return *this == one(); }
  CUZK_HD friend constexpr bool operator==(const Fp12& a, const Fp12& b) { return a.c0 == b.c0 && a.c1 == b.c1; }

  CUZK_HD friend constexpr Fp12 operator+(const Fp12& a, const Fp12& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
  CUZK_HD friend constexpr Fp12 operator-(const Fp12& a, const Fp12& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
  // Karatsuba: three multiplications in Fp6.
  CUZK_HD friend constexpr Fp12 operator*(const Fp12& a, const Fp12& b) {
    const Fp6 low = a.c0 * b.c0;
    const Fp6 high = a.c1 * b.c1;
    const Fp6 cross = (a.c0 + a.c1) * (b.c0 + b.c1);
    return {low + high.mul_by_nonresidue(), cross - low - high};
  }
  CUZK_HD constexpr Fp12 operator-() const { return {-c0, -c1}; }
  CUZK_HD constexpr Fp12& operator+=(const Fp12& b) { return *this = *this + b; }
  CUZK_HD constexpr Fp12& operator-=(const Fp12& b) { return *this = *this - b; }
  CUZK_HD constexpr Fp12& operator*=(const Fp12& b) { return *this = *this * b; }
  // Complex squaring: two multiplications in Fp6.
  CUZK_HD constexpr Fp12 square() const {
    const Fp6 product = c0 * c1;
    const Fp6 cross = (c0 + c1) * (c0 + c1.mul_by_nonresidue());
    return {cross - product - product.mul_by_nonresidue(), product.dbl()};
  }
  CUZK_HD constexpr Fp12 dbl() const { return {c0.dbl(), c1.dbl()}; }

  // c0 - c1*w = x^(p^6); the inverse of an x with x^(p^6 + 1) = 1.
  CUZK_HD constexpr Fp12 conjugate() const { return {c0, -c1}; }
  // 1/x; zero for zero. One inversion in Fp. Not constant time.
  constexpr Fp12 inverse() const {
    const Fp6 norm = (c0.square() - c1.square().mul_by_nonresidue()).inverse();
    return {c0 * norm, -(c1 * norm)};
  }

  // x^(p^power), power in 1..3; five multiplications in Fp2 (by elements of Fp for power 2).
  constexpr Fp12 frobenius(unsigned power) const;

  // x^2 for x with x^(p^4 - p^2 + 1) = 1, such as values after the easy part of the final exponentiation (Granger and
  // Scott, "Faster squaring in the cyclotomic subgroup of sixth degree extensions", 2010). Nine squarings' worth of
  // Fp2.
  CUZK_HD constexpr Fp12 cyclotomic_square() const;

  // Times the sparse element b0 + b1*w^2 + b4*w^3 (positions 0, 1, 4 of c0.c0 c0.c1 c0.c2 c1.c0 c1.c1 c1.c2), the form
  // of a line through points of the twist: 13 multiplications in Fp2.
  CUZK_HD constexpr Fp12 mul_by_014(const Fp2& b0, const Fp2& b1, const Fp2& b4) const {
    const Fp6 low = c0.mul_by_01(b0, b1);
    const Fp6 high = c1.mul_by_1(b4);
    const Fp6 cross = (c0 + c1).mul_by_01(b0, b1 + b4);
    return {low + high.mul_by_nonresidue(), cross - low - high};
  }
};

// (a0 + a1*w^2 + a4*w^3)(b0 + b1*w^2 + b4*w^3), two lines at once: six multiplications in Fp2. The coefficient of w,
// c1.c0, is zero.
CUZK_HD constexpr Fp12 mul_014_by_014(const Fp2& a0, const Fp2& a1, const Fp2& a4, const Fp2& b0, const Fp2& b1,
                                      const Fp2& b4) {
  const Fp2 p0 = a0 * b0;
  const Fp2 p1 = a1 * b1;
  const Fp2 p4 = a4 * b4;
  const Fp2 p01 = (a0 + a1) * (b0 + b1) - p0 - p1;
  const Fp2 p04 = (a0 + a4) * (b0 + b4) - p0 - p4;
  const Fp2 p14 = (a1 + a4) * (b1 + b4) - p1 - p4;
  return {{p0 + p4.mul_by_nonresidue(), p01, p1}, {Fp2::zero(), p04, p14}};
}

constexpr Fp12 Fp12::frobenius(unsigned power) const {
  CUZK_ASSERT(power >= 1 && power <= 3);
  const auto& gamma = kFrobeniusGamma[power - 1];
  if (power == 2) {
    return {{c0.c0, c0.c1 * gamma[1].c0, c0.c2 * gamma[3].c0},
            {c1.c0 * gamma[0].c0, c1.c1 * gamma[2].c0, c1.c2 * gamma[4].c0}};
  }
  return {{c0.c0.conjugate(), c0.c1.conjugate() * gamma[1], c0.c2.conjugate() * gamma[3]},
          {c1.c0.conjugate() * gamma[0], c1.c1.conjugate() * gamma[2], c1.c2.conjugate() * gamma[4]}};
}

namespace internal {
// (a + b*t)^2 in Fp2[t]/(t^2 - (u + 1)).
struct Fp4Square {
  Fp2 low, high;
};
CUZK_HD constexpr Fp4Square fp4_square(const Fp2& a, const Fp2& b) {
  const Fp2 a2 = a.square();
  const Fp2 b2 = b.square();
  return {a2 + b2.mul_by_nonresidue(), (a + b).square() - a2 - b2};
}
}  // namespace internal

CUZK_HD constexpr Fp12 Fp12::cyclotomic_square() const {
  // Fp12 as a cubic extension of Fp4 = Fp2[w^3]: A = (w^0, w^3), B = (w^1, w^4), C = (w^2, w^5).
  const auto a = internal::fp4_square(c0.c0, c1.c1);
  const auto b = internal::fp4_square(c1.c0, c0.c2);
  const auto c = internal::fp4_square(c0.c1, c1.c2);
  // 3t - 2x and 3t + 2x
  const auto minus = [](const Fp2& t, const Fp2& x) { return (t - x).dbl() + t; };
  const auto plus = [](const Fp2& t, const Fp2& x) { return (t + x).dbl() + t; };
  return {{minus(a.low, c0.c0), minus(b.low, c0.c1), minus(c.low, c0.c2)},
          {plus(c.high.mul_by_nonresidue(), c1.c0), plus(a.high, c1.c1), plus(b.high, c1.c2)}};
}

}  // namespace cuzk
