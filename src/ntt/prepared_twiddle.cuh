// Products with a factor that is known beforehand, of which floor(w * 2^256 / r) is stored too. The quotient of v*w by
// r is then the high half of one product, of which the low columns are left out, and only low halves of two others are
// needed: 86 word products and 14 low ones, where Montgomery's take 112. Source: Shoup, in NTL (1990s); bounds as in
// Harvey, "Faster arithmetic for number-theoretic transforms" (2014).
#pragma once

#include <cstdint>

#include "field/fr.hpp"
#include "ntt/lazy_fr.cuh"

namespace cuzk::ntt {

struct alignas(16) PreparedTwiddle {
  Fr::Limbs factor;    // w, plain: products with elements in Montgomery form are in Montgomery form
  Fr::Limbs quotient;  // floor(w * 2^256 / r)
};

// a*b mod 2^256.
constexpr Fr::Limbs low_product(const Fr::Limbs& a, const Fr::Limbs& b) {
  Fr::Limbs out{};
  for (size_t i = 0; i < 4; ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; i + j < 4; ++j) {
      const unsigned __int128 t = static_cast<unsigned __int128>(a[i]) * b[j] + out[i + j] + carry;
      out[i + j] = static_cast<uint64_t>(t);
      carry = static_cast<uint64_t>(t >> 64);
    }
  }
  return out;
}
// small - a mod 2^256.
constexpr Fr::Limbs difference(uint64_t small, const Fr::Limbs& a) {
  Fr::Limbs out{};
  uint64_t borrow = 0;
  for (size_t j = 0; j < 4; ++j) {
    const unsigned __int128 t = static_cast<unsigned __int128>(j == 0 ? small : 0) - a[j] - borrow;
    out[j] = static_cast<uint64_t>(t);
    borrow = static_cast<uint64_t>(t >> 64) & 1;
  }
  return out;
}
// r^-1 mod 2^256: Newton's iteration, which doubles the right bits.
constexpr Fr::Limbs modulus_inverse() {
  Fr::Limbs x{1, 0, 0, 0};
  for (int i = 0; i < 8; ++i) x = low_product(x, difference(2, low_product(Fr::kModulus, x)));
  return x;
}
inline constexpr Fr::Limbs kModulusInverse = modulus_inverse();
static_assert(low_product(kModulusInverse, Fr::kModulus) == Fr::Limbs{1, 0, 0, 0});

// On the host. w*2^256 = quotient*r + (w in Montgomery form).
constexpr PreparedTwiddle prepare_twiddle(const Fr& w) {
  return {w.to_plain(), low_product(difference(0, w.montgomery()), kModulusInverse)};
}

#if defined(__CUDA_ARCH__)

// Word products into accumulators, by columns i+j of one parity: chains without a carry between.
struct HalfProducts {
  using Field = LazyFr::Field;
  __device__ __forceinline__ static uint32_t modulus_inverse(int j) {
    constexpr Fr::Limbs kInverse = kModulusInverse;
    return static_cast<uint32_t>(kInverse[j / 2] >> (32 * (j % 2)));
  }

  // even (columns 0..7) and odd (columns 1..7) += the columns below 8 of b * factor(kFirst..7).
  template <int kFirst, class Factor>
  __device__ __forceinline__ static void add_low(uint32_t (&even)[8], uint32_t (&odd)[7], const uint32_t (&b)[8],
                                                 Factor factor) {
#pragma unroll
    for (int i = 0; i + kFirst < 8; ++i) {
      add_low_row<0, kFirst>(even, odd, b[i], i, factor);
      add_low_row<1, kFirst>(even, odd, b[i], i, factor);
    }
  }

  // Words 8..15 of the sum of the columns from 6 on of a*b: below floor(a*b / 2^256) by at most 1.
  __device__ __forceinline__ static void high(uint32_t (&out)[8], const uint32_t (&a)[8], const uint32_t (&b)[8]) {
    uint32_t even[10] = {}, odd[9] = {};  // columns 6..15 and 7..15
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      add_high_row<0>(even, odd, a, b[i], i);
      add_high_row<1>(even, odd, a, b[i], i);
    }
    limbs::cuda::add_cc(even[1], odd[0]);
#pragma unroll
    for (int j = 2; j < 9; ++j) limbs::cuda::addc_cc(even[j], odd[j - 1]);
    limbs::cuda::addc(even[9], odd[8]);
#pragma unroll
    for (int j = 0; j < 8; ++j) out[j] = even[j + 2];
  }

 private:
  // The columns of one parity of row i. Chains run to the top, where their carries leave the number.
  template <int kParity, int kFirst, class Factor>
  __device__ __forceinline__ static void add_low_row(uint32_t (&even)[8], uint32_t (&odd)[7], uint32_t b, int i,
                                                     Factor factor) {
    const int first = (i + kFirst) % 2 == kParity ? i + kFirst : i + kFirst + 1;
#pragma unroll
    for (int column = first; column < 8; column += 2) {
      const uint32_t a = factor(column - i);
      uint32_t& low = kParity == 0 ? even[column] : odd[column - 1];
      column == first ? limbs::cuda::mad_lo_cc(low, a, b) : limbs::cuda::madc_lo_cc(low, a, b);
      if (column < 7) limbs::cuda::madc_hi_cc(kParity == 0 ? even[column + 1] : odd[column], a, b);
    }
  }
  // The last pair of a chain that ends in column i+7 was empty but for one carry; one that ends in i+6 carries.
  template <int kParity>
  __device__ __forceinline__ static void add_high_row(uint32_t (&even)[10], uint32_t (&odd)[9], const uint32_t (&a)[8],
                                                      uint32_t b, int i) {
    const int begin = i < 6 ? 6 : i;
    const int first = begin % 2 == kParity ? begin : begin + 1;
    int last = 0;
#pragma unroll
    for (int column = first; column < i + 8; column += 2) {
      uint32_t& low = kParity == 0 ? even[column - 6] : odd[column - 7];
      uint32_t& high = kParity == 0 ? even[column - 5] : odd[column - 6];
      column == first ? limbs::cuda::mad_lo_cc(low, a[column - i], b) : limbs::cuda::madc_lo_cc(low, a[column - i], b);
      limbs::cuda::madc_hi_cc(high, a[column - i], b);
      last = column;
    }
    if (i > 0 && last == i + 6) limbs::cuda::addc(kParity == 0 ? even[last - 4] : odd[last - 5], 0);
  }
};

struct Prepared {
  uint32_t factor[8], quotient[8];

  __device__ __forceinline__ static Prepared load(const PreparedTwiddle* p) {
    const LazyFr w = LazyFr::load(reinterpret_cast<const Fr*>(p)), q = LazyFr::load(reinterpret_cast<const Fr*>(p) + 1);
    Prepared out;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      out.factor[j] = w.w[j];
      out.quotient[j] = q.w[j];
    }
    return out;
  }
  __device__ __forceinline__ void store(PreparedTwiddle* p) const {
    LazyFr w, q;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      w.w[j] = factor[j];
      q.w[j] = quotient[j];
    }
    w.store(reinterpret_cast<Fr*>(p));
    q.store(reinterpret_cast<Fr*>(p) + 1);
  }
  // As prepare_twiddle, of a reduced w.
  __device__ __forceinline__ static Prepared of(const LazyFr& w) {
    Prepared out;
    LazyFr one = {{1, 0, 0, 0, 0, 0, 0, 0}};
    LazyFr plain = LazyFr::mul(w, one);
    plain.reduce_once();
    uint32_t even[8] = {}, odd[7] = {};
    HalfProducts::add_low<0>(even, odd, w.w, [](int j) { return HalfProducts::modulus_inverse(j); });
    limbs::cuda::add_cc(even[1], odd[0]);
#pragma unroll
    for (int j = 2; j < 8; ++j) limbs::cuda::addc_cc(even[j], odd[j - 1]);
    uint32_t zero = 0;
    limbs::cuda::sub_cc(zero, even[0]);
    out.quotient[0] = zero;
#pragma unroll
    for (int j = 1; j < 8; ++j) {
      zero = 0;
      limbs::cuda::subc_cc(zero, even[j]);
      out.quotient[j] = zero;
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) out.factor[j] = plain.w[j];
    return out;
  }

  // w*v < 2r for v < 2^256 - 2^232. With q at most 1 and 6*2^-32 below v*w/r, in units of r the remainder is below
  // 1 + v/2^256 + 6*2^-32.
  __device__ __forceinline__ LazyFr mul(const LazyFr& v) const {
    uint32_t q[8];
    HalfProducts::high(q, quotient, v.w);
    // -r = 2^32 - 1 + 2^64 * ~(r/2^64): q*2^32 is there from the start, q is subtracted last.
    uint32_t even[8] = {}, odd[7];
#pragma unroll
    for (int j = 0; j < 7; ++j) odd[j] = q[j];
    HalfProducts::add_low<0>(even, odd, v.w, [this](int j) { return factor[j]; });
    HalfProducts::add_low<2>(even, odd, q, [](int j) { return ~LazyFr::Field::modulus(j); });
    limbs::cuda::add_cc(even[1], odd[0]);
#pragma unroll
    for (int j = 2; j < 8; ++j) limbs::cuda::addc_cc(even[j], odd[j - 1]);
    limbs::cuda::sub_cc(even[0], q[0]);
#pragma unroll
    for (int j = 1; j < 8; ++j) limbs::cuda::subc_cc(even[j], q[j]);
    LazyFr out;
#pragma unroll
    for (int j = 0; j < 8; ++j) out.w[j] = even[j];
    return out;
  }
};

#else

struct Prepared {
  Fr w;
  static Prepared load(const PreparedTwiddle* p) { return {Fr::from_plain(p->factor)}; }
  void store(PreparedTwiddle* p) const { *p = prepare_twiddle(w); }
  static Prepared of(const LazyFr& w) { return {w.v}; }
  LazyFr mul(const LazyFr& v) const { return {w * v.v}; }
};

#endif

}  // namespace cuzk::ntt
