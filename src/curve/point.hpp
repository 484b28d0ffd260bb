// Points of the short Weierstrass curves y^2 = x^3 + b (a = 0) in affine, Jacobian and XYZZ coordinates.
//
// Formulas: Bernstein and Lange's Explicit-Formulas Database, "short Weierstrass curves, a = 0":
// Jacobian dbl-2009-l, add-2007-bl, madd-2007-bl; XYZZ dbl-2008-s-1, add-2008-s, madd-2008-s, mdbl-2008-s-1.
// Every operation is complete in the sense that equal, opposite and infinite operands give the right sum.
// None but mul_secret (curve/mul_secret.hpp) is constant time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "base/host_device.hpp"
#include "field/fr.hpp"

namespace cuzk {

// Curve is a type with `using Field`, `static Field b()` and `static Affine<Curve> generator()`; see curve/g1.hpp
// and curve/g2.hpp. Infinity is (0, 0), which is on neither curve since b != 0.
template <class Curve>
struct Affine {
  using Field = typename Curve::Field;
  Field x, y;

  CUZK_HD static constexpr Affine infinity() { return Affine{}; }
  CUZK_HD constexpr bool is_infinity() const { return x.is_zero() && y.is_zero(); }
  CUZK_HD constexpr Affine operator-() const { return Affine{x, -y}; }
  CUZK_HD friend constexpr bool operator==(const Affine& a, const Affine& b) { return a.x == b.x && a.y == b.y; }
};

// The affine point (x/z^2, y/z^3); infinity where z = 0, whatever x and y are (a zeroed object is infinity too).
template <class Curve>
struct Jacobian {
  using Field = typename Curve::Field;
  using AffinePoint = Affine<Curve>;
  Field x, y, z;

  CUZK_HD static constexpr Jacobian infinity() { return Jacobian{Field::one(), Field::one(), Field::zero()}; }
  CUZK_HD static constexpr Jacobian from_affine(const AffinePoint& p) {
    return p.is_infinity() ? infinity() : Jacobian{p.x, p.y, Field::one()};
  }
  CUZK_HD constexpr bool is_infinity() const { return z.is_zero(); }
  CUZK_HD constexpr Jacobian operator-() const { return Jacobian{x, -y, z}; }

  // Equality of the points, not of the coordinates.
  CUZK_HD friend constexpr bool operator==(const Jacobian& a, const Jacobian& b) {
    if (a.is_infinity() || b.is_infinity()) return a.is_infinity() && b.is_infinity();
    const Field az2 = a.z.square(), bz2 = b.z.square();
    return a.x * bz2 == b.x * az2 && a.y * (b.z * bz2) == b.y * (a.z * az2);
  }

  // 2*this; 2 multiplications and 5 squarings (dbl-2009-l).
  CUZK_HD constexpr Jacobian dbl() const {
    const Field a = x.square();
    const Field b = y.square();
    const Field c = b.square();
    const Field d = ((x + b).square() - a - c).dbl();
    const Field e = a.dbl() + a;
    Jacobian out;
    out.x = e.square() - d.dbl();
    out.y = e * (d - out.x) - c.dbl().dbl().dbl();
    out.z = (y * z).dbl();
    return out;
  }

  // 11 multiplications and 5 squarings (add-2007-bl).
  CUZK_HD friend constexpr Jacobian operator+(const Jacobian& p, const Jacobian& q) {
    if (p.is_infinity()) return q;
    if (q.is_infinity()) return p;
    const Field z1z1 = p.z.square();
    const Field z2z2 = q.z.square();
    const Field u1 = p.x * z2z2;
    const Field u2 = q.x * z1z1;
    const Field s1 = p.y * q.z * z2z2;
    const Field s2 = q.y * p.z * z1z1;
    const Field h = u2 - u1;
    const Field r = (s2 - s1).dbl();
    if (h.is_zero()) return r.is_zero() ? p.dbl() : infinity();
    const Field i = h.dbl().square();
    const Field j = h * i;
    const Field v = u1 * i;
    Jacobian out;
    out.x = r.square() - j - v.dbl();
    out.y = r * (v - out.x) - (s1 * j).dbl();
    out.z = ((p.z + q.z).square() - z1z1 - z2z2) * h;
    return out;
  }

  // 7 multiplications and 4 squarings (madd-2007-bl).
  CUZK_HD friend constexpr Jacobian operator+(const Jacobian& p, const AffinePoint& q) {
    if (q.is_infinity()) return p;
    if (p.is_infinity()) return from_affine(q);
    const Field z1z1 = p.z.square();
    const Field u2 = q.x * z1z1;
    const Field s2 = q.y * p.z * z1z1;
    const Field h = u2 - p.x;
    const Field r = (s2 - p.y).dbl();
    if (h.is_zero()) return r.is_zero() ? p.dbl() : infinity();
    const Field hh = h.square();
    const Field i = hh.dbl().dbl();
    const Field j = h * i;
    const Field v = p.x * i;
    Jacobian out;
    out.x = r.square() - j - v.dbl();
    out.y = r * (v - out.x) - (p.y * j).dbl();
    out.z = (p.z + h).square() - z1z1 - hh;
    return out;
  }

  CUZK_HD friend constexpr Jacobian operator-(const Jacobian& p, const Jacobian& q) { return p + -q; }
  CUZK_HD friend constexpr Jacobian operator-(const Jacobian& p, const AffinePoint& q) { return p + -q; }
  CUZK_HD constexpr Jacobian& operator+=(const Jacobian& q) { return *this = *this + q; }
  CUZK_HD constexpr Jacobian& operator+=(const AffinePoint& q) { return *this = *this + q; }
  CUZK_HD constexpr Jacobian& operator-=(const Jacobian& q) { return *this = *this - q; }
  CUZK_HD constexpr Jacobian& operator-=(const AffinePoint& q) { return *this = *this - q; }

  // One inversion.
  CUZK_HD constexpr AffinePoint to_affine() const {
    if (is_infinity()) return AffinePoint::infinity();
    const Field zi = z.inverse();
    const Field zi2 = zi.square();
    return AffinePoint{x * zi2, y * (zi2 * zi)};
  }

  // scalar*this for the plain integer below the group order that `scalar` stands for, on every point of the curve
  // (not only the prime-order subgroup). Variable time: for public scalars; see mul_secret for others.
  constexpr Jacobian mul(const Fr& scalar) const {
    const Fr::Limbs plain = scalar.to_plain();
    return mul(std::span<const uint64_t>(plain));
  }

  // The same for a plain integer in 64-bit limbs, least significant first. Signed windows of 5 bits: a doubling a bit,
  // an addition every 6 bits, and 8 additions for the table.
  constexpr Jacobian mul(std::span<const uint64_t> scalar) const {
    constexpr unsigned kWindow = 5;
    constexpr size_t kMaxLimbs = 16;
    CUZK_ASSERT(scalar.size() <= kMaxLimbs);
    std::array<int8_t, 64 * kMaxLimbs + 1> digits{};
    const size_t count = signed_digits<kWindow>(scalar, digits);
    if (count == 0 || is_infinity()) return infinity();
    std::array<Jacobian, size_t{1} << (kWindow - 2)> odd{};  // this, 3*this, 5*this, ...
    odd[0] = *this;
    const Jacobian twice = dbl();
    for (size_t i = 1; i < odd.size(); ++i) odd[i] = odd[i - 1] + twice;
    Jacobian out = infinity();
    for (size_t i = count; i-- > 0;) {
      out = out.dbl();
      if (digits[i] > 0) out += odd[static_cast<size_t>(digits[i]) / 2];
      if (digits[i] < 0) out -= odd[static_cast<size_t>(-digits[i]) / 2];
    }
    return out;
  }

 private:
  // The width-w non-adjacent form: digits are zero or odd and below 2^(w-1) in absolute value. Returns how many.
  template <unsigned kWindow, size_t kSize>
  static constexpr size_t signed_digits(std::span<const uint64_t> scalar, std::array<int8_t, kSize>& digits) {
    const size_t bits = 64 * scalar.size();
    auto bit = [&](size_t i) -> int { return i < bits ? static_cast<int>(scalar[i / 64] >> (i % 64) & 1) : 0; };
    size_t count = 0;
    int carry = 0;
    for (size_t i = 0; i <= bits;) {
      if (bit(i) == carry) {  // the digit is even: bit + carry is 0 or 2
        ++i;
        continue;
      }
      int window = carry;
      for (unsigned j = 0; j < kWindow; ++j) window += bit(i + j) << j;
      carry = window >> (kWindow - 1) & 1;
      digits[i] = static_cast<int8_t>(window - (carry << kWindow));
      count = i + 1;
      i += kWindow;
    }
    return count;
  }
};

// The affine point (x/zz, y/zzz) with zz^3 = zzz^2; infinity where zz = 0. The cheapest form to add affine points to.
template <class Curve>
struct Xyzz {
  using Field = typename Curve::Field;
  using AffinePoint = Affine<Curve>;
  Field x, y, zz, zzz;

  // All coordinates zero, so that zeroed memory is a table of infinities.
  CUZK_HD static constexpr Xyzz infinity() { return Xyzz{}; }
  CUZK_HD static constexpr Xyzz from_affine(const AffinePoint& p) {
    return p.is_infinity() ? infinity() : Xyzz{p.x, p.y, Field::one(), Field::one()};
  }
  CUZK_HD constexpr bool is_infinity() const { return zz.is_zero(); }
  CUZK_HD constexpr Xyzz operator-() const { return Xyzz{x, -y, zz, zzz}; }

  // 2*this; 6 multiplications and 3 squarings (dbl-2008-s-1).
  CUZK_HD constexpr Xyzz dbl() const {
    const Field u = y.dbl();
    const Field v = u.square();
    const Field w = u * v;
    const Field s = x * v;
    const Field xx = x.square();
    const Field m = xx.dbl() + xx;
    Xyzz out;
    out.x = m.square() - s.dbl();
    out.y = m * (s - out.x) - w * y;
    out.zz = v * zz;
    out.zzz = w * zzz;
    return out;
  }

  // 2*p; 3 multiplications and 3 squarings (mdbl-2008-s-1).
  CUZK_HD static constexpr Xyzz dbl_affine(const AffinePoint& p) {
    if (p.is_infinity()) return infinity();
    const Field u = p.y.dbl();
    const Field v = u.square();
    const Field w = u * v;
    const Field s = p.x * v;
    const Field xx = p.x.square();
    const Field m = xx.dbl() + xx;
    Xyzz out;
    out.x = m.square() - s.dbl();
    out.y = m * (s - out.x) - w * p.y;
    out.zz = v;
    out.zzz = w;
    return out;
  }

  // The same, for callers that seldom need it.
  CUZK_HD_COLD static constexpr Xyzz twice(AffinePoint p) { return dbl_affine(p); }
  CUZK_HD_COLD static constexpr Xyzz twice(Xyzz p) { return p.dbl(); }

  // this += q; 8 multiplications and 2 squarings (madd-2008-s).
  CUZK_HD constexpr void add(const AffinePoint& q) {
    if (q.is_infinity()) return;
    if (is_infinity()) {
      *this = Xyzz{q.x, q.y, Field::one(), Field::one()};
      return;
    }
    const Field p = q.x * zz - x;
    const Field r = q.y * zzz - y;
    if (p.is_zero()) {
      *this = r.is_zero() ? twice(q) : infinity();
      return;
    }
    const Field pp = p.square();
    const Field ppp = p * pp;
    const Field s = x * pp;
    const Field x3 = r.square() - ppp - s.dbl();
    y = r * (s - x3) - y * ppp;
    x = x3;
    zz *= pp;
    zzz *= ppp;
  }

  // this += q; 12 multiplications and 2 squarings (add-2008-s). q may be this.
  CUZK_HD constexpr void add(const Xyzz& q) {
    if (q.is_infinity()) return;
    if (is_infinity()) {
      *this = q;
      return;
    }
    const Field u1 = x * q.zz;
    const Field s1 = y * q.zzz;
    const Field p = q.x * zz - u1;
    const Field r = q.y * zzz - s1;
    if (p.is_zero()) {
      *this = r.is_zero() ? twice(*this) : infinity();
      return;
    }
    const Field pp = p.square();
    const Field ppp = p * pp;
    const Field s = u1 * pp;
    const Field x3 = r.square() - ppp - s.dbl();
    y = r * (s - x3) - s1 * ppp;
    x = x3;
    zz = zz * q.zz * pp;
    zzz = zzz * q.zzz * ppp;
  }

  CUZK_HD constexpr void subtract(const AffinePoint& q) { add(-q); }
  CUZK_HD constexpr void subtract(const Xyzz& q) { add(-q); }

  // Four multiplications at most: with z := zz, (x*zz/zz^2, y*zzz/zz^3) is the same point since zz^3 = zzz^2.
  CUZK_HD constexpr Jacobian<Curve> to_jacobian() const {
    if (is_infinity()) return Jacobian<Curve>::infinity();
    return Jacobian<Curve>{x * zz, y * zzz, zz};
  }

  // One inversion.
  CUZK_HD constexpr AffinePoint to_affine() const {
    if (is_infinity()) return AffinePoint::infinity();
    const Field inverse = zzz.inverse();   // 1/z^3
    const Field inverse_z = inverse * zz;  // 1/z
    return AffinePoint{x * inverse_z.square(), y * inverse};
  }

  // Equality of the points, not of the coordinates.
  CUZK_HD friend constexpr bool operator==(const Xyzz& a, const Xyzz& b) {
    if (a.is_infinity() || b.is_infinity()) return a.is_infinity() && b.is_infinity();
    return a.x * b.zz == b.x * a.zz && a.y * b.zzz == b.y * a.zzz;
  }
};

// out[i] = points[i] in affine coordinates; the spans have the same length and do not overlap. One inversion and about
// 6 multiplications and a squaring a point (Montgomery's trick); infinity stays infinity. No memory is allocated.
template <class Curve>
constexpr void batch_to_affine(std::span<const Jacobian<Curve>> points, std::span<Affine<Curve>> out) {
  using Field = typename Curve::Field;
  CUZK_ASSERT(points.size() == out.size());
  Field product = Field::one();
  for (size_t i = 0; i < points.size(); ++i) {
    out[i].x = product;  // the product of all earlier z, until the second pass
    if (!points[i].is_infinity()) product *= points[i].z;
  }
  Field inverse = product.inverse();
  for (size_t i = points.size(); i-- > 0;) {
    const Jacobian<Curve>& p = points[i];
    if (p.is_infinity()) {
      out[i] = Affine<Curve>::infinity();
      continue;
    }
    const Field zi = inverse * out[i].x;
    inverse *= p.z;
    const Field zi2 = zi.square();
    out[i] = Affine<Curve>{p.x * zi2, p.y * (zi2 * zi)};
  }
}

// The same from XYZZ coordinates.
template <class Curve>
constexpr void batch_to_affine(std::span<const Xyzz<Curve>> points, std::span<Affine<Curve>> out) {
  using Field = typename Curve::Field;
  CUZK_ASSERT(points.size() == out.size());
  Field product = Field::one();
  for (size_t i = 0; i < points.size(); ++i) {
    out[i].x = product;
    if (!points[i].is_infinity()) product *= points[i].zzz;
  }
  Field inverse = product.inverse();
  for (size_t i = points.size(); i-- > 0;) {
    const Xyzz<Curve>& p = points[i];
    if (p.is_infinity()) {
      out[i] = Affine<Curve>::infinity();
      continue;
    }
    const Field zi3 = inverse * out[i].x;
    inverse *= p.zzz;
    const Field zi = zi3 * p.zz;
    out[i] = Affine<Curve>{p.x * zi.square(), p.y * zi3};
  }
}

}  // namespace cuzk
