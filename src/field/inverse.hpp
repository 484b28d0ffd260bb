// Modular inverse by division steps (Bernstein and Yang, "Fast constant-time gcd computation and modular inversion",
// 2019), here in variable time: public values and point normalisation only, never r or s.
//
// 62 steps at a time depend on the low 62 bits of f and g alone; their product is a 2x2 matrix of 63-bit integers that
// is then applied to f, g (exactly) and to d, e (modulo p, with f = d*x, g = e*x mod p throughout). Runs of zero bits
// of g and up to six bits of a run of steps without a swap are taken at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "field/limbs.hpp"

namespace cuzk::limbs {

namespace divstep {

inline constexpr int kBits = 62;
inline constexpr uint64_t kMask = ~uint64_t{0} >> 2;

// A signed integer: the sum of v[i]*2^(62 i), every limb but the last in [0, 2^62).
template <size_t K>
using Signed62 = std::array<int64_t, K>;

template <size_t K, size_t N>
CUZK_HD constexpr Signed62<K> to_signed62(const Array<N>& x) {
  Signed62<K> out{};
  for (size_t i = 0; i < K; ++i) {
    const size_t bit = kBits * i;
    const size_t word = bit / 64, shift = bit % 64;
    uint64_t limb = word < N ? x[word] >> shift : 0;
    if (shift > 2 && word + 1 < N) limb |= x[word + 1] << (64 - shift);
    out[i] = static_cast<int64_t>(limb & kMask);
  }
  return out;
}

template <size_t N, size_t K>
CUZK_HD constexpr Array<N> from_signed62(const Signed62<K>& x) {
  Array<N> out{};
  for (size_t i = 0; i < K; ++i) {
    const size_t bit = kBits * i;
    const size_t word = bit / 64, shift = bit % 64;
    if (word < N) out[word] |= static_cast<uint64_t>(x[i]) << shift;
    if (shift > 2 && word + 1 < N) out[word + 1] |= static_cast<uint64_t>(x[i]) >> (64 - shift);
  }
  return out;
}

// The number of zero bits below the lowest set bit; x is not zero.
CUZK_HD constexpr int trailing_zeros(uint64_t x) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(x)) - 1;
#else
  return __builtin_ctzll(x);
#endif
}

// 2^62 times the matrix of 62 steps: (f, g) -> (u f + v g, q f + r g)/2^62.
struct Matrix {
  int64_t u, v, q, r;
};

// 62 steps on the low limbs f (odd) and g; delta as in the paper.
CUZK_HD constexpr Matrix steps(int64_t& delta, uint64_t f, uint64_t g) {
  // Unsigned, as the arithmetic is modulo 2^64; each entry is at most 2^62 in absolute value.
  uint64_t u = 1, v = 0, q = 0, r = 1;
  int left = kBits;
  for (;;) {
    // The guard bit keeps the count within the steps that are left.
    const int zeros = trailing_zeros(g | ~uint64_t{0} << left);
    g >>= zeros;
    u <<= zeros;
    v <<= zeros;
    delta += zeros;
    left -= zeros;
    if (left == 0) break;
    // g is odd here.
    if (delta > 0) {
      delta = -delta;
      const uint64_t old_f = f, old_u = u, old_v = v;
      f = g;
      g = 0 - old_f;
      u = q;
      q = 0 - old_u;
      v = r;
      r = 0 - old_v;
    }
    // The next 1 - delta steps do not swap: they add that multiple w of f which clears as many low bits of g.
    // f*(2 - f^2) is 1/f modulo 2^6.
    const int64_t without_swap = 1 - delta;
    const int count = without_swap < left ? static_cast<int>(without_swap) : left;
    const uint64_t mask = (count >= 6 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) & 63;
    const uint64_t w = (g * f * (f * f - 2)) & mask;
    g += f * w;
    q += u * w;
    r += v * w;
  }
  return {static_cast<int64_t>(u), static_cast<int64_t>(v), static_cast<int64_t>(q), static_cast<int64_t>(r)};
}

using Int128 = __int128;
CUZK_HD constexpr int64_t low62(Int128 x) { return static_cast<int64_t>(static_cast<uint64_t>(x) & kMask); }

// (f, g) = (u f + v g, q f + r g)/2^62, exactly; only the low `length` limbs are not zero.
template <size_t K>
CUZK_HD constexpr void apply(const Matrix& t, Signed62<K>& f, Signed62<K>& g, size_t length) {
  Int128 cf = (static_cast<Int128>(t.u) * f[0] + static_cast<Int128>(t.v) * g[0]) >> kBits;
  Int128 cg = (static_cast<Int128>(t.q) * f[0] + static_cast<Int128>(t.r) * g[0]) >> kBits;
  for (size_t i = 1; i < length; ++i) {
    cf += static_cast<Int128>(t.u) * f[i] + static_cast<Int128>(t.v) * g[i];
    cg += static_cast<Int128>(t.q) * f[i] + static_cast<Int128>(t.r) * g[i];
    f[i - 1] = low62(cf);
    g[i - 1] = low62(cg);
    cf >>= kBits;
    cg >>= kBits;
  }
  f[length - 1] = static_cast<int64_t>(cf);
  g[length - 1] = static_cast<int64_t>(cg);
}

// (d, e) = (u d + v e, q d + r e)/2^62 modulo p, both in (-2p, p) before and after. `inverse` is p^-1 mod 2^62.
template <size_t K>
CUZK_HD constexpr void apply_modular(const Matrix& t, Signed62<K>& d, Signed62<K>& e, const Signed62<K>& p,
                                     uint64_t inverse) {
  const int64_t d_sign = d[K - 1] >> 63, e_sign = e[K - 1] >> 63;
  // The multiples of p to add: p to a negative d or e first, then what makes the low limb zero.
  int64_t md = (t.u & d_sign) + (t.v & e_sign);
  int64_t me = (t.q & d_sign) + (t.r & e_sign);
  Int128 cd = static_cast<Int128>(t.u) * d[0] + static_cast<Int128>(t.v) * e[0];
  Int128 ce = static_cast<Int128>(t.q) * d[0] + static_cast<Int128>(t.r) * e[0];
  md -= static_cast<int64_t>((inverse * static_cast<uint64_t>(cd) + static_cast<uint64_t>(md)) & kMask);
  me -= static_cast<int64_t>((inverse * static_cast<uint64_t>(ce) + static_cast<uint64_t>(me)) & kMask);
  cd = (cd + static_cast<Int128>(p[0]) * md) >> kBits;
  ce = (ce + static_cast<Int128>(p[0]) * me) >> kBits;
  for (size_t i = 1; i < K; ++i) {
    cd += static_cast<Int128>(t.u) * d[i] + static_cast<Int128>(t.v) * e[i] + static_cast<Int128>(p[i]) * md;
    ce += static_cast<Int128>(t.q) * d[i] + static_cast<Int128>(t.r) * e[i] + static_cast<Int128>(p[i]) * me;
    d[i - 1] = low62(cd);
    e[i - 1] = low62(ce);
    cd >>= kBits;
    ce >>= kBits;
  }
  d[K - 1] = static_cast<int64_t>(cd);
  e[K - 1] = static_cast<int64_t>(ce);
}

// x + factor*p, limbs normalised.
template <size_t K>
CUZK_HD constexpr void add_multiple(Signed62<K>& x, const Signed62<K>& p, int64_t factor) {
  int64_t carry = 0;
  for (size_t i = 0; i + 1 < K; ++i) {
    carry += x[i] + factor * p[i];
    x[i] = static_cast<int64_t>(static_cast<uint64_t>(carry) & kMask);
    carry >>= kBits;
  }
  x[K - 1] += carry + factor * p[K - 1];
}

template <size_t K>
CUZK_HD constexpr void negate(Signed62<K>& x) {
  int64_t carry = 0;
  for (size_t i = 0; i + 1 < K; ++i) {
    carry -= x[i];
    x[i] = static_cast<int64_t>(static_cast<uint64_t>(carry) & kMask);
    carry >>= kBits;
  }
  x[K - 1] = carry - x[K - 1];
}

}  // namespace divstep

// scale/x mod p for x, scale < p, p prime; zero for x = 0. negative_inverse is -p^-1 mod 2^64. Variable time.
template <size_t N>
CUZK_HD constexpr Array<N> invert(const Array<N>& x, const Array<N>& scale, const Array<N>& p,
                                  uint64_t negative_inverse) {
  constexpr size_t K = (64 * N + 2 + divstep::kBits - 1) / divstep::kBits;
  const auto modulus = divstep::to_signed62<K>(p);
  const uint64_t inverse = 0 - negative_inverse;
  divstep::Signed62<K> f = modulus, g = divstep::to_signed62<K>(x), d{}, e = divstep::to_signed62<K>(scale);
  int64_t delta = 1;
  size_t length = K;
  for (;;) {
    const auto t = divstep::steps(delta, static_cast<uint64_t>(f[0]), static_cast<uint64_t>(g[0]));
    divstep::apply_modular<K>(t, d, e, modulus, inverse);
    divstep::apply<K>(t, f, g, length);
    int64_t any = 0;
    for (size_t i = 0; i < length; ++i) any |= g[i];
    if (any == 0) break;
#if !defined(__CUDA_ARCH__)  // a device keeps f and g in registers, which takes a constant length
    // A top limb that is only the sign of both goes into the limb below.
    const int64_t top_f = f[length - 1], top_g = g[length - 1];
    if (length > 1 && (top_f ^ top_f >> 63) == 0 && (top_g ^ top_g >> 63) == 0) {
      f[length - 2] |= static_cast<int64_t>(static_cast<uint64_t>(top_f) << divstep::kBits);
      g[length - 2] |= static_cast<int64_t>(static_cast<uint64_t>(top_g) << divstep::kBits);
      --length;
    }
#endif
  }
  // f = +-gcd(x, p) = +-1, or +-p where x = 0 (then d is a multiple of p). d is in (-2p, p).
  if (d[K - 1] < 0) divstep::add_multiple<K>(d, modulus, 1);
  if (f[length - 1] < 0) divstep::negate<K>(d);
  for (int i = 0; i < 2 && d[K - 1] < 0; ++i) divstep::add_multiple<K>(d, modulus, 1);
  return reduce_once<N>(divstep::from_signed62<N>(d), 0, p);
}

}  // namespace cuzk::limbs
