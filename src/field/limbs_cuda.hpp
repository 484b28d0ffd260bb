// Montgomery arithmetic on a CUDA device: 32-bit limbs, carries in the condition code. Included by prime_field.hpp;
// only the device pass of nvcc sees the bodies.
//
// A product row is two carry chains. With E in positions 0..n-1 and O in positions 1..n, t = E + 2^32*O: products of
// even limbs of a fall on pairs of E, those of odd limbs on pairs of O, so each chain is MAD.LO.CC, MADC.HI.CC
// alternately with no additions between. Division by 2^32 after the reduction swaps the roles: O becomes E, and E
// without its two low limbs (one zero, one added to the new E) becomes O. Source for the layout: Emmart, Zheng, Weems,
// "Faster modular exponentiation using double precision floating point arithmetic on the GPU" (2018), section on the
// integer baseline.
#pragma once

#if defined(__CUDA_ARCH__)

#include <array>
#include <cstddef>
#include <cstdint>

namespace cuzk::limbs::cuda {

// One instruction each. volatile keeps them in order, and with it the carry between them.
__device__ __forceinline__ void mad_lo_cc(uint32_t& t, uint32_t a, uint32_t b) {
  asm volatile("mad.lo.cc.u32 %0, %1, %2, %0;" : "+r"(t) : "r"(a), "r"(b));
}
__device__ __forceinline__ void madc_lo_cc(uint32_t& t, uint32_t a, uint32_t b) {
  asm volatile("madc.lo.cc.u32 %0, %1, %2, %0;" : "+r"(t) : "r"(a), "r"(b));
}
__device__ __forceinline__ void madc_hi_cc(uint32_t& t, uint32_t a, uint32_t b) {
  asm volatile("madc.hi.cc.u32 %0, %1, %2, %0;" : "+r"(t) : "r"(a), "r"(b));
}
__device__ __forceinline__ void add_cc(uint32_t& t, uint32_t a) {
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(t) : "r"(a));
}
__device__ __forceinline__ void addc_cc(uint32_t& t, uint32_t a) {
  asm volatile("addc.cc.u32 %0, %0, %1;" : "+r"(t) : "r"(a));
}
__device__ __forceinline__ void addc(uint32_t& t, uint32_t a) {
  asm volatile("addc.u32 %0, %0, %1;" : "+r"(t) : "r"(a));
}
__device__ __forceinline__ void sub_cc(uint32_t& t, uint32_t a) {
  asm volatile("sub.cc.u32 %0, %0, %1;" : "+r"(t) : "r"(a));
}
__device__ __forceinline__ void subc_cc(uint32_t& t, uint32_t a) {
  asm volatile("subc.cc.u32 %0, %0, %1;" : "+r"(t) : "r"(a));
}
__device__ __forceinline__ void subc(uint32_t& t, uint32_t a) {
  asm volatile("subc.u32 %0, %0, %1;" : "+r"(t) : "r"(a));
}
// All ones where the chain before borrowed, else zero.
__device__ __forceinline__ uint32_t borrow_mask() {
  uint32_t mask;
  asm volatile("subc.u32 %0, 0, 0;" : "=r"(mask));
  return mask;
}

template <class Params>
struct Field {
  static constexpr size_t kWords = 2 * Params::kModulus.size();
  using Limbs = std::array<uint64_t, kWords / 2>;

  // Word j of the modulus; an immediate in unrolled code.
  __device__ static constexpr uint32_t modulus(size_t j) {
    constexpr Limbs kModulus = Params::kModulus;
    return static_cast<uint32_t>(kModulus[j / 2] >> (32 * (j % 2)));
  }
  // -modulus^-1 mod 2^32.
  __device__ static constexpr uint32_t negative_inverse() {
    uint32_t x = 1;
    for (int i = 0; i < 5; ++i) x *= 2 - modulus(0) * x;
    return 0 - x;
  }
  __device__ __forceinline__ static void split(uint32_t (&out)[kWords], const Limbs& in) {
#pragma unroll
    for (size_t j = 0; j < kWords; ++j) out[j] = static_cast<uint32_t>(in[j / 2] >> (32 * (j % 2)));
  }
  __device__ __forceinline__ static Limbs join(const uint32_t (&in)[kWords]) {
    Limbs out;
#pragma unroll
    for (size_t j = 0; j < kWords; j += 2) out[j / 2] = in[j] | static_cast<uint64_t>(in[j + 1]) << 32;
    return out;
  }

  // t minus the modulus where that is not negative.
  __device__ __forceinline__ static void reduce_once(uint32_t (&t)[kWords]) {
    uint32_t reduced[kWords];
#pragma unroll
    for (size_t j = 0; j < kWords; ++j) reduced[j] = t[j];
    sub_cc(reduced[0], modulus(0));
#pragma unroll
    for (size_t j = 1; j < kWords; ++j) subc_cc(reduced[j], modulus(j));
    const uint32_t borrowed = borrow_mask();
#pragma unroll
    for (size_t j = 0; j < kWords; ++j) t[j] = borrowed != 0 ? t[j] : reduced[j];
  }

  __device__ __forceinline__ static Limbs add(const Limbs& a, const Limbs& b) {
    uint32_t t[kWords], s[kWords];
    split(t, a);
    split(s, b);
    add_cc(t[0], s[0]);
#pragma unroll
    for (size_t j = 1; j < kWords; ++j) addc_cc(t[j], s[j]);
    reduce_once(t);
    return join(t);
  }

  __device__ __forceinline__ static Limbs sub(const Limbs& a, const Limbs& b) {
    uint32_t t[kWords], s[kWords];
    split(t, a);
    split(s, b);
    sub_cc(t[0], s[0]);
#pragma unroll
    for (size_t j = 1; j < kWords; ++j) subc_cc(t[j], s[j]);
    const uint32_t borrowed = borrow_mask();
    add_cc(t[0], modulus(0) & borrowed);
#pragma unroll
    for (size_t j = 1; j < kWords; ++j) addc_cc(t[j], modulus(j) & borrowed);
    return join(t);
  }

  // Fr's modulus r is 1 - 2^32 + 2^64*u. With q = t mod 2^32, t - q*r is divisible by 2^32, and of q*r's eight word
  // products two are additions: t - q*r = t - q + 2^32*q + 2^64*q*~(r/2^64) - 2^256*q, where ~ is of 192 bits. To keep
  // t from becoming negative, c*2^256 with c = r/2^224 + 1 is added in each row; that leaves a constant to subtract in
  // the end.
  static constexpr bool kSparseLow = Params::kModulus[0] == 0xffffffff00000001;
  __device__ static constexpr uint32_t row_constant() { return modulus(kWords - 1) + 1; }
  // Word j of (c + c*2^32 + ... ) - r.
  __device__ static constexpr uint32_t constant_left(size_t j) {
    uint32_t word = 0;
    bool borrow = false;
    for (size_t i = 0; i <= j; ++i) {
      const uint64_t taken = uint64_t{modulus(i)} + (borrow ? 1 : 0);
      borrow = row_constant() < taken;
      word = row_constant() - static_cast<uint32_t>(taken);
    }
    return word;
  }

  // even/odd += m*modulus with the m that makes even[0] zero. (Sparse form: even[0] is left as it was, for nobody.)
  // Sparse form: `top` is for the top word of odd: c - q and what even's products carried.
  __device__ __forceinline__ static void reduce_row(uint32_t (&even)[kWords], uint32_t (&odd)[kWords], uint32_t top) {
    if constexpr (kSparseLow) {
      const uint32_t q = even[0];
      add_cc(odd[0], q);
      addc_cc(odd[1], 0);
#pragma unroll
      for (size_t j = 2; j < kWords; j += 2) {
        madc_lo_cc(odd[j], ~modulus(j + 1), q);
        madc_hi_cc(odd[j + 1], ~modulus(j + 1), q);
      }
      mad_lo_cc(even[2], ~modulus(2), q);
      madc_hi_cc(even[3], ~modulus(2), q);
#pragma unroll
      for (size_t j = 4; j < kWords; j += 2) {
        madc_lo_cc(even[j], ~modulus(j), q);
        madc_hi_cc(even[j + 1], ~modulus(j), q);
      }
      addc(odd[kWords - 1], top);
      return;
    }
    const uint32_t m = even[0] * negative_inverse();
    mad_lo_cc(odd[0], modulus(1), m);
    madc_hi_cc(odd[1], modulus(1), m);
#pragma unroll
    for (size_t j = 2; j < kWords; j += 2) {
      madc_lo_cc(odd[j], modulus(j + 1), m);
      madc_hi_cc(odd[j + 1], modulus(j + 1), m);
    }
    even_chain(even, m, [](size_t j) { return modulus(j); });
    addc(odd[kWords - 1], 0);
  }

  // even += sum over even j of factor(j)*b*2^(32 j); the carry stays in the condition code.
  template <class Factor>
  __device__ __forceinline__ static void even_chain(uint32_t (&even)[kWords], uint32_t b, Factor factor) {
    mad_lo_cc(even[0], factor(0), b);
    madc_hi_cc(even[1], factor(0), b);
#pragma unroll
    for (size_t j = 2; j < kWords; j += 2) {
      madc_lo_cc(even[j], factor(j), b);
      madc_hi_cc(even[j + 1], factor(j), b);
    }
  }

  // t/2^32 + a*b, then the reduction step, for t = spent + 2^32*even with spent[0] = 0; `spent` becomes the odd half.
  __device__ __forceinline__ static void row(uint32_t (&even)[kWords], uint32_t (&spent)[kWords],
                                             const uint32_t (&a)[kWords], uint32_t b) {
    add_cc(even[0], spent[1]);
#pragma unroll
    for (size_t j = 0; j < kWords; j += 2) {
      const bool last = j + 2 >= kWords;
      spent[j] = last ? 0 : spent[last ? j : j + 2];
      madc_lo_cc(spent[j], a[j + 1], b);
      spent[j + 1] = last ? 0 : spent[last ? j : j + 3];
      madc_hi_cc(spent[j + 1], a[j + 1], b);
    }
    even_chain(even, b, [&a](size_t j) { return a[j]; });
    if constexpr (kSparseLow) {
      uint32_t top = row_constant() - even[0];
      addc(top, 0);
      reduce_row(even, spent, top);
    } else {
      addc(spent[kWords - 1], 0);
      reduce_row(even, spent, 0);
    }
  }

  // a*b/2^(32 kWords) modulo the modulus.
  __device__ __forceinline__ static Limbs mul(const Limbs& a64, const Limbs& b64) {
    uint32_t a[kWords], b[kWords], out[kWords];
    split(a, a64);
    split(b, b64);
    mul_unreduced(out, a, b);
    reduce_once(out);
    return join(out);
  }

  // a*b/2^(32 kWords), below twice the modulus, for a below the modulus and any b. The modulus leaves its top bit free,
  // so that t < 2*modulus between rows and nothing carries out of position n. `out` may be a or b.
  __device__ __forceinline__ static void mul_unreduced(uint32_t (&out)[kWords], const uint32_t (&a)[kWords],
                                                       const uint32_t (&b)[kWords]) {
    uint32_t even[kWords], odd[kWords];
#pragma unroll
    for (size_t j = 0; j < kWords; j += 2) {
      const uint64_t low = static_cast<uint64_t>(a[j]) * b[0], high = static_cast<uint64_t>(a[j + 1]) * b[0];
      even[j] = static_cast<uint32_t>(low);
      even[j + 1] = static_cast<uint32_t>(low >> 32);
      odd[j] = static_cast<uint32_t>(high);
      odd[j + 1] = static_cast<uint32_t>(high >> 32);
    }
    reduce_row(even, odd, kSparseLow ? row_constant() - even[0] : 0);
#pragma unroll
    for (size_t i = 1; i < kWords; ++i) {
      if (i % 2 == 1) {
        row(odd, even, a, b[i]);
      } else {
        row(even, odd, a, b[i]);
      }
    }
    // kWords is even: the last row left the zero limb in `odd`, and t/2^32 = even + (odd without its low limb).
    add_cc(even[0], odd[1]);
#pragma unroll
    for (size_t j = 1; j + 1 < kWords; ++j) addc_cc(even[j], odd[j + 1]);
    addc(even[kWords - 1], 0);
    if constexpr (kSparseLow) {
      sub_cc(even[0], constant_left(0));
#pragma unroll
      for (size_t j = 1; j + 1 < kWords; ++j) subc_cc(even[j], constant_left(j));
      subc(even[kWords - 1], constant_left(kWords - 1));
    }
#pragma unroll
    for (size_t j = 0; j < kWords; ++j) out[j] = even[j];
  }
};

}  // namespace cuzk::limbs::cuda

#endif  // __CUDA_ARCH__
