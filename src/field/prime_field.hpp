// Prime fields in Montgomery form, one type for host and device.
//
// Layout: kLimbs 64-bit limbs, least significant first; on a little-endian device the same bytes are 2*kLimbs
// 32-bit limbs. An element x is stored as x*R mod p with R = 2^(64*kLimbs), always fully reduced (< p), so that
// equal elements have equal bytes. Source: Montgomery, "Modular multiplication without trial division" (1985);
// the word loop is CIOS of Koc, Acar, Kaliski (1996).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/assert.hpp"
#include "base/host_device.hpp"
#include "field/inverse.hpp"
#include "field/limbs.hpp"
#include "field/limbs_cuda.hpp"
#include "field/limbs_x86.hpp"

namespace cuzk {

struct Fp2;

template <class Params>
class alignas(16) PrimeField {
 public:
  static constexpr size_t kLimbs = Params::kModulus.size();
  static constexpr size_t kBytes = kLimbs * 8;
  using Limbs = std::array<uint64_t, kLimbs>;
  static constexpr Limbs kModulus = Params::kModulus;

  CUZK_HD constexpr PrimeField() : limbs_{} {}
  CUZK_HD static constexpr PrimeField zero() { return PrimeField(); }
  CUZK_HD static constexpr PrimeField one() { return from_montgomery(kOne); }
  // The element that is stored as `limbs`; limbs must be < p.
  CUZK_HD static constexpr PrimeField from_montgomery(const Limbs& limbs) {
    PrimeField out{Uninitialised{}};
    out.limbs_ = limbs;
    return out;
  }
  CUZK_HD static constexpr PrimeField from_u64(uint64_t value) {
    Limbs plain{};
    plain[0] = value;
    return from_plain(plain);
  }
  // The element with the plain (non-Montgomery) value `plain`, which must be < p. One multiplication.
  CUZK_HD static constexpr PrimeField from_plain(const Limbs& plain) {
    return from_montgomery(plain) * from_montgomery(kRSquared);
  }
  // Nothing where the plain value is not < p.
  static constexpr std::optional<PrimeField> from_plain_checked(const Limbs& plain) {
    if (!limbs::less(plain, kModulus)) return std::nullopt;
    return from_plain(plain);
  }
  // Little-endian canonical bytes; nothing where the value is not < p. bytes.size() must be kBytes.
  static constexpr std::optional<PrimeField> from_bytes_le(std::span<const uint8_t> bytes) {
    CUZK_ASSERT(bytes.size() == kBytes);
    Limbs plain{};
    for (size_t i = 0; i < kBytes; ++i) plain[i / 8] |= uint64_t{bytes[i]} << (8 * (i % 8));
    return from_plain_checked(plain);
  }
  static constexpr std::optional<PrimeField> from_bytes_be(std::span<const uint8_t> bytes) {
    CUZK_ASSERT(bytes.size() == kBytes);
    Limbs plain{};
    for (size_t i = 0; i < kBytes; ++i) plain[i / 8] |= uint64_t{bytes[kBytes - 1 - i]} << (8 * (i % 8));
    return from_plain_checked(plain);
  }

  // Plain limbs, < p.
  CUZK_HD constexpr Limbs to_plain() const {
    Limbs one{};
    one[0] = 1;
    return (*this * from_montgomery(one)).limbs_;
  }
  constexpr std::array<uint8_t, kBytes> to_bytes_le() const {
    const Limbs plain = to_plain();
    std::array<uint8_t, kBytes> out{};
    for (size_t i = 0; i < kBytes; ++i) out[i] = static_cast<uint8_t>(plain[i / 8] >> (8 * (i % 8)));
    return out;
  }
  constexpr std::array<uint8_t, kBytes> to_bytes_be() const {
    const Limbs plain = to_plain();
    std::array<uint8_t, kBytes> out{};
    for (size_t i = 0; i < kBytes; ++i) out[kBytes - 1 - i] = static_cast<uint8_t>(plain[i / 8] >> (8 * (i % 8)));
    return out;
  }
  CUZK_HD constexpr const Limbs& montgomery() const { return limbs_; }

  CUZK_HD constexpr bool is_zero() const {
    uint64_t any = 0;
    for (size_t i = 0; i < kLimbs; ++i) any |= limbs_[i];
    return any == 0;
  }
  CUZK_HD constexpr bool is_one() const { return *this == one(); }
  CUZK_HD friend constexpr bool operator==(const PrimeField& a, const PrimeField& b) {
    uint64_t any = 0;
    for (size_t i = 0; i < kLimbs; ++i) any |= a.limbs_[i] ^ b.limbs_[i];
    return any == 0;
  }

  CUZK_HD friend constexpr PrimeField operator+(const PrimeField& a, const PrimeField& b) {
    return from_montgomery(add_limbs(a.limbs_, b.limbs_));
  }
  CUZK_HD friend constexpr PrimeField operator-(const PrimeField& a, const PrimeField& b) {
    return from_montgomery(sub_limbs(a.limbs_, b.limbs_));
  }
  CUZK_HD friend constexpr PrimeField operator*(const PrimeField& a, const PrimeField& b) {
    PrimeField out{Uninitialised{}};
    mul_limbs(out.limbs_, a.limbs_, b.limbs_);
    return out;
  }
  CUZK_HD constexpr PrimeField operator-() const { return zero() - *this; }
  CUZK_HD constexpr PrimeField& operator+=(const PrimeField& b) { return *this = *this + b; }
  CUZK_HD constexpr PrimeField& operator-=(const PrimeField& b) { return *this = *this - b; }
  CUZK_HD constexpr PrimeField& operator*=(const PrimeField& b) {
    mul_limbs(limbs_, limbs_, b.limbs_);
    return *this;
  }
  CUZK_HD constexpr PrimeField square() const {
    PrimeField out{Uninitialised{}};
    sqr_limbs(out.limbs_, limbs_);
    return out;
  }
  CUZK_HD constexpr PrimeField dbl() const { return *this + *this; }

  // this^exponent; exponent in plain 64-bit limbs, least significant first. Not constant time.
  constexpr PrimeField pow(std::span<const uint64_t> exponent) const {
    PrimeField out = one();
    for (size_t i = exponent.size(); i-- > 0;) {
      for (int bit = 63; bit >= 0; --bit) {
        out *= out;
        if (exponent[i] >> bit & 1) out *= *this;
      }
    }
    return out;
  }
  constexpr PrimeField pow(uint64_t exponent) const { return pow(std::span<const uint64_t>(&exponent, 1)); }

  // 1/this; zero for zero. Not constant time: public values only. The price of about 70 multiplications (inverse.hpp).
  CUZK_HD constexpr PrimeField inverse() const {
    constexpr Limbs kP = Params::kModulus, kScale = kRSquared;  // device code has no address for the members
    return from_montgomery(limbs::invert<kLimbs>(limbs_, kScale, kP, kInverse));
  }

 private:
  friend struct Fp2;        // hands limbs to the assembly
  struct Uninitialised {};  // for results that are written at once
  CUZK_HD constexpr explicit PrimeField(Uninitialised) {}

  // The form for where the code runs: portable in constant evaluation and on hosts without assembly. `out` may be an
  // operand of mul_limbs and sqr_limbs.
  CUZK_HD static constexpr Limbs add_limbs(const Limbs& a, const Limbs& b) {
    if (!std::is_constant_evaluated()) {
#if defined(__CUDA_ARCH__)
      return limbs::cuda::Field<Params>::add(a, b);
#elif CUZK_X86_ASM
      if constexpr (Params::kHasAsm) return limbs::x86::add_mod(a, b);
#endif
    }
    constexpr Limbs kP = Params::kModulus;  // device code has no address for the member
    return limbs::add_mod<kLimbs>(a, b, kP);
  }
  CUZK_HD static constexpr Limbs sub_limbs(const Limbs& a, const Limbs& b) {
    if (!std::is_constant_evaluated()) {
#if defined(__CUDA_ARCH__)
      return limbs::cuda::Field<Params>::sub(a, b);
#elif CUZK_X86_ASM
      if constexpr (Params::kHasAsm) return limbs::x86::sub_mod(a, b);
#endif
    }
    constexpr Limbs kP = Params::kModulus;  // device code has no address for the member
    return limbs::sub_mod<kLimbs>(a, b, kP);
  }
  CUZK_HD static constexpr void mul_limbs(Limbs& out, const Limbs& a, const Limbs& b) {
    if (!std::is_constant_evaluated()) {
#if defined(__CUDA_ARCH__)
      out = limbs::cuda::Field<Params>::mul(a, b);
      return;
#elif CUZK_X86_ASM
      if constexpr (Params::kHasAsm) return limbs::x86::mont_mul(out, a, b);
#endif
    }
    constexpr Limbs kP = Params::kModulus;
    out = limbs::mont_mul_portable<kLimbs>(a, b, kP, kInverse);
  }
  CUZK_HD static constexpr void sqr_limbs(Limbs& out, const Limbs& a) {
    if (!std::is_constant_evaluated()) {
#if defined(__CUDA_ARCH__)
      out = limbs::cuda::Field<Params>::mul(a, a);
      return;
#elif CUZK_X86_ASM
      if constexpr (Params::kHasAsm) return limbs::x86::mont_sqr(out, a);
#endif
    }
    constexpr Limbs kP = Params::kModulus;
    out = limbs::mont_mul_portable<kLimbs>(a, a, kP, kInverse);
  }

  // -p^-1 mod 2^64, by Newton's iteration.
  static constexpr uint64_t compute_inverse() {
    uint64_t x = 1;
    for (int i = 0; i < 6; ++i) x *= 2 - kModulus[0] * x;
    return 0 - x;
  }
  // 2^doublings mod p.
  static constexpr Limbs power_of_two(size_t doublings) {
    Limbs x{};
    x[0] = 1;
    for (size_t i = 0; i < doublings; ++i) x = limbs::add_mod<kLimbs>(x, x, kModulus);
    return x;
  }

 public:
  static constexpr uint64_t kInverse = compute_inverse();
  static constexpr Limbs kOne = power_of_two(64 * kLimbs);
  static constexpr Limbs kRSquared = power_of_two(128 * kLimbs);

 private:
  Limbs limbs_;
};

}  // namespace cuzk
