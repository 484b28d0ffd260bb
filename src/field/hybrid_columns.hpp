// Columns of a product in Fp by the FP64 units and 32-bit integers together, and the constants; fp_hybrid.hpp has the
// method and the type to use.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "field/fp.hpp"

#if defined(__CUDACC__)
#define CUZK_HYBRID __host__ __device__ __forceinline__
#else
#define CUZK_HYBRID inline
#endif

namespace cuzk::hybrid {

inline constexpr unsigned kDigitBits = 39;
inline constexpr unsigned kDigits = 10;
inline constexpr unsigned kRadixBits = kDigits * kDigitBits;  // 390
inline constexpr double kHalf = static_cast<double>(int64_t{1} << (kDigitBits - 1));

// `bits` bits of x from bit `at` on; beyond the ends of x are zeros.
template <size_t N>
constexpr int64_t field(const std::array<uint64_t, N>& x, int at, unsigned bits) {
  int64_t out = 0;
  for (unsigned i = 0; i < bits; ++i) {
    const int bit = at + static_cast<int>(i);
    if (bit < 0 || bit >= static_cast<int>(64 * N)) continue;
    out |= static_cast<int64_t>(x[static_cast<size_t>(bit) / 64] >> (bit % 64) & 1) << i;
  }
  return out;
}
// Signed digits of x, each in [-2^38, 2^38) but the last.
template <size_t K, size_t N>
constexpr std::array<int64_t, K> signed_digits(const std::array<uint64_t, N>& x) {
  std::array<int64_t, K> out{};
  int64_t carry = 0;
  for (size_t k = 0; k < K; ++k) {
    out[k] = field(x, static_cast<int>(k * kDigitBits), kDigitBits) + carry;
    carry = k + 1 < K && out[k] >= int64_t{1} << (kDigitBits - 1) ? 1 : 0;
    out[k] -= carry << kDigitBits;
  }
  return out;
}

inline constexpr auto kModulusDigits = signed_digits<kDigits>(Fp::kModulus);
// p^-1 modulo 2^39. (Fp::kInverse is -p^-1 modulo 2^64.)
inline constexpr uint64_t kModulusInverse = (0 - Fp::kInverse) & ((uint64_t{1} << kDigitBits) - 1);
static_assert(kModulusInverse == 0x300030003, "last_quotient() multiplies by this number");
// p' = p*(p^-1 mod 2^39).
constexpr std::array<uint64_t, 7> reducer() {
  std::array<uint64_t, 7> out{};
  unsigned __int128 carry = 0;
  for (size_t i = 0; i < 6; ++i) {
    carry += static_cast<unsigned __int128>(Fp::kModulus[i]) * kModulusInverse;
    out[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  out[6] = static_cast<uint64_t>(carry);
  return out;
}
inline constexpr auto kReducerDigits = signed_digits<kDigits + 1>(reducer());
static_assert(kReducerDigits[0] == 1);

// 2^38 in all digits but the last, divided by 2^down; with_top: and 2^32 in the last.
constexpr Fp::Limbs bias(unsigned down, bool with_top) {
  Fp::Limbs out{};
  for (unsigned k = 0; k + 1 < kDigits; ++k) {
    const unsigned bit = k * kDigitBits + kDigitBits - 1 - down;
    out[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  if (with_top) {
    const unsigned bit = (kDigits - 1) * kDigitBits + 32;
    out[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  return out;
}

// 2^390 modulo p.
constexpr std::array<int64_t, kDigits> one_digits() {
  Fp::Limbs one = Fp::kOne;
  for (unsigned i = 64 * Fp::kLimbs; i < kRadixBits; ++i) one = limbs::add_mod<Fp::kLimbs>(one, one, Fp::kModulus);
  return signed_digits<kDigits>(one);
}

// 2^52 and 2^84, whose last places are 1 and 2^32.
inline constexpr double kTwo52 = 4503599627370496.0, kTwo84 = kTwo52 * 4294967296.0;
inline constexpr uint32_t kHighOfTwo52 = 0x43300000;
inline constexpr double kPerDigit = 1.0 / static_cast<double>(int64_t{1} << kDigitBits);
// 2^351/p.
inline constexpr double kPerModulus = 1.0 / static_cast<double>(kModulusDigits[kDigits - 1]);

#if defined(__CUDACC__)
// Operands that instructions take from constant memory, without a register or its read port; not to be folded into
// immediates, which doubles of 39 bits do not fit.
static __constant__ double constant_reducer[kDigits] = {
    -static_cast<double>(kReducerDigits[1]), -static_cast<double>(kReducerDigits[2]),
    -static_cast<double>(kReducerDigits[3]), -static_cast<double>(kReducerDigits[4]),
    -static_cast<double>(kReducerDigits[5]), -static_cast<double>(kReducerDigits[6]),
    -static_cast<double>(kReducerDigits[7]), -static_cast<double>(kReducerDigits[8]),
    -static_cast<double>(kReducerDigits[9]), -static_cast<double>(kReducerDigits[10])};
static __constant__ double constant_modulus[kDigits] = {
    -static_cast<double>(kModulusDigits[0]), -static_cast<double>(kModulusDigits[1]),
    -static_cast<double>(kModulusDigits[2]), -static_cast<double>(kModulusDigits[3]),
    -static_cast<double>(kModulusDigits[4]), -static_cast<double>(kModulusDigits[5]),
    -static_cast<double>(kModulusDigits[6]), -static_cast<double>(kModulusDigits[7]),
    -static_cast<double>(kModulusDigits[8]), -static_cast<double>(kModulusDigits[9])};
static __constant__ double constant_align = 1.5 * kTwo84 + kTwo52 + kHalf;
static __constant__ uint32_t constant_high = kHighOfTwo52;
#endif

CUZK_HYBRID double fma(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}
CUZK_HYBRID double add(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}
CUZK_HYBRID double mul(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
CUZK_HYBRID double from_words(uint32_t low, uint32_t high) {
#if defined(__CUDA_ARCH__)
  return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
#else
  return std::bit_cast<double>(uint64_t{high} << 32 | low);
#endif
}
CUZK_HYBRID uint32_t low_word(double a) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__double2loint(a));
#else
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(a));
#endif
}
CUZK_HYBRID uint32_t high_word(double a) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__double2hiint(a));
#else
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(a) >> 32);
#endif
}
// The 32 bits from bit `shift` of high:low on; shift below 32.
CUZK_HYBRID uint32_t shift_right(uint32_t low, uint32_t high, unsigned shift) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(low, high, shift);
#else
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> shift);
#endif
}
CUZK_HYBRID uint32_t high_of_two52() {
#if defined(__CUDA_ARCH__)
  return constant_high;
#else
  return kHighOfTwo52;
#endif
}

// A column modulo 2^32. On the device it is the low word of a register pair whose high word makes it the double
// 2^52 + s, which saves a move when the column is aligned.
class Low {
 public:
#if defined(__CUDA_ARCH__)
  CUZK_HYBRID void set_product(uint32_t a, uint32_t b) {
    asm("{.reg .u32 l; mul.lo.u32 l,%1,%2; mov.b64 %0,{l,0x43300000};}" : "=l"(pair_) : "r"(a), "r"(b));
  }
  CUZK_HYBRID void add_product(uint32_t a, uint32_t b) {
    asm("{.reg .u32 l,h; mov.b64 {l,h},%0; mad.lo.u32 l,%1,%2,l; mov.b64 %0,{l,h};}" : "+l"(pair_) : "r"(a), "r"(b));
  }
  CUZK_HYBRID void add(uint32_t a) {
    asm("{.reg .u32 l,h; mov.b64 {l,h},%0; add.u32 l,%1,l; mov.b64 %0,{l,h};}" : "+l"(pair_) : "r"(a));
  }
  CUZK_HYBRID uint32_t word() const { return static_cast<uint32_t>(pair_); }
  CUZK_HYBRID double plus_two52() const { return __longlong_as_double(static_cast<long long>(pair_)); }

 private:
  uint64_t pair_;
#else
  void set_product(uint32_t a, uint32_t b) { word_ = a * b; }
  void add_product(uint32_t a, uint32_t b) { word_ += a * b; }
  void add(uint32_t a) { word_ += a; }
  uint32_t word() const { return word_; }
  double plus_two52() const { return from_words(word_, kHighOfTwo52); }

 private:
  uint32_t word_;
#endif
};

// The 2*kDigits - 1 columns of a product.
struct Columns {
  double c[2 * kDigits];
  Low s[2 * kDigits];

  template <unsigned k>
  CUZK_HYBRID void product(double a, uint32_t a_word, double b, uint32_t b_word, bool first) {
    c[k] = first ? mul(a, b) : fma(a, b, c[k]);
    if (first) {
      s[k].set_product(a_word, b_word);
    } else {
      s[k].add_product(a_word, b_word);
    }
  }
  // 1.5 * 2^84 + (S - s) + 2^38, where S is the exact column: its last places are (S - s)/2^32 + 64.
  template <unsigned k>
  CUZK_HYBRID double aligned() const {
    const double x = add(c[k], -s[k].plus_two52());
#if defined(__CUDA_ARCH__)
    return add(x, constant_align);
#else
    return add(x, 1.5 * kTwo84 + kTwo52 + kHalf);
#endif
  }
  // The digit of column k, in [-2^38, 2^38), given aligned<k>().
  template <unsigned k>
  CUZK_HYBRID double digit(double aligned, uint32_t high) const {
    return add(from_words(s[k].word(), (low_word(aligned) & 127) | high), -(kTwo52 + kHalf));
  }
  // Adds what is left of column k to the next one.
  template <unsigned k>
  CUZK_HYBRID void carry(double aligned) {
    c[k + 1] = fma(c[k], kPerDigit, c[k + 1]);
    s[k + 1].add(carry_word(aligned));
  }
  CUZK_HYBRID static uint32_t carry_word(double aligned) {
    return shift_right(low_word(aligned), high_word(aligned), 7);
  }
  // column k + j -= q * (digit j of p', or of p), for j = first .. last.
  template <bool kOfModulus, unsigned k, unsigned j, unsigned last>
  CUZK_HYBRID void reduce(double q, uint32_t q_word) {
    constexpr int64_t kDigit = kOfModulus ? kModulusDigits[j % kDigits] : kReducerDigits[j];
#if defined(__CUDA_ARCH__)
    c[k + j] = fma(q, kOfModulus ? constant_modulus[j % kDigits] : constant_reducer[j - 1], c[k + j]);
#else
    c[k + j] = fma(q, -static_cast<double>(kDigit), c[k + j]);
#endif
    s[k + j].add_product(q_word, static_cast<uint32_t>(-kDigit));
    if constexpr (j < last) reduce<kOfModulus, k, j + 1, last>(q, q_word);
  }
};

}  // namespace cuzk::hybrid
