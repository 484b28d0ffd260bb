// Eight residues at a time with AVX-512 IFMA: radix 2^52, N limbs, one residue a lane. For modules whose inner loops
// are independent field operations (msm/, ntt/).
//
// Reduction is lazy. A value is any integer in [0, 2^(52N)) whose residue is meant; "tidy" limbs are below 2^52.
// Products are Montgomery products with R = 2^(52N): for tidy a, b with a*b < B*p*R the result is tidy and below (1 +
// B)*p. Sums are only tidied; callers keep the bounds, which the spare bits make easy: N = 8 for p of 381 bits has 35,
// N = 5 for r of 255 bits has 5.
//
// Include from sources that check cpu_features().avx512_ifma before they call; every function carries the target
// attribute, so the rest of the source is compiled for the baseline.
// Source: Gueron and Krasnov, "Accelerating big integer arithmetic using Intel IFMA extensions" (2016).
#pragma once

#include "field/cpu_features.hpp"

#if CUZK_X86_ASM

// GCC 12 takes its own _mm512_undefined_epi32 for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#define CUZK_IFMA_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma,bmi2")))
#define CUZK_IFMA_INLINE CUZK_IFMA_TARGET __attribute__((always_inline)) inline

namespace cuzk::ifma {

inline constexpr uint64_t kMask52 = (uint64_t{1} << 52) - 1;

template <size_t N>
struct alignas(64) Lanes {
  __m512i l[N];
};
// The same number in every lane.
template <size_t N>
using Limbs52 = std::array<uint64_t, N>;

// The integer in 64-bit limbs, in 52-bit limbs; must fit.
template <size_t N, size_t M>
constexpr Limbs52<N> to_limbs52(const std::array<uint64_t, M>& x) {
  Limbs52<N> out{};
  for (size_t i = 0; i < N; ++i) {
    const size_t word = 52 * i / 64;
    const unsigned within = 52 * i % 64;
    if (word >= M) break;
    out[i] = x[word] >> within;
    if (within > 12 && word + 1 < M) out[i] |= x[word + 1] << (64 - within);
    out[i] &= kMask52;
  }
  return out;
}

// Constants of a modulus p in N limbs.
template <size_t N>
struct alignas(64) Modulus {
  // Each limb of p repeated for all lanes, so that it can be a memory operand.
  std::array<std::array<uint64_t, 8>, N> p;
  std::array<uint64_t, 8> inverse;  // -p^-1 mod 2^52
};
template <size_t N, size_t M>
constexpr Modulus<N> make_modulus(const std::array<uint64_t, M>& p) {
  Modulus<N> out{};
  const Limbs52<N> limbs = to_limbs52<N>(p);
  uint64_t x = 1;
  for (int i = 0; i < 6; ++i) x *= 2 - p[0] * x;
  for (size_t lane = 0; lane < 8; ++lane) {
    for (size_t i = 0; i < N; ++i) out.p[i][lane] = limbs[i];
    out.inverse[lane] = (0 - x) & kMask52;
  }
  return out;
}

CUZK_IFMA_INLINE __m512i load512(const void* p) { return _mm512_load_si512(p); }
CUZK_IFMA_INLINE __m512i mask52() { return _mm512_set1_epi64(static_cast<int64_t>(kMask52)); }

template <size_t N>
CUZK_IFMA_INLINE Lanes<N> broadcast(const Limbs52<N>& x) {
  Lanes<N> out;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) out.l[i] = _mm512_set1_epi64(static_cast<int64_t>(x[i]));
  return out;
}

// Limbs as signed 64-bit numbers to tidy ones; the whole must be in [0, 2^(52N)).
template <size_t N>
CUZK_IFMA_INLINE void tidy(Lanes<N>& x) {
#pragma GCC unroll 8
  for (size_t i = 0; i + 1 < N; ++i) {
    x.l[i + 1] = _mm512_add_epi64(x.l[i + 1], _mm512_srai_epi64(x.l[i], 52));
    x.l[i] = _mm512_and_si512(x.l[i], mask52());
  }
}

// Limb by limb, untidy.
template <size_t N>
CUZK_IFMA_INLINE Lanes<N> add_limbs(const Lanes<N>& a, const Lanes<N>& b) {
  Lanes<N> out;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) out.l[i] = _mm512_add_epi64(a.l[i], b.l[i]);
  return out;
}
template <size_t N>
CUZK_IFMA_INLINE Lanes<N> sub_limbs(const Lanes<N>& a, const Lanes<N>& b) {
  Lanes<N> out;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) out.l[i] = _mm512_sub_epi64(a.l[i], b.l[i]);
  return out;
}

// The 2N columns of a product, or of a sum or difference of a few.
template <size_t N>
struct alignas(64) Columns {
  __m512i t[2 * N];
};

// The integer c/R modulo p, tidy: N steps that clear a column each. Columns are signed, at most 2^52 * 8N each way; the
// whole must be at least -k*p*R for the `offset` k*p, which is added to the result.
template <size_t N>
CUZK_IFMA_INLINE Lanes<N> reduce_columns(Columns<N>& c, const Modulus<N>& m, const Limbs52<N>* offset = nullptr) {
  auto& t = c.t;
  const __m512i inverse = load512(m.inverse.data());
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) {
    const __m512i q = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[i], inverse);
#pragma GCC unroll 8
    for (size_t j = 1; j < N; ++j) t[i + j] = _mm512_madd52lo_epu64(t[i + j], q, load512(m.p[j].data()));
    // t[i] + lo(q*p[0]) is a multiple of 2^52, so that its carry needs no product.
    t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srai_epi64(_mm512_add_epi64(t[i], mask52()), 52));
#pragma GCC unroll 8
    for (size_t j = 0; j < N; ++j) t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], q, load512(m.p[j].data()));
  }
  Lanes<N> out;
#pragma GCC unroll 8
  for (size_t j = 0; j < N; ++j) out.l[j] = t[N + j];
  if (offset != nullptr) out = add_limbs(out, broadcast<N>(*offset));
  tidy(out);
  return out;
}

template <size_t N>
CUZK_IFMA_INLINE Columns<N> mul_columns(const Lanes<N>& x, const Lanes<N>& y) {
  Columns<N> out;
  auto& t = out.t;
#pragma GCC unroll 16
  for (size_t j = 0; j < 2 * N; ++j) t[j] = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) {
#pragma GCC unroll 8
    for (size_t j = 0; j < N; ++j) t[i + j] = _mm512_madd52lo_epu64(t[i + j], x.l[i], y.l[j]);
#pragma GCC unroll 8
    for (size_t j = 0; j < N; ++j) t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], x.l[i], y.l[j]);
  }
  return out;
}
template <size_t N>
CUZK_IFMA_INLINE Columns<N> sub_columns(const Columns<N>& x, const Columns<N>& y) {
  Columns<N> out;
#pragma GCC unroll 16
  for (size_t j = 0; j < 2 * N; ++j) out.t[j] = _mm512_sub_epi64(x.t[j], y.t[j]);
  return out;
}

// x*y/R, tidy.
template <size_t N>
CUZK_IFMA_INLINE Lanes<N> mul(const Lanes<N>& x, const Lanes<N>& y, const Modulus<N>& m) {
  Columns<N> c = mul_columns(x, y);
  return reduce_columns(c, m);
}

// x*x/R, tidy.
template <size_t N>
CUZK_IFMA_INLINE Lanes<N> sqr(const Lanes<N>& x, const Modulus<N>& m) {
  Columns<N> c;
  auto& t = c.t;
#pragma GCC unroll 16
  for (size_t j = 0; j < 2 * N; ++j) t[j] = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) {
#pragma GCC unroll 8
    for (size_t j = i + 1; j < N; ++j) t[i + j] = _mm512_madd52lo_epu64(t[i + j], x.l[i], x.l[j]);
#pragma GCC unroll 8
    for (size_t j = i + 1; j < N; ++j) t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], x.l[i], x.l[j]);
  }
#pragma GCC unroll 16
  for (size_t j = 0; j < 2 * N; ++j) t[j] = _mm512_add_epi64(t[j], t[j]);
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) {
    t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], x.l[i], x.l[i]);
    t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], x.l[i], x.l[i]);
  }
  return reduce_columns(c, m);
}

// x (tidy, below 2p) minus p where it is not below p.
template <size_t N>
CUZK_IFMA_INLINE void reduce_once(Lanes<N>& x, const Modulus<N>& m) {
  Lanes<N> t;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) t.l[i] = _mm512_sub_epi64(x.l[i], load512(m.p[i].data()));
  tidy(t);
  const __mmask8 negative = _mm512_movepi64_mask(t.l[N - 1]);
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) x.l[i] = _mm512_mask_mov_epi64(t.l[i], negative, x.l[i]);
}

// Lanes whose limbs are all zero.
template <size_t N>
CUZK_IFMA_INLINE __mmask8 zero_lanes(const Lanes<N>& x) {
  __m512i any = x.l[0];
#pragma GCC unroll 8
  for (size_t i = 1; i < N; ++i) any = _mm512_or_si512(any, x.l[i]);
  return _mm512_testn_epi64_mask(any, any);
}

// Column j of the 8 x 8 matrix whose rows are r[0..7] becomes row j.
CUZK_IFMA_INLINE void transpose(__m512i (&r)[8]) {
  __m512i t[8];
#pragma GCC unroll 4
  for (size_t i = 0; i < 4; ++i) {
    t[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
  }
  __m512i u[8];
#pragma GCC unroll 2
  for (size_t k = 0; k < 2; ++k) {                              // k: even or odd columns
    u[k] = _mm512_shuffle_i64x2(t[k], t[2 + k], 0x88);          // column pairs 0, 4 of rows 0..3
    u[2 + k] = _mm512_shuffle_i64x2(t[k], t[2 + k], 0xdd);      // 2, 6
    u[4 + k] = _mm512_shuffle_i64x2(t[4 + k], t[6 + k], 0x88);  // of rows 4..7
    u[6 + k] = _mm512_shuffle_i64x2(t[4 + k], t[6 + k], 0xdd);
  }
#pragma GCC unroll 2
  for (size_t k = 0; k < 2; ++k) {
    r[k] = _mm512_shuffle_i64x2(u[k], u[4 + k], 0x88);
    r[4 + k] = _mm512_shuffle_i64x2(u[k], u[4 + k], 0xdd);
    r[2 + k] = _mm512_shuffle_i64x2(u[2 + k], u[6 + k], 0x88);
    r[6 + k] = _mm512_shuffle_i64x2(u[2 + k], u[6 + k], 0xdd);
  }
}

// M words of 64 bits a lane, times 2^kShift, as N limbs of 52 bits; must fit.
template <size_t N, size_t M, unsigned kShift>
CUZK_IFMA_INLINE Lanes<N> from_words(const __m512i* w) {
  Lanes<N> out;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) {
    if (52 * i < kShift) {  // the lowest limb of a shifted number
      out.l[i] = _mm512_and_si512(_mm512_slli_epi64(w[0], kShift), mask52());
      continue;
    }
    const size_t start = 52 * i - kShift, q = start / 64;
    const unsigned r = start % 64;
    __m512i v = q < M ? _mm512_srli_epi64(w[q < M ? q : 0], r) : _mm512_setzero_si512();
    if (r > 12 && q + 1 < M) v = _mm512_or_si512(v, _mm512_slli_epi64(w[q + 1 < M ? q + 1 : 0], 64 - r));
    out.l[i] = i + 1 < N ? _mm512_and_si512(v, mask52()) : v;
  }
  return out;
}

// The reverse of from_words with kShift = 0; x tidy and below 2^(64M).
template <size_t N, size_t M>
CUZK_IFMA_INLINE void to_words(const Lanes<N>& x, __m512i* w) {
#pragma GCC unroll 8
  for (size_t i = 0; i < M; ++i) {
    const size_t first = 64 * i / 52;
    const unsigned r = 64 * i % 52;
    __m512i v = _mm512_srli_epi64(x.l[first], r);
    if (first + 1 < N) v = _mm512_or_si512(v, _mm512_slli_epi64(x.l[first + 1 < N ? first + 1 : 0], 52 - r));
    if (104 - r < 64 && first + 2 < N) {
      v = _mm512_or_si512(v, _mm512_slli_epi64(x.l[first + 2 < N ? first + 2 : 0], 104 - r));
    }
    w[i] = v;
  }
}

}  // namespace cuzk::ifma

#endif  // CUZK_X86_ASM
