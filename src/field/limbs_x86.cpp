#include "field/limbs_x86.hpp"

#if CUZK_X86_ASM

#include "field/fp.hpp"
#include "field/fr.hpp"
#include "field/limbs_adx.hpp"

namespace cuzk {
namespace {

// Modulus, k = -modulus^-1 mod 2^64, Q = (k*modulus + 1)/2^64.
template <class F>
constexpr std::array<uint64_t, 2 * F::kLimbs + 1> asm_constants() {
  constexpr size_t kLimbs = F::kLimbs;
  std::array<uint64_t, 2 * kLimbs + 1> out{};
  unsigned __int128 carry = 1;
  for (size_t i = 0; i <= kLimbs; ++i) {
    if (i < kLimbs) {
      out[i] = F::kModulus[i];
      carry += static_cast<unsigned __int128>(F::kModulus[i]) * F::kInverse;
    }
    if (i > 0) out[kLimbs + i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  out[kLimbs] = F::kInverse;
  return out;
}

}  // namespace
}  // namespace cuzk

// Read by name from inline assembly.
extern "C" {
constinit const std::array<uint64_t, 9> cuzk_field_r = cuzk::asm_constants<cuzk::Fr>();
constinit const std::array<uint64_t, 13> cuzk_field_p = cuzk::asm_constants<cuzk::Fp>();
}

namespace cuzk::limbs::x86 {
namespace {

__attribute__((noinline, cold)) void portable(Limbs4& out, const Limbs4& a, const Limbs4& b) {
  out = mont_mul_portable<4>(a, b, Fr::kModulus, Fr::kInverse);
}
__attribute__((noinline, cold)) void portable(Limbs6& out, const Limbs6& a, const Limbs6& b) {
  out = mont_mul_portable<6>(a, b, Fp::kModulus, Fp::kInverse);
}

// Karatsuba's three products.
__attribute__((noinline, cold)) void portable_fp2_mul(Limbs6& out0, Limbs6& out1, const Limbs6& a0, const Limbs6& a1,
                                                      const Limbs6& b0, const Limbs6& b1) {
  Limbs6 low, high, cross;
  portable(low, a0, b0);
  portable(high, a1, b1);
  portable(cross, add_mod(a0, a1), add_mod(b0, b1));
  out0 = sub_mod(low, high);
  out1 = sub_mod(sub_mod(cross, low), high);
}

}  // namespace

void mont_mul(Limbs4& out, const Limbs4& a, const Limbs4& b) {
  if (!cpu_features().adx) [[unlikely]]
    return portable(out, a, b);
  adx::mont_mul(out, a, b);
}
void mont_mul(Limbs6& out, const Limbs6& a, const Limbs6& b) {
  if (!cpu_features().adx) [[unlikely]]
    return portable(out, a, b);
  adx::mont_mul(out, a, b);
}
void mont_sqr(Limbs4& out, const Limbs4& a) {
  if (!cpu_features().adx) [[unlikely]]
    return portable(out, a, a);
  adx::mont_mul(out, a, a);
}
void mont_sqr(Limbs6& out, const Limbs6& a) {
  if (!cpu_features().adx) [[unlikely]]
    return portable(out, a, a);
  adx::Wide6 square;
  adx::wide_sqr(square, a);
  adx::mont_redc(out, square);
}

void fp2_mul(Limbs6& out0, Limbs6& out1, const Limbs6& a0, const Limbs6& a1, const Limbs6& b0, const Limbs6& b1) {
  if (!cpu_features().adx) [[unlikely]]
    return portable_fp2_mul(out0, out1, a0, a1, b0, b1);
  Limbs6 c0;
  const Limbs6 minus_b1 = sub_mod(Limbs6{}, b1);
  adx::mont_mul_sum(c0, a0, a1, b0, minus_b1);
  adx::mont_mul_sum(out1, a0, a1, b1, b0);
  out0 = c0;
}

void fp2_sqr(Limbs6& out0, Limbs6& out1, const Limbs6& a0, const Limbs6& a1) {
  const Limbs6 sum = add_mod(a0, a1);
  const Limbs6 difference = sub_mod(a0, a1);
  const Limbs6 twice = dbl_mod(a0);
  mont_mul(out1, twice, a1);
  mont_mul(out0, sum, difference);
}

}  // namespace cuzk::limbs::x86

#endif  // CUZK_X86_ASM
