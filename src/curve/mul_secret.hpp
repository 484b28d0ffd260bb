// Scalar multiplication whose branches and memory accesses do not depend on the scalar.
//
// Fixed windows of 4 bits over a table of 16 multiples that is read in full for every window; additions and doublings
// are the complete formulas for odd-order curves with a = 0 of Renes, Costello, Batina, "Complete addition formulas for
// prime order elliptic curves", eprint 2015/1060, algorithms 7 and 9, which have no exceptional cases and so need no
// branches. (Both of our curves, cofactors included, have odd order.) The field's +, - and * are free of such
// branches; inversion is not, so the result is returned in Jacobian coordinates, whose z must not be published: callers
// add further terms and convert the sum.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/secret.hpp"
#include "curve/point.hpp"
#include "field/fr.hpp"

namespace cuzk {
namespace internal {

// (x/z, y/z); infinity is (0, y, 0) with y != 0.
template <class Curve>
struct Projective {
  using Field = typename Curve::Field;
  Field x, y, z;

  static constexpr Projective infinity() { return {Field::zero(), Field::one(), Field::zero()}; }

  // Algorithm 7; 12 multiplications.
  friend constexpr Projective operator+(const Projective& p, const Projective& q) {
    const Field t0 = p.x * q.x;
    const Field t1 = p.y * q.y;
    const Field t2 = p.z * q.z;
    const Field xy = (p.x + p.y) * (q.x + q.y) - t0 - t1;
    const Field yz = (p.y + p.z) * (q.y + q.z) - t1 - t2;
    const Field xz = Curve::mul_by_3b((p.x + p.z) * (q.x + q.z) - t0 - t2);
    const Field t0x3 = t0.dbl() + t0;
    const Field bz = Curve::mul_by_3b(t2);
    const Field sum = t1 + bz;
    const Field difference = t1 - bz;
    return {xy * difference - yz * xz, difference * sum + xz * t0x3, sum * yz + t0x3 * xy};
  }

  // Algorithm 9; 6 multiplications and 2 squarings.
  constexpr Projective dbl() const {
    const Field y2 = y.square();
    const Field y2x8 = y2.dbl().dbl().dbl();
    const Field b = Curve::mul_by_3b(z.square());
    const Field t = y2 - (b.dbl() + b);
    return {(t * (x * y)).dbl(), b * y2x8 + t * (y2 + b), (y * z) * y2x8};
  }
};

// out = mask ? value : out, for a mask of all ones or all zeros, on trivially copyable values of whole 64-bit words.
template <class T>
inline void select_into(T& out, const T& value, uint64_t mask) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0);
  auto words = std::bit_cast<std::array<uint64_t, sizeof(T) / 8>>(out);
  const auto other = std::bit_cast<std::array<uint64_t, sizeof(T) / 8>>(value);
  for (size_t i = 0; i < words.size(); ++i) words[i] ^= (words[i] ^ other[i]) & mask;
  out = std::bit_cast<T>(words);
}

// All ones where every bit of `value` is zero, else all zeros.
template <class T>
inline uint64_t zero_mask(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0);
  uint64_t any = 0;
  for (const uint64_t word : std::bit_cast<std::array<uint64_t, sizeof(T) / 8>>(value)) any |= word;
  return ((any | (0 - any)) >> 63) - 1;
}

}  // namespace internal

// scalar*p for any point p of the curve, in the subgroup or not, public or secret. 259 doublings and 71 additions.
template <class Curve>
Jacobian<Curve> mul_secret(const Jacobian<Curve>& p, const Fr& scalar) {
  using Point = internal::Projective<Curve>;
  using Field = typename Curve::Field;
  constexpr unsigned kWindow = 4;
  constexpr size_t kEntries = size_t{1} << kWindow;

  std::array<Point, kEntries> table;  // 0, p, 2p, ...
  table[0] = Point::infinity();
  // (x/z^2, y/z^3) = (x*z/z^3, y/z^3); infinity must have y != 0.
  table[1] = Point{p.x * p.z, p.y, p.z.square() * p.z};
  internal::select_into(table[1].y, Field::one(), internal::zero_mask(p.z));
  for (size_t i = 2; i < kEntries; ++i) table[i] = i % 2 == 0 ? table[i / 2].dbl() : table[i - 1] + table[1];

  Fr::Limbs plain = scalar.to_plain();
  Point out = Point::infinity();
  for (int shift = 256 - static_cast<int>(kWindow); shift >= 0; shift -= kWindow) {
    if (shift != 256 - static_cast<int>(kWindow)) {
      for (unsigned i = 0; i < kWindow; ++i) out = out.dbl();
    }
    const uint64_t digit = plain[static_cast<size_t>(shift) / 64] >> (shift % 64) & (kEntries - 1);
    Point chosen = table[0];
    for (uint64_t i = 1; i < kEntries; ++i) {
      internal::select_into(chosen, table[i], internal::zero_mask(i ^ digit));
    }
    out = out + chosen;
  }
  secure_clear(&plain, sizeof plain);
  // (x/z, y/z) = (x*z/z^2, y*z^2/z^3); z = 0 stays z = 0.
  const Jacobian<Curve> result{out.x * out.z, out.y * out.z.square(), out.z};
  secure_clear(&out, sizeof out);
  return result;
}

// The same for a public point.
template <class Curve>
Jacobian<Curve> mul_secret(const Affine<Curve>& p, const Fr& scalar) {
  return mul_secret(Jacobian<Curve>::from_affine(p), scalar);
}

}  // namespace cuzk
