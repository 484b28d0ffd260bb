// Modular inverse by division steps (Bernstein and Yang, "Fast constant-time gcd computation and modular inversion",
// 2019), here in variable time: public values and point normalisation only, never r or s.
//
// As many steps at a time as a limb has bits depend on the lowest limbs of f and g alone; their product is a 2x2 matrix
// that is then applied to f, g (exactly) and to d, e (modulo p, with f = d*x, g = e*x mod p throughout).
//
// A CPU has limbs of 62 bits; runs of zero bits of g and up to six bits of a run of steps without a swap are taken at
// once. On a GPU, where the lanes of a warp would do so at different times and products have 64 bits, limbs have 30,
// and steps are one by one without branches, in the form that begins at delta = 1/2 (Wuille, safegcd-bounds, 2021) and
// needs fewer. There a warp that inverts mostly waits for its own last result, so the length of the chain is the time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "field/limbs.hpp"

namespace cuzk::limbs {

namespace divstep {

// Limbs of 62 bits, or of 30.
struct Wide {
  using Limb = int64_t;
  using Unsigned = uint64_t;
  using Product = __int128;
  static constexpr int kBits = 62;
};
struct Narrow {
  using Limb = int32_t;
  using Unsigned = uint32_t;
  using Product = int64_t;
  static constexpr int kBits = 30;
};
template <class W>
inline constexpr typename W::Unsigned kMask = (typename W::Unsigned{1} << W::kBits) - 1;

// A signed integer: the sum of v[i]*2^(kBits i), every limb but the last in [0, 2^kBits).
template <class W, size_t K>
using Signed = std::array<typename W::Limb, K>;
// For numbers below p and their sums and differences with p.
template <class W, size_t N>
inline constexpr size_t kLimbsFor = (64 * N + 2 + W::kBits - 1) / W::kBits;

template <class W, size_t K, size_t N>
CUZK_HD constexpr Signed<W, K> to_signed(const Array<N>& x) {
  Signed<W, K> out{};
  CUZK_UNROLL
  for (size_t i = 0; i < K; ++i) {
    const size_t bit = W::kBits * i;
    const size_t word = bit / 64, shift = bit % 64;
    uint64_t limb = word < N ? x[word] >> shift : 0;
    if (shift > 64 - W::kBits && word + 1 < N) limb |= x[word + 1] << (64 - shift);
    out[i] = static_cast<typename W::Limb>(limb & kMask<W>);
  }
  return out;
}

template <class W, size_t N, size_t K>
CUZK_HD constexpr Array<N> from_signed(const Signed<W, K>& x) {
  Array<N> out{};
  CUZK_UNROLL
  for (size_t i = 0; i < K; ++i) {
    const size_t bit = W::kBits * i;
    const size_t word = bit / 64, shift = bit % 64;
    const auto limb = static_cast<uint64_t>(x[i]);
    if (word < N) out[word] |= limb << shift;
    if (shift > 64 - W::kBits && word + 1 < N) out[word + 1] |= limb >> (64 - shift);
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

// 2^kBits times the matrix of kBits steps: (f, g) -> (u f + v g, q f + r g)/2^kBits.
template <class W>
struct Matrix {
  typename W::Limb u, v, q, r;
};

// 62 steps on the low limbs f (odd) and g; delta as in the paper.
CUZK_HD constexpr Matrix<Wide> steps(int64_t& delta, uint64_t f, uint64_t g) {
  // Unsigned, as the arithmetic is modulo 2^64; each entry is at most 2^62 in absolute value.
  uint64_t u = 1, v = 0, q = 0, r = 1;
  int left = Wide::kBits;
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

// 30 steps without branches; zeta is -(delta + 1/2).
CUZK_HD constexpr Matrix<Narrow> steps(int32_t& zeta, uint32_t f, uint32_t g) {
  uint32_t u = 1, v = 0, q = 0, r = 1;
#if defined(__CUDACC__)
#pragma unroll 5
#endif
  for (int i = 0; i < Narrow::kBits; ++i) {
    const uint32_t positive = static_cast<uint32_t>(zeta >> 31);  // all ones for delta > 0
    const uint32_t odd = 0 - (g & 1);
    // g + f or g - f, where g is odd.
    g += ((f ^ positive) - positive) & odd;
    q += ((u ^ positive) - positive) & odd;
    r += ((v ^ positive) - positive) & odd;
    // With a swap delta is 1 - delta and f the old g, that is, f + (g - f).
    const uint32_t swap = positive & odd;
    zeta = static_cast<int32_t>((static_cast<uint32_t>(zeta) ^ swap) - 1);
    f += g & swap;
    u += q & swap;
    v += r & swap;
    g >>= 1;
    u <<= 1;
    v <<= 1;
  }
  return {static_cast<int32_t>(u), static_cast<int32_t>(v), static_cast<int32_t>(q), static_cast<int32_t>(r)};
}

template <class W>
CUZK_HD constexpr typename W::Limb low_limb(typename W::Product x) {
  return static_cast<typename W::Limb>(static_cast<typename W::Unsigned>(x) & kMask<W>);
}

// (f, g) = (u f + v g, q f + r g)/2^kBits, exactly; only the low `length` limbs are not zero.
template <class W, size_t K>
CUZK_HD constexpr void apply(const Matrix<W>& t, Signed<W, K>& f, Signed<W, K>& g, size_t length) {
  using Product = typename W::Product;
  using Limb = typename W::Limb;
  Product cf = (static_cast<Product>(t.u) * f[0] + static_cast<Product>(t.v) * g[0]) >> W::kBits;
  Product cg = (static_cast<Product>(t.q) * f[0] + static_cast<Product>(t.r) * g[0]) >> W::kBits;
  CUZK_UNROLL
  for (size_t i = 1; i < length; ++i) {
    cf += static_cast<Product>(t.u) * f[i] + static_cast<Product>(t.v) * g[i];
    cg += static_cast<Product>(t.q) * f[i] + static_cast<Product>(t.r) * g[i];
    f[i - 1] = low_limb<W>(cf);
    g[i - 1] = low_limb<W>(cg);
    cf >>= W::kBits;
    cg >>= W::kBits;
  }
  f[length - 1] = static_cast<Limb>(cf);
  g[length - 1] = static_cast<Limb>(cg);
}

// (d, e) = (u d + v e, q d + r e)/2^kBits modulo p, both in (-2p, p) before and after. `inverse` is p^-1 modulo 2^64.
template <class W, size_t K>
CUZK_HD constexpr void apply_modular(const Matrix<W>& t, Signed<W, K>& d, Signed<W, K>& e, const Signed<W, K>& p,
                                     uint64_t inverse) {
  using Product = typename W::Product;
  using Limb = typename W::Limb;
  using Unsigned = typename W::Unsigned;
  const auto inverse_low = static_cast<Unsigned>(inverse);
  const Limb d_sign = d[K - 1] < 0 ? -1 : 0, e_sign = e[K - 1] < 0 ? -1 : 0;
  // The multiples of p to add: p to a negative d or e first, then what makes the low limb zero.
  Limb md = (t.u & d_sign) + (t.v & e_sign);
  Limb me = (t.q & d_sign) + (t.r & e_sign);
  Product cd = static_cast<Product>(t.u) * d[0] + static_cast<Product>(t.v) * e[0];
  Product ce = static_cast<Product>(t.q) * d[0] + static_cast<Product>(t.r) * e[0];
  md -= static_cast<Limb>((inverse_low * static_cast<Unsigned>(cd) + static_cast<Unsigned>(md)) & kMask<W>);
  me -= static_cast<Limb>((inverse_low * static_cast<Unsigned>(ce) + static_cast<Unsigned>(me)) & kMask<W>);
  cd = (cd + static_cast<Product>(p[0]) * md) >> W::kBits;
  ce = (ce + static_cast<Product>(p[0]) * me) >> W::kBits;
  CUZK_UNROLL
  for (size_t i = 1; i < K; ++i) {
    cd += static_cast<Product>(t.u) * d[i] + static_cast<Product>(t.v) * e[i] + static_cast<Product>(p[i]) * md;
    ce += static_cast<Product>(t.q) * d[i] + static_cast<Product>(t.r) * e[i] + static_cast<Product>(p[i]) * me;
    d[i - 1] = low_limb<W>(cd);
    e[i - 1] = low_limb<W>(ce);
    cd >>= W::kBits;
    ce >>= W::kBits;
  }
  d[K - 1] = static_cast<Limb>(cd);
  e[K - 1] = static_cast<Limb>(ce);
}

// x + factor*p, limbs normalised.
template <class W, size_t K>
CUZK_HD constexpr void add_multiple(Signed<W, K>& x, const Signed<W, K>& p, typename W::Limb factor) {
  typename W::Limb carry = 0;
  CUZK_UNROLL
  for (size_t i = 0; i + 1 < K; ++i) {
    carry += x[i] + factor * p[i];
    x[i] = low_limb<W>(carry);
    carry >>= W::kBits;
  }
  x[K - 1] += carry + factor * p[K - 1];
}

template <class W, size_t K>
CUZK_HD constexpr void negate(Signed<W, K>& x) {
  typename W::Limb carry = 0;
  CUZK_UNROLL
  for (size_t i = 0; i + 1 < K; ++i) {
    carry -= x[i];
    x[i] = low_limb<W>(carry);
    carry >>= W::kBits;
  }
  x[K - 1] = carry - x[K - 1];
}

template <class W, size_t N>
CUZK_HD constexpr Array<N> invert(const Array<N>& x, const Array<N>& scale, const Array<N>& p,
                                  uint64_t negative_inverse) {
  using Limb = typename W::Limb;
  constexpr size_t K = kLimbsFor<W, N>;
  const auto modulus = to_signed<W, K>(p);
  const uint64_t inverse = 0 - negative_inverse;
  Signed<W, K> f = modulus, g = to_signed<W, K>(x), d{}, e = to_signed<W, K>(scale);
  Limb state = sizeof(Limb) == 8 ? 1 : -1;  // delta = 1; zeta, for delta = 1/2
  size_t length = K;
  for (;;) {
    using Unsigned = typename W::Unsigned;
    const Matrix<W> t = steps(state, static_cast<Unsigned>(f[0]), static_cast<Unsigned>(g[0]));
    apply_modular<W, K>(t, d, e, modulus, inverse);
    apply<W, K>(t, f, g, length);
    Limb any = 0;
    CUZK_UNROLL
    for (size_t i = 0; i < length; ++i) any |= g[i];
    if (any == 0) break;
    if constexpr (sizeof(Limb) == 8) {  // a device keeps f and g in registers, which takes a constant length
      // A top limb that is only the sign of both goes into the limb below.
      const Limb top_f = f[length - 1], top_g = g[length - 1];
      if (length > 1 && (top_f ^ top_f >> 63) == 0 && (top_g ^ top_g >> 63) == 0) {
        f[length - 2] |= static_cast<Limb>(static_cast<Unsigned>(top_f) << W::kBits);
        g[length - 2] |= static_cast<Limb>(static_cast<Unsigned>(top_g) << W::kBits);
        --length;
      }
    }
  }
  // f = +-gcd(x, p) = +-1, or +-p where x = 0 (then d is a multiple of p). d is in (-2p, p).
  if (d[K - 1] < 0) add_multiple<W, K>(d, modulus, 1);
  if (f[length - 1] < 0) negate<W, K>(d);
  for (int i = 0; i < 2 && d[K - 1] < 0; ++i) add_multiple<W, K>(d, modulus, 1);
  return reduce_once<N>(from_signed<W, N>(d), 0, p);
}

}  // namespace divstep

// scale/x mod p for x, scale < p, p prime; zero for x = 0. negative_inverse is -p^-1 mod 2^64. Variable time.
template <size_t N>
CUZK_HD constexpr Array<N> invert(const Array<N>& x, const Array<N>& scale, const Array<N>& p,
                                  uint64_t negative_inverse) {
#if defined(__CUDA_ARCH__)
  return divstep::invert<divstep::Narrow, N>(x, scale, p, negative_inverse);
#else
  return divstep::invert<divstep::Wide, N>(x, scale, p, negative_inverse);
#endif
}

}  // namespace cuzk::limbs
