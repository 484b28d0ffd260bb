// Multi-limb arithmetic modulo an odd p, portable form. Limbs are 64-bit, least significant first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"

namespace cuzk::limbs {

template <size_t N>
using Array = std::array<uint64_t, N>;

template <size_t N>
CUZK_HD constexpr bool less(const Array<N>& a, const Array<N>& b) {
  for (size_t i = N; i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i];
  }
  return false;
}

// a - b and the borrow.
template <size_t N>
CUZK_HD constexpr uint64_t sub(Array<N>& out, const Array<N>& a, const Array<N>& b) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < N; ++i) {
    const unsigned __int128 t = static_cast<unsigned __int128>(a[i]) - b[i] - borrow;
    out[i] = static_cast<uint64_t>(t);
    borrow = static_cast<uint64_t>(t >> 64) & 1;
  }
  return borrow;
}

template <size_t N>
CUZK_HD constexpr uint64_t add(Array<N>& out, const Array<N>& a, const Array<N>& b) {
  uint64_t carry = 0;
  for (size_t i = 0; i < N; ++i) {
    const unsigned __int128 t = static_cast<unsigned __int128>(a[i]) + b[i] + carry;
    out[i] = static_cast<uint64_t>(t);
    carry = static_cast<uint64_t>(t >> 64);
  }
  return carry;
}

// x (with a carry above) minus p where x >= p; x < 2p.
template <size_t N>
CUZK_HD constexpr Array<N> reduce_once(const Array<N>& x, uint64_t carry, const Array<N>& p) {
  Array<N> reduced{};
  const uint64_t borrow = sub<N>(reduced, x, p);
  const uint64_t keep = 0 - static_cast<uint64_t>(carry < borrow);
  Array<N> out{};
  for (size_t i = 0; i < N; ++i) out[i] = (x[i] & keep) | (reduced[i] & ~keep);
  return out;
}

template <size_t N>
CUZK_HD constexpr Array<N> add_mod(const Array<N>& a, const Array<N>& b, const Array<N>& p) {
  Array<N> sum{};
  const uint64_t carry = add<N>(sum, a, b);
  return reduce_once<N>(sum, carry, p);
}

template <size_t N>
CUZK_HD constexpr Array<N> sub_mod(const Array<N>& a, const Array<N>& b, const Array<N>& p) {
  Array<N> difference{};
  const uint64_t mask = 0 - sub<N>(difference, a, b);
  Array<N> correction{};
  for (size_t i = 0; i < N; ++i) correction[i] = p[i] & mask;
  Array<N> out{};
  add<N>(out, difference, correction);
  return out;
}

// a*b/2^(64N) mod p for a, b < p; `inverse` is -p^-1 mod 2^64. CIOS; p must leave its top bit free.
template <size_t N>
CUZK_HD constexpr Array<N> mont_mul_portable(const Array<N>& a, const Array<N>& b, const Array<N>& p,
                                             uint64_t inverse) {
  Array<N> t{};
  uint64_t top = 0;
  for (size_t i = 0; i < N; ++i) {
    unsigned __int128 acc = static_cast<unsigned __int128>(a[0]) * b[i] + t[0];
    uint64_t carry_ab = static_cast<uint64_t>(acc >> 64);
    const uint64_t m = static_cast<uint64_t>(acc) * inverse;
    unsigned __int128 red = static_cast<unsigned __int128>(m) * p[0] + static_cast<uint64_t>(acc);
    uint64_t carry_mp = static_cast<uint64_t>(red >> 64);
    for (size_t j = 1; j < N; ++j) {
      acc = static_cast<unsigned __int128>(a[j]) * b[i] + t[j] + carry_ab;
      carry_ab = static_cast<uint64_t>(acc >> 64);
      red = static_cast<unsigned __int128>(m) * p[j] + static_cast<uint64_t>(acc) + carry_mp;
      carry_mp = static_cast<uint64_t>(red >> 64);
      t[j - 1] = static_cast<uint64_t>(red);
    }
    t[N - 1] = top + carry_ab + carry_mp;
    top = 0;  // the free top bit of p keeps the sum below 2^64
  }
  return reduce_once<N>(t, top, p);
}

}  // namespace cuzk::limbs
