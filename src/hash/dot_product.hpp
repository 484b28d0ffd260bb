// Sums of products in Fr with one reduction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "field/fr.hpp"

namespace cuzk::detail {

// sum a[i] * b[i * stride] for i < count <= 64, in Montgomery form; fully reduced.
//
// Product scanning over all terms at once, with Montgomery's reduction woven in (FIPS of Koc, Acar, Kaliski 1996):
// a term costs 16 multiplications and not 32 (measured on Zen 4: 7.5 ns a term, 12 ns with operator*; fixing the
// count at compile time gains 1 %). The sum before the last step is below (0.453 * count + 1) r.
inline Fr dot_product(const Fr* a, const Fr* b, size_t stride, size_t count) {
  constexpr auto& p = Fr::kModulus;
  uint64_t c0 = 0, c1 = 0, c2 = 0;  // the current column, lowest word first
  auto multiply_add = [&](uint64_t x, uint64_t y) {
    const unsigned __int128 product = static_cast<unsigned __int128>(x) * y;
    const uint64_t low = static_cast<uint64_t>(product), high = static_cast<uint64_t>(product >> 64);
#if defined(__x86_64__)
    // GCC 12 makes a comparison of two words of the carry, which costs more than the product.
    __asm__("add %3, %0\n\tadc %4, %1\n\tadc $0, %2" : "+&r"(c0), "+&r"(c1), "+&r"(c2) : "r"(low), "r"(high) : "cc");
#else
    const unsigned __int128 sum = static_cast<unsigned __int128>(c0) + low;
    const unsigned __int128 next = static_cast<unsigned __int128>(c1) + high + static_cast<uint64_t>(sum >> 64);
    c0 = static_cast<uint64_t>(sum);
    c1 = static_cast<uint64_t>(next);
    c2 += static_cast<uint64_t>(next >> 64);
#endif
  };
  auto shift = [&] {
    const uint64_t low = c0;
    c0 = c1;
    c1 = c2;
    c2 = 0;
    return low;
  };
  uint64_t m[4], out[4];
#pragma GCC unroll 7
  for (size_t column = 0; column < 7; ++column) {
    const size_t first = column < 4 ? 0 : column - 3, last = column < 4 ? column : 3;
#pragma GCC unroll 4
    for (size_t k = 0; k < count; ++k) {
      const auto& x = a[k].montgomery();
      const auto& y = b[k * stride].montgomery();
#pragma GCC unroll 4
      for (size_t i = first; i <= last; ++i) multiply_add(x[i], y[column - i]);
    }
#pragma GCC unroll 4
    for (size_t i = first; i <= last; ++i) {
      if (i < column || column >= 4) multiply_add(m[i], p[column - i]);
    }
    if (column < 4) {
      m[column] = c0 * Fr::kInverse;
      multiply_add(m[column], p[0]);
      shift();
    } else {
      out[column - 4] = shift();
    }
  }
  out[3] = c0;
  // Subtract q r with q = floor(out / 2^248 / 116) <= out / r, which leaves less than 1.02 r; r < 116 * 2^248.
  const uint64_t q = (c1 << 8 | out[3] >> 56) / 116;
  Fr::Limbs reduced;
  unsigned __int128 carry = 0;
  uint64_t borrow = 0;
  for (size_t i = 0; i < 4; ++i) {
    carry += static_cast<unsigned __int128>(q) * p[i];
    const unsigned __int128 difference = static_cast<unsigned __int128>(out[i]) - static_cast<uint64_t>(carry) - borrow;
    carry >>= 64;
    reduced[i] = static_cast<uint64_t>(difference);
    borrow = static_cast<uint64_t>(difference >> 64) & 1;
  }
  return Fr::from_montgomery(limbs::reduce_once<4>(reduced, 0, p));
}

}  // namespace cuzk::detail
