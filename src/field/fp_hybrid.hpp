// Fp for chips whose FP64 units run at half the rate of their FP32 units (sm_80, sm_90, sm_100): products by DFMA and
// 32-bit IMAD together. Compiles for host and device; README.md has the method in short.
//
// An element is sum_k d_k 2^(39 k) with ten digits in [-2^38, 2^38], Montgomery radix 2^390. A digit is held twice: as
// a double, and as a word, d_k mod 2^32. A column of a product, sum of a_i b_j over i + j = k, is computed twice:
//   C by fused multiply-adds, rounded to nearest, so not exact;
//   S by 32-bit multiply-adds, exact modulo 2^32.
// As long as |C - S| < 2^31 (fp_hybrid_test.cpp proves it), the exact column is s + 2^32 round((C - s)/2^32).
// Reduction takes the lowest column's digit q and subtracts q*p', where p' = p*(p^-1 mod 2^39) is 1 modulo 2^39, so
// that q is the column's own digit; only the last of ten steps uses p itself, which bounds the result by 0.52 p in
// absolute value where the operands are below p. There is no final subtraction, and negative values are normal: below p
// in absolute value only zero is a multiple of p, so an element in that range is zero where its digits are.
//
// Sums and differences of two elements have digits of twice the size (FpHybrid::Wide). The bound allows one such
// operand in a product, and the types allow no other.
//
// Sources: Emmart, Zheng, Weems, "Faster modular exponentiation using double precision floating point arithmetic on the
// GPU" (2018), for products in FP64; the split between both pipes and the bounds are this project's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "field/fp.hpp"
#include "field/hybrid_columns.hpp"

namespace cuzk {

class FpHybrid {
 public:
  static constexpr unsigned kDigits = hybrid::kDigits;
  static constexpr unsigned kWords = 12;
  // Ten words, those of the digits, and nine fields of 7 bits, what is above: the bits [32, 39) of digits 0 to 3 and
  // the lower four of digit 8's in word 10, those of digits 4 to 7 and the upper three of digit 8's in word 11. As
  // large as an Fp; zero is all zeros.
  using Packed = std::array<uint32_t, kWords>;

  double d[kDigits];
  uint32_t s[kDigits];

  // A sum or a difference of two elements.
  struct Wide {
    double d[kDigits];
    uint32_t s[kDigits];
  };

  // Whether the digits are zero, which for elements below p in absolute value, such as products, is zero modulo p.
  CUZK_HYBRID bool is_zero() const {
    uint32_t any = 0;
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) any |= s[k] | high_word_of_sum(d[k]);
    return any == 0;
  }
  // True for zero, and for one other element in 2^32.
  CUZK_HYBRID bool may_be_zero() const { return s[0] == 0; }

  CUZK_HYBRID static FpHybrid unpack(const Packed& w) {
    FpHybrid out;
    const uint32_t high = hybrid::high_of_two52();
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) {
      out.d[k] = hybrid::add(packed_digit(w, k, high), -packed_offset(k));
      out.s[k] = w[k];
    }
    return out;
  }
  // The digits of elements whose top digit is below 2^31 in absolute value: all that are below 2p.
  CUZK_HYBRID Packed pack() const {
    Packed out;
    uint32_t low = 0, high = 0;
    CUZK_UNROLL
    for (unsigned k = 0; k + 2 < kDigits; ++k) {
      const uint32_t bits = high_word_of_digit(k) << (7 * (k % 4));
      (k < 4 ? low : high) += bits;
    }
    const uint32_t eighth = high_word_of_digit(8) & 127;
    // The fields hold bits + 64 so far, and multiples of 2^20 from above; words wrap around.
    constexpr uint32_t kAbove = hybrid::kHighOfTwo52 * (1 + (1u << 7) + (1u << 14) + (1u << 21));
    constexpr uint32_t kSigns = 64 * (1 + (1u << 7) + (1u << 14) + (1u << 21));
    out[10] = ((low - kAbove) | eighth << 28) ^ kSigns;
    out[11] = ((high - kAbove) | eighth >> 4 << 28) ^ (kSigns | 4u << 28);
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) out[k] = s[k];
    return out;
  }

  CUZK_HYBRID friend Wide operator-(const FpHybrid& a, const FpHybrid& b) {
    Wide out;
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) out.d[k] = hybrid::add(a.d[k], -b.d[k]), out.s[k] = a.s[k] - b.s[k];
    return out;
  }
  CUZK_HYBRID friend Wide operator+(const FpHybrid& a, const FpHybrid& b) {
    Wide out;
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) out.d[k] = hybrid::add(a.d[k], b.d[k]), out.s[k] = a.s[k] + b.s[k];
    return out;
  }
  CUZK_HYBRID static Wide wide(const FpHybrid& a) {
    Wide out;
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) out.d[k] = a.d[k], out.s[k] = a.s[k];
    return out;
  }
  CUZK_HYBRID static Wide difference(const Packed& a, const FpHybrid& b) {
    Wide out;
    const uint32_t high = hybrid::high_of_two52();
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) {
      out.d[k] = hybrid::add(hybrid::add(packed_digit(a, k, high), -packed_offset(k)), -b.d[k]);
      out.s[k] = a[k] - b.s[k];
    }
    return out;
  }
  // a - b of packed elements.
  CUZK_HYBRID static Wide difference(const Packed& a, const Packed& b) {
    Wide out;
    const uint32_t high = hybrid::high_of_two52();
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) {
      out.d[k] = hybrid::add(packed_digit(a, k, high), -packed_digit(b, k, high));
      out.s[k] = a[k] - b[k];
    }
    return out;
  }
  // a + sign*b of packed elements; sign is 1 or -1.
  CUZK_HYBRID static Wide signed_sum(const Packed& a, const Packed& b, int sign) {
    Wide out;
    const uint32_t high = hybrid::high_of_two52();
    const double factor = sign;
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) {
      const double ak = hybrid::add(packed_digit(a, k, high), -packed_offset(k));
      const double bk = hybrid::add(packed_digit(b, k, high), -packed_offset(k));
      out.d[k] = hybrid::fma(bk, factor, ak);
      out.s[k] = a[k] + static_cast<uint32_t>(sign) * b[k];
    }
    return out;
  }

  // Addends of a product, none of which costs a carry chain: `load` is called when the operands are no longer needed,
  // `digit` and `word` for each of the ten digits.
  struct NoAddend {
    static constexpr bool kAny = false;
  };

  // a*b/2^390 + addend. |a*b| at most 80 p^2, as that of a difference and a result of from_fp; then the result is below
  // 0.65 p in absolute value without an addend, 0.51 p with one, which may be below 4p.
  template <class Operand, class Addend = NoAddend>
  CUZK_HYBRID static FpHybrid product(const Operand& a, const FpHybrid& b, Addend addend = {}) {
    return core(ProductRows<Operand>{a, b}, addend);
  }
  template <class Addend = NoAddend>
  CUZK_HYBRID static FpHybrid square(const FpHybrid& a, Addend addend = {}) {
    return core(SquareRows{a}, addend);
  }
  CUZK_HYBRID friend FpHybrid operator*(const FpHybrid& a, const FpHybrid& b) { return product(a, b); }
  CUZK_HYBRID friend FpHybrid operator*(const Wide& a, const FpHybrid& b) { return product(a, b); }

  // The same element of Fp. The result of from_fp is below 64 p: an operand, not to be packed (reduced() may be).
  CUZK_HD static FpHybrid from_fp(const Fp& x) {
    // Montgomery form with radix 2^390 is 2^6 times that with 2^384. Adding 2^38 to each digit but the last makes
    // signed digits plain bit fields.
    const Fp::Limbs& limbs = x.montgomery();
    constexpr Fp::Limbs kBias = hybrid::bias(hybrid::kRadixBits - 64 * Fp::kLimbs, false);
    Fp::Limbs sum;
    (void)cuzk::limbs::add<Fp::kLimbs>(sum, limbs, kBias);
    FpHybrid out;
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) {
      const int first = static_cast<int>(k * hybrid::kDigitBits) - 6;
      const unsigned word = first < 0 ? 0 : static_cast<unsigned>(first) / 64,
                     shift = static_cast<unsigned>(first) % 64;
      uint64_t bits = first < 0 ? sum[0] << 6 : sum[word] >> shift;
      if (first >= 0 && shift > 64 - hybrid::kDigitBits && word + 1 < Fp::kLimbs) bits |= sum[word + 1] << (64 - shift);
      bits &= (uint64_t{1} << hybrid::kDigitBits) - 1;
      out.s[k] = static_cast<uint32_t>(bits);
      const double offset = k + 1 < kDigits ? hybrid::kTwo52 + hybrid::kHalf : hybrid::kTwo52;
      const auto high = static_cast<uint32_t>(bits >> 32) | hybrid::kHighOfTwo52;
      out.d[k] = hybrid::add(hybrid::from_words(out.s[k], high), -offset);
    }
    return out;
  }
  CUZK_HD static FpHybrid one() {
    constexpr auto kOne = hybrid::one_digits();
    FpHybrid out;
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k)
      out.d[k] = static_cast<double>(kOne[k]), out.s[k] = static_cast<uint32_t>(kOne[k]);
    return out;
  }
  // *this below p in absolute value; one multiplication.
  CUZK_HD FpHybrid reduced() const { return *this * one(); }
  // Of an element below 0.99 p in absolute value.
  CUZK_HD Fp to_fp() const {
    Fp::Limbs sum{};
    CUZK_UNROLL
    for (unsigned k = 0; k < kDigits; ++k) {
      const double offset = k + 1 < kDigits ? hybrid::kTwo52 + hybrid::kHalf : hybrid::kTwo52 + 4294967296.0;
      const double biased = hybrid::add(d[k], offset);
      const uint64_t bits = uint64_t{hybrid::high_word(biased) & 127} << 32 | hybrid::low_word(biased);
      const unsigned first = k * hybrid::kDigitBits, word = first / 64, shift = first % 64;
      sum[word] |= bits << shift;
      if (shift > 64 - hybrid::kDigitBits && word + 1 < Fp::kLimbs) sum[word + 1] |= bits >> (64 - shift);
    }
    constexpr Fp::Limbs kBias = hybrid::bias(0, true);
    Fp::Limbs v;
    (void)limbs::sub<Fp::kLimbs>(v, sum, kBias);  // two's complement
    // (v + q*p)/2^6 with q < 2^6.
    constexpr Fp::Limbs kP = FpParams::kModulus;
    const uint64_t q = v[0] * Fp::kInverse & 63;
    Fp::Limbs out;
    unsigned __int128 carry = 0;
    uint64_t before = 0;
    CUZK_UNROLL
    for (size_t i = 0; i < Fp::kLimbs; ++i) {
      carry += static_cast<unsigned __int128>(q) * kP[i] + v[i];
      const auto limb = static_cast<uint64_t>(carry);
      if (i > 0) out[i - 1] = before >> 6 | limb << 58;
      before = limb;
      carry >>= 64;
    }
    const uint64_t sign = 0 - (v[Fp::kLimbs - 1] >> 63);
    const uint64_t top = static_cast<uint64_t>(carry) + sign;  // of the sum, two's complement
    out[Fp::kLimbs - 1] = before >> 6 | top << 58;
    if (top >> 63 != 0) (void)limbs::add<Fp::kLimbs>(out, out, kP);
    return Fp::from_montgomery(out);
  }

  // Digit k plus packed_offset(k), given high_of_two52().
  CUZK_HYBRID static double packed_digit(const Packed& w, unsigned k, uint32_t high) {
    if (k == kDigits - 1) return hybrid::from_words(w[k] ^ 0x80000000u, high);
    uint32_t bits;
    if (k == 8) {
      bits = w[10] >> 28 | (w[11] >> 24 & 0x70);
    } else {
      bits = w[10 + k / 4] >> (7 * (k % 4)) & 127;
    }
    return hybrid::from_words(w[k], bits ^ (high | 64));
  }
  CUZK_HYBRID static constexpr double packed_offset(unsigned k) {
    return k == kDigits - 1 ? hybrid::kTwo52 + 2147483648.0 : hybrid::kTwo52 + hybrid::kHalf;
  }

 private:
  CUZK_HYBRID static uint32_t high_word_of_sum(double digit) { return hybrid::high_word(digit) << 1; }  // 0 for +-0
  // Of the digit plus 2^52 + 2^38.
  CUZK_HYBRID uint32_t high_word_of_digit(unsigned k) const {
    return hybrid::high_word(hybrid::add(d[k], hybrid::kTwo52 + hybrid::kHalf));
  }
  template <class Operand>
  struct ProductRows {
    const Operand& a;
    const FpHybrid& b;
    template <unsigned i, unsigned j = 0>
    CUZK_HYBRID void row(hybrid::Columns& columns) const {
      columns.template product<i + j>(b.d[i], b.s[i], a.d[j], a.s[j], i == 0 || j + 1 == kDigits);
      if constexpr (j + 1 < kDigits) row<i, j + 1>(columns);
    }
  };
  // Row i is a_i^2 and 2 a_i a_j for j > i: column k is complete after row k/2.
  struct SquareRows {
    const FpHybrid& a;
    template <unsigned i>
    CUZK_HYBRID void row(hybrid::Columns& columns) const {
      columns.template product<2 * i>(a.d[i], a.s[i], a.d[i], a.s[i], i == 0 || i + 1 == kDigits);
      if constexpr (i + 1 < kDigits) rest<i, i + 1>(columns, hybrid::add(a.d[i], a.d[i]), a.s[i] + a.s[i]);
    }
    template <unsigned i, unsigned j>
    CUZK_HYBRID void rest(hybrid::Columns& columns, double twice, uint32_t twice_word) const {
      columns.template product<i + j>(twice, twice_word, a.d[j], a.s[j], i == 0 || j + 1 == kDigits);
      if constexpr (j + 1 < kDigits) rest<i, j + 1>(columns, twice, twice_word);
    }
  };

  template <unsigned i, class Rows, class Addend>
  CUZK_HYBRID static void steps(const Rows& rows, hybrid::Columns& columns, Addend& addend, uint32_t high) {
    const double aligned = columns.template aligned<i>();
    rows.template row<i + 1>(columns);
    if constexpr (i + 2 == kDigits && Addend::kAny) addend.load();
    const double q = columns.template digit<i>(aligned, high);
    columns.template carry<i>(aligned);
    columns.template reduce<false, i, 1, kDigits>(q, columns.s[i].word());
    if constexpr (i + 2 < kDigits) steps<i + 1>(rows, columns, addend, high);
  }
  // The step that uses p: q is the digit times p^-1 modulo 2^39.
  CUZK_HYBRID static void last_step(hybrid::Columns& columns, uint32_t high) {
    constexpr unsigned k = kDigits - 1;
    const double aligned = columns.template aligned<k>();
    const uint32_t s = columns.s[k].word();
    const uint64_t low = static_cast<uint64_t>(s) * 0x30003u;
    const uint32_t q_high = static_cast<uint32_t>(low >> 32) + 3u * (s + hybrid::low_word(aligned));
    const auto q_word = static_cast<uint32_t>(low);
    const double q = hybrid::add(hybrid::from_words(q_word, (q_high & 127) | high), -(hybrid::kTwo52 + hybrid::kHalf));
    // Divisible by 2^39.
    const double column = hybrid::fma(q, -static_cast<double>(hybrid::kModulusDigits[0]), columns.c[k]);
    columns.c[k + 1] = hybrid::fma(column, hybrid::kPerDigit, columns.c[k + 1]);
    columns.s[k + 1].add(hybrid::low_word(hybrid::fma(column, hybrid::kPerDigit, 1.5 * hybrid::kTwo52)));
    columns.template reduce<true, k, 1, kDigits - 1>(q, q_word);
  }
  template <unsigned k, class Addend>
  CUZK_HYBRID static void add_terms(hybrid::Columns& columns, const Addend& addend, double times, uint32_t times_word) {
    double& c = columns.c[kDigits + k];
    c = hybrid::fma(times, static_cast<double>(hybrid::kModulusDigits[k]), addend.template add_digit<k>(c));
    columns.s[kDigits + k].add(addend.template word<k>());
    columns.s[kDigits + k].add_product(times_word, static_cast<uint32_t>(hybrid::kModulusDigits[k]));
    if constexpr (k + 2 < kDigits) add_terms<k + 1>(columns, addend, times, times_word);
  }
  template <unsigned k>
  CUZK_HYBRID static void take_digits(FpHybrid& out, hybrid::Columns& columns, uint32_t high) {
    const double aligned = columns.template aligned<kDigits + k>();
    out.d[k] = columns.template digit<kDigits + k>(aligned, high);
    out.s[k] = columns.s[kDigits + k].word();
    if constexpr (k + 2 < kDigits) {
      columns.template carry<kDigits + k>(aligned);
      take_digits<k + 1>(out, columns, high);
    } else {
      out.s[k + 1] = hybrid::Columns::carry_word(aligned);
    }
  }
  template <class Rows, class Addend>
  CUZK_HYBRID static FpHybrid core(const Rows& rows, Addend addend) {
    hybrid::Columns columns;
    FpHybrid out;
    const uint32_t high = hybrid::high_of_two52();
    rows.template row<0>(columns);
    steps<0>(rows, columns, addend, high);
    last_step(columns, high);
    if constexpr (Addend::kAny) {
      // The multiple of p that brings the sum back into range, from its upper digits.
      const double top =
          addend.template add_digit<kDigits - 1>(hybrid::mul(columns.c[2 * kDigits - 2], hybrid::kPerDigit));
      const double aligned = hybrid::fma(top, -hybrid::kPerModulus, 1.5 * hybrid::kTwo52);
      const double times = hybrid::add(aligned, -1.5 * hybrid::kTwo52);
      const uint32_t times_word = hybrid::low_word(aligned);
      add_terms<0>(columns, addend, times, times_word);
      take_digits<0>(out, columns, high);
      out.s[kDigits - 1] +=
          addend.template word<kDigits - 1>() + times_word * static_cast<uint32_t>(hybrid::kModulusDigits[kDigits - 1]);
    } else {
      take_digits<0>(out, columns, high);
    }
    out.d[kDigits - 1] = hybrid::add(hybrid::from_words(out.s[kDigits - 1] ^ 0x80000000u, hybrid::kHighOfTwo52),
                                     -(hybrid::kTwo52 + 2147483648.0));
    return out;
  }
};

}  // namespace cuzk
