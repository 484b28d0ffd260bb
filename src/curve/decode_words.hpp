// The uncompressed byte form of points (encoding.hpp), read from 64-bit words, for devices that convert whole files.
#pragma once

#include <cstddef>
#include <cstdint>

#include "curve/encoding.hpp"

namespace cuzk {

// 64-bit words of a point: 12 in G1, 24 in G2.
template <class Curve>
inline constexpr size_t kUncompressedWords = 2 * sizeof(typename Curve::Field) / sizeof(uint64_t);

namespace internal {

// The word of the other byte order.
CUZK_HD constexpr uint64_t swapped(uint64_t word) {
  word = (word & 0x00ff00ff00ff00ffULL) << 8 | (word >> 8 & 0x00ff00ff00ff00ffULL);
  word = (word & 0x0000ffff0000ffffULL) << 16 | (word >> 16 & 0x0000ffff0000ffffULL);
  return word << 32 | word >> 32;
}

// False where the element is not below the modulus. No flag bit is left out: with one the value is not.
CUZK_HD inline bool read_words(const uint64_t* words, Fp& out) {
  Fp::Limbs plain;
  for (size_t i = 0; i < Fp::kLimbs; ++i) plain[Fp::kLimbs - 1 - i] = swapped(words[i]);
  constexpr Fp::Limbs kModulus = Fp::kModulus;  // device code has no address for the member
  if (!limbs::less(plain, kModulus)) return false;
  out = Fp::from_plain(plain);
  return true;
}
CUZK_HD inline bool read_words(const uint64_t* words, Fp2& out) {
  return read_words(words, out.c1) && read_words(words + Fp::kLimbs, out.c0);
}

}  // namespace internal

// read_uncompressed() with PointCheck::kOnCurve of the kUncompressedWords words that are the bytes as a little-endian
// machine loads them. `out` is the point where kNone is returned, else unspecified. 5 multiplications and squarings in
// G1, 4 and 3 of Fp2 in G2.
template <class Curve>
CUZK_HD PointError read_uncompressed_words(const uint64_t* words, Affine<Curve>& out) {
  constexpr uint64_t kCompressed = 0x80, kInfinity = 0x40, kAnyFlag = 0xe0;  // of the first byte
  if ((words[0] & kAnyFlag) != 0) {
    if ((words[0] & kCompressed) != 0) return PointError::kCompressed;
    if ((words[0] & kInfinity) == 0) return PointError::kSignFlag;
    uint64_t any = words[0] ^ kInfinity;
    for (size_t i = 1; i < kUncompressedWords<Curve>; ++i) any |= words[i];
    out = Affine<Curve>::infinity();
    return any == 0 ? PointError::kNone : PointError::kInfinityNotZero;
  }
  if (!internal::read_words(words, out.x)) return PointError::kXRange;
  if (!internal::read_words(words + kUncompressedWords<Curve> / 2, out.y)) return PointError::kYRange;
  return out.y.square() == out.x.square() * out.x + Curve::b() ? PointError::kNone : PointError::kNotOnCurve;
}

}  // namespace cuzk
