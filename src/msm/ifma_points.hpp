// Internal to msm/: coordinates of eight points with AVX-512 IFMA, as run_sums_ifma.cpp describes them.
#pragma once

#include "field/fp.hpp"
#include "field/ifma_lanes.hpp"

#if CUZK_X86_ASM

namespace cuzk::msm_detail {

using Lanes8 = ifma::Lanes<8>;
using Limbs8 = ifma::Limbs52<8>;

alignas(64) inline constexpr ifma::Modulus<8> kP = ifma::make_modulus<8>(FpParams::kModulus);
inline constexpr size_t kMaxRounds = 14;
inline constexpr uint64_t kProductBound = 8;  // products are below this many p, in Fp2 too

// k*p in 52-bit limbs.
constexpr Limbs8 multiple_of_p(uint64_t k) {
  std::array<uint64_t, 7> out{};
  unsigned __int128 carry = 0;
  for (size_t i = 0; i < 6; ++i) {
    carry += static_cast<unsigned __int128>(FpParams::kModulus[i]) * k;
    out[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  out[6] = static_cast<uint64_t>(carry);
  return ifma::to_limbs52<8>(out);
}
constexpr uint64_t bound_x(size_t round) {
  return round == 0 ? uint64_t{1} << 12 : 2 * bound_x(round - 1) + kProductBound;
}
constexpr uint64_t bound_y(size_t round) { return 4 + kProductBound * round; }

struct RoundBounds {
  Limbs8 x, twice_x, next_x, y;
};
inline constexpr auto kBounds = [] {
  std::array<RoundBounds, kMaxRounds> out{};
  for (size_t r = 0; r < kMaxRounds; ++r) {
    out[r] = {multiple_of_p(bound_x(r)), multiple_of_p(2 * bound_x(r)), multiple_of_p(bound_x(r + 1)),
              multiple_of_p(bound_y(r))};
  }
  return out;
}();
inline constexpr Limbs8 kFourP = multiple_of_p(4), kTwoP = multiple_of_p(2);

// 2^k mod p in 52-bit limbs.
constexpr Limbs8 power_of_two(size_t k) {
  std::array<uint64_t, 6> x{1};
  for (size_t i = 0; i < k; ++i) x = limbs::add_mod<6>(x, x, FpParams::kModulus);
  return ifma::to_limbs52<8>(x);
}
// A product with these brings: a loaded x or y back to x*2^384; v*2^416 to v*2^384; v*2^384 to v*2^416.
inline constexpr Limbs8 kUnloadX = power_of_two(404), kUnloadY = power_of_two(414), kToFp = power_of_two(384),
                        kFromFp = power_of_two(448), kOne = power_of_two(416);

// Eight elements of Fp (K = 1) or Fp2 (K = 2).
template <size_t K>
struct Element {
  Lanes8 c[K];
};

CUZK_IFMA_INLINE Element<1> mul(const Element<1>& a, const Element<1>& b) {
  return {{ifma::mul<8>(a.c[0], b.c[0], kP)}};
}
CUZK_IFMA_INLINE Element<1> sqr(const Element<1>& a) { return {{ifma::sqr<8>(a.c[0], kP)}}; }

// Karatsuba with two reductions for the three products.
CUZK_IFMA_INLINE Element<2> mul(const Element<2>& a, const Element<2>& b) {
  Lanes8 sum_a = ifma::add_limbs(a.c[0], a.c[1]), sum_b = ifma::add_limbs(b.c[0], b.c[1]);
  ifma::tidy(sum_a);
  ifma::tidy(sum_b);
  ifma::Columns<8> cross = ifma::mul_columns(sum_a, sum_b);
  const ifma::Columns<8> low = ifma::mul_columns(a.c[0], b.c[0]);
  cross = ifma::sub_columns(cross, low);
  const ifma::Columns<8> high = ifma::mul_columns(a.c[1], b.c[1]);
  cross = ifma::sub_columns(cross, high);
  ifma::Columns<8> difference = ifma::sub_columns(low, high);
  Element<2> out;
  out.c[0] = ifma::reduce_columns(difference, kP, &kTwoP);
  out.c[1] = ifma::reduce_columns(cross, kP);
  return out;
}
// Of a product, so coordinates are below kProductBound * p.
CUZK_IFMA_INLINE Element<2> sqr(const Element<2>& a) {
  constexpr Limbs8 kBound = multiple_of_p(kProductBound);
  Lanes8 sum = ifma::add_limbs(a.c[0], a.c[1]);
  Lanes8 difference = ifma::add_limbs(ifma::sub_limbs(a.c[0], a.c[1]), ifma::broadcast<8>(kBound));
  ifma::tidy(sum);
  ifma::tidy(difference);
  Element<2> out;
  out.c[0] = ifma::mul<8>(sum, difference, kP);
  const Lanes8 product = ifma::mul<8>(a.c[0], a.c[1], kP);
  out.c[1] = ifma::add_limbs(product, product);
  ifma::tidy(out.c[1]);
  return out;
}

// a - b + offset, tidy.
template <size_t K>
CUZK_IFMA_INLINE Element<K> sub(const Element<K>& a, const Element<K>& b, const Limbs8& offset) {
  Element<K> out;
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) {
    out.c[k] = ifma::add_limbs(ifma::sub_limbs(a.c[k], b.c[k]), ifma::broadcast<8>(offset));
    ifma::tidy(out.c[k]);
  }
  return out;
}

template <size_t K>
CUZK_IFMA_INLINE __mmask8 zero_lanes(const Element<K>& a) {
  __mmask8 mask = ifma::zero_lanes(a.c[0]);
  if constexpr (K == 2) mask = static_cast<__mmask8>(mask & ifma::zero_lanes(a.c[1]));
  return mask;
}

// The 64-bit words of eight coordinates, number `coordinate` (of 2K) of the points at p[0..7], shifted and cut in
// limbs. Reads 64 bytes a point; the last coordinate is read from 16 bytes earlier so as to stay within the point.
template <unsigned kShift>
CUZK_IFMA_INLINE Lanes8 load_coordinate(const uint64_t* const* p, size_t coordinate, bool last) {
  const size_t back = last ? 2 : 0;
  __m512i rows[8];
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) rows[i] = _mm512_loadu_si512(p[i] + 6 * coordinate - back);
  ifma::transpose(rows);
  return last ? ifma::from_words<8, 6, kShift>(rows + 2) : ifma::from_words<8, 6, kShift>(rows);
}

template <size_t K>
CUZK_IFMA_INLINE Element<K> load_x(const uint64_t* const* p) {
  Element<K> out;
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) out.c[k] = load_coordinate<12>(p, k, false);
  return out;
}
// The negative (4p - y) in the lanes of `negative`.
template <size_t K>
CUZK_IFMA_INLINE Element<K> load_y(const uint64_t* const* p, __mmask8 negative) {
  Element<K> out;
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) {
    Lanes8 y = k + 1 == K ? load_coordinate<2>(p, K + k, true) : load_coordinate<2>(p, K + k, false);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      y.l[i] = _mm512_mask_sub_epi64(y.l[i], negative, _mm512_set1_epi64(static_cast<int64_t>(kFourP[i])), y.l[i]);
    }
    ifma::tidy(y);
    out.c[k] = y;
  }
  return out;
}

// Slots hold points as loaded: 2K coordinates of 8 limbs, 64 bytes each.
template <size_t K>
inline constexpr size_t kSlotWords = 16 * K;

// The coordinate pair or single number `first` of the points in slots[index[0..7]].
template <size_t K>
CUZK_IFMA_INLINE Element<K> load_slots(const uint64_t* slots, const uint32_t* index, size_t first) {
  Element<K> out;
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) {
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      out.c[k].l[i] = _mm512_load_si512(slots + index[i] * kSlotWords<K> + 8 * (first + k));
    }
    ifma::transpose(out.c[k].l);
  }
  return out;
}
template <size_t K>
CUZK_IFMA_INLINE void store_slots(uint64_t* slots, const uint32_t* index, size_t first, const Element<K>& x) {
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) {
    Lanes8 rows = x.c[k];
    ifma::transpose(rows.l);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) _mm512_store_si512(slots + index[i] * kSlotWords<K> + 8 * (first + k), rows.l[i]);
  }
}

}  // namespace cuzk::msm_detail

#endif  // CUZK_X86_ASM
