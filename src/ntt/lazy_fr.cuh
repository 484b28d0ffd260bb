// Fr inside a transform on the device: a residue in 256 bits that is not reduced more than it must be.
//
// Bounds, with r the modulus and 2r < 2^256 < 3r: the product of a value < r with any 256 bits is < 2r; any 256 bits
// plus or minus a product < 2r is brought back to 256 bits by one subtraction or addition of 2r where the carry says
// so, without a comparison. On the host (tests that emulate the kernels) every value is an Fr.
#pragma once

#include <cstdint>

#include "field/fr.hpp"

namespace cuzk::ntt {

#if defined(__CUDA_ARCH__)

struct LazyFr {
  using Field = limbs::cuda::Field<FrParams>;
  uint32_t w[8];

  __device__ __forceinline__ static LazyFr load(const Fr* p) {
    const uint4 low = reinterpret_cast<const uint4*>(p)[0], high = reinterpret_cast<const uint4*>(p)[1];
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
  }
  // Through the read-only cache: for tables.
  __device__ __forceinline__ static LazyFr load_table(const Fr* p) {
    const uint4 low = __ldg(reinterpret_cast<const uint4*>(p)), high = __ldg(reinterpret_cast<const uint4*>(p) + 1);
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
  }
  __device__ __forceinline__ void store(Fr* p) const {
    reinterpret_cast<uint4*>(p)[0] = make_uint4(w[0], w[1], w[2], w[3]);
    reinterpret_cast<uint4*>(p)[1] = make_uint4(w[4], w[5], w[6], w[7]);
  }
  __device__ static constexpr uint32_t twice_modulus(int j) {
    return (Field::modulus(j) << 1) | (j > 0 ? Field::modulus(j > 0 ? j - 1 : 0) >> 31 : 0);
  }

  // factor < r, value any; the product is < 2r.
  __device__ __forceinline__ static LazyFr mul(const LazyFr& factor, const LazyFr& value) {
    LazyFr out;
    Field::mul_unreduced(out.w, factor.w, value.w);
    return out;
  }
  // From < 2r to < r.
  __device__ __forceinline__ void reduce_once() { Field::reduce_once(w); }
  // From any to < r.
  __device__ __forceinline__ void reduce() {
    subtract_twice_modulus_if_not_less(0);
    Field::reduce_once(w);
  }

  // a and the sum < B, t < 2r.
  __device__ __forceinline__ static LazyFr add(const LazyFr& a, const LazyFr& t) {
    LazyFr s = a;
    uint32_t carry = s.add_words(t);
    asm volatile(
        "{ .reg .pred p;\n\t"
        "setp.ne.u32 p, %8, 0;\n\t"
        "setp.ge.or.u32 p, %7, 0xffffff00, p;\n\t"
        "@p sub.cc.u32 %0, %0, %9;\n\t"
        "@p subc.cc.u32 %1, %1, %10;\n\t"
        "@p subc.cc.u32 %2, %2, %11;\n\t"
        "@p subc.cc.u32 %3, %3, %12;\n\t"
        "@p subc.cc.u32 %4, %4, %13;\n\t"
        "@p subc.cc.u32 %5, %5, %14;\n\t"
        "@p subc.cc.u32 %6, %6, %15;\n\t"
        "@p subc.u32 %7, %7, %16; }"
        : "+r"(s.w[0]), "+r"(s.w[1]), "+r"(s.w[2]), "+r"(s.w[3]), "+r"(s.w[4]), "+r"(s.w[5]), "+r"(s.w[6]), "+r"(s.w[7])
        : "r"(carry), "n"(twice_modulus(0)), "n"(twice_modulus(1)), "n"(twice_modulus(2)), "n"(twice_modulus(3)),
          "n"(twice_modulus(4)), "n"(twice_modulus(5)), "n"(twice_modulus(6)), "n"(twice_modulus(7)));
    return s;
  }
  // a and the difference < B, t < 2r; or all < 2r.
  __device__ __forceinline__ static LazyFr sub(const LazyFr& a, const LazyFr& t) {
    LazyFr d = a;
    limbs::cuda::sub_cc(d.w[0], t.w[0]);
#pragma unroll
    for (int j = 1; j < 8; ++j) limbs::cuda::subc_cc(d.w[j], t.w[j]);
    const uint32_t borrow = limbs::cuda::borrow_mask();
    asm volatile(
        "{ .reg .pred p;\n\t"
        "setp.ne.u32 p, %8, 0;\n\t"
        "@p add.cc.u32 %0, %0, %9;\n\t"
        "@p addc.cc.u32 %1, %1, %10;\n\t"
        "@p addc.cc.u32 %2, %2, %11;\n\t"
        "@p addc.cc.u32 %3, %3, %12;\n\t"
        "@p addc.cc.u32 %4, %4, %13;\n\t"
        "@p addc.cc.u32 %5, %5, %14;\n\t"
        "@p addc.cc.u32 %6, %6, %15;\n\t"
        "@p addc.u32 %7, %7, %16; }"
        : "+r"(d.w[0]), "+r"(d.w[1]), "+r"(d.w[2]), "+r"(d.w[3]), "+r"(d.w[4]), "+r"(d.w[5]), "+r"(d.w[6]), "+r"(d.w[7])
        : "r"(borrow), "n"(twice_modulus(0)), "n"(twice_modulus(1)), "n"(twice_modulus(2)), "n"(twice_modulus(3)),
          "n"(twice_modulus(4)), "n"(twice_modulus(5)), "n"(twice_modulus(6)), "n"(twice_modulus(7)));
    return d;
  }
  // Both and the sum < 2r.
  __device__ __forceinline__ static LazyFr add_below_twice(const LazyFr& a, const LazyFr& b) {
    LazyFr s = a;
    const uint32_t carry = s.add_words(b);
    s.subtract_twice_modulus_if_not_less(carry);
    return s;
  }
  // value / 2^bits, 0 < bits < 32, for a value < 2r; the quotient is < 2r. One row of a Montgomery reduction.
  __device__ __forceinline__ void divide_by_power(unsigned bits) {
    const uint32_t m = (0 - w[0]) & ((1U << bits) - 1);
    uint32_t high[9];
    uint64_t carry = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      carry += static_cast<uint64_t>(m) * Field::modulus(j) + w[j];
      high[j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    high[8] = static_cast<uint32_t>(carry);
#pragma unroll
    for (int j = 0; j < 8; ++j) w[j] = __funnelshift_r(high[j], high[j + 1], bits);
  }

 private:
  __device__ __forceinline__ uint32_t add_words(const LazyFr& b) {
    limbs::cuda::add_cc(w[0], b.w[0]);
#pragma unroll
    for (int j = 1; j < 8; ++j) limbs::cuda::addc_cc(w[j], b.w[j]);
    uint32_t carry = 0;
    limbs::cuda::addc(carry, 0);
    return carry;
  }
  // For the value carry*2^256 + w.
  __device__ __forceinline__ void subtract_twice_modulus_if_not_less(uint32_t carry) {
    LazyFr d = *this;
    limbs::cuda::sub_cc(d.w[0], twice_modulus(0));
#pragma unroll
    for (int j = 1; j < 8; ++j) limbs::cuda::subc_cc(d.w[j], twice_modulus(j));
    limbs::cuda::subc(carry, 0);
#pragma unroll
    for (int j = 0; j < 8; ++j) w[j] = static_cast<int32_t>(carry) < 0 ? w[j] : d.w[j];
  }
};

#else

struct LazyFr {
  Fr v;
  static LazyFr load(const Fr* p) { return {*p}; }
  static LazyFr load_table(const Fr* p) { return {*p}; }
  void store(Fr* p) const { *p = v; }
  static LazyFr mul(const LazyFr& factor, const LazyFr& value) { return {factor.v * value.v}; }
  void reduce_once() {}
  void reduce() {}
  static LazyFr add(const LazyFr& a, const LazyFr& t) { return {a.v + t.v}; }
  static LazyFr sub(const LazyFr& a, const LazyFr& t) { return {a.v - t.v}; }
  static LazyFr add_below_twice(const LazyFr& a, const LazyFr& b) { return {a.v + b.v}; }
  void divide_by_power(unsigned bits) { v *= Fr::from_u64(uint64_t{1} << bits).inverse(); }
};

#endif

}  // namespace cuzk::ntt
