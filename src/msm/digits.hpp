// Internal to msm/: scalars as signed digits.
#pragma once

#include <array>
#include <cstdint>

#include "base/host_device.hpp"
#include "field/fr.hpp"
#include "field/limbs.hpp"

namespace cuzk::msm_detail {

// Digit d of a window as a code: 0 for zero, else 2*|d| + (d < 0); |d| <= 2^(bits-1).
using DigitCode = uint32_t;
CUZK_HD constexpr uint32_t digit_bucket(DigitCode code) { return (code >> 1) - 1; }
CUZK_HD constexpr bool digit_negative(DigitCode code) { return code & 1; }

inline constexpr Fr::Limbs half_modulus() {
  Fr::Limbs h = FrParams::kModulus;
  for (size_t i = 0; i < 4; ++i) h[i] = h[i] >> 1 | (i < 3 ? h[i + 1] << 63 : 0);
  return h;
}

// Windows in groups of `sets`: window w = multiple*sets + set. Those of the first `narrow` sets have a bit less, so
// that windows need not be wider than 255 bits ask for.
struct DigitLayout {
  unsigned bits, sets = 1, narrow = 0, windows = (255 + bits - 1) / bits;
  unsigned least_of_set = windows / sets, sets_with_one_more = windows % sets;
  CUZK_HD constexpr unsigned bits_of(unsigned set) const { return set < narrow ? bits - 1 : bits; }
  CUZK_HD constexpr unsigned shift() const { return bits * sets - narrow; }  // of a group
  CUZK_HD constexpr unsigned begin(unsigned multiple, unsigned set) const {
    return multiple * shift() + set * bits - (set < narrow ? set : narrow);
  }
  CUZK_HD constexpr unsigned windows_of(unsigned set) const {
    return least_of_set + (set < sets_with_one_more ? 1 : 0);
  }
  // From a window to the next in the order of work: those of a set, which share buckets, one after the other.
  CUZK_HD constexpr void advance(unsigned& multiple, unsigned& set) const {
    if (++multiple == windows_of(set)) ++set, multiple = 0;
  }
  // Of all windows together; 255 are enough.
  CUZK_HD constexpr unsigned total_bits() const {
    return windows == 0 ? 0 : begin((windows - 1) / sets, (windows - 1) % sets) + bits_of((windows - 1) % sets);
  }
};

// Cuts scalars into digits: s = sum_w d_w * 2^begin(w) with d_w in [-2^(bits_of(w)-1), 2^(bits_of(w)-1)]. Scalars above
// r/2 are taken as r minus them with all digits negated. Adding 2^(bits_of(w)-1) in every window but the last
// beforehand makes every digit a plain bit field, without carries from window to window.
class DigitCutter {
 public:
  // A scalar ready to be cut: its bias added, and whether all digits are to be negated.
  struct Prepared {
    uint64_t limb0, limb1, limb2, limb3;
    bool flip;
    // No array, which device code would keep in memory for the sake of the index.
    CUZK_HD constexpr uint64_t limb(unsigned i) const {
      return i == 0 ? limb0 : i == 1 ? limb1 : i == 2 ? limb2 : i == 3 ? limb3 : 0;
    }
  };

  explicit DigitCutter(unsigned bits) : DigitCutter(DigitLayout{bits}) {}
  explicit DigitCutter(const DigitLayout& layout) : layout_(layout) {
    for (unsigned w = 0; w + 1 < layout.windows; ++w) {
      const unsigned set = w % layout.sets, at = layout.begin(w / layout.sets, set) + layout.bits_of(set) - 1;
      bias_[at / 64] |= uint64_t{1} << (at % 64);
    }
  }
  CUZK_HD unsigned windows() const { return layout_.windows; }
  CUZK_HD const DigitLayout& layout() const { return layout_; }

  CUZK_HD Prepared prepare(const Fr& scalar) const {
    constexpr Fr::Limbs kHalf = half_modulus(), kModulus = FrParams::kModulus;  // kHalf = (r - 1)/2
    Fr::Limbs s = scalar.to_plain();
    bool flip = false;
    if (limbs::less<4>(kHalf, s)) {
      limbs::sub<4>(s, kModulus, s);
      flip = true;
    }
    limbs::add<4>(s, s, bias_);
    return {s[0], s[1], s[2], s[3], flip};
  }
  // Of window multiple*sets + set.
  CUZK_HD DigitCode code(const Prepared& s, unsigned multiple, unsigned set) const {
    const unsigned bits = layout_.bits_of(set), at = layout_.begin(multiple, set);
    const uint32_t half = uint32_t{1} << (bits - 1);
    const uint32_t mask = 2 * half - 1;
    uint64_t field = s.limb(at / 64) >> (at % 64);
    if (at % 64 + bits > 64) field |= s.limb(at / 64 + 1) << (64 - at % 64);
    int32_t digit = static_cast<int32_t>(field & mask);
    if (multiple * layout_.sets + set + 1 < layout_.windows) digit -= static_cast<int32_t>(half);
    const uint32_t magnitude = static_cast<uint32_t>(digit < 0 ? -digit : digit);
    return magnitude == 0 ? 0 : 2 * magnitude + ((digit < 0) != s.flip);
  }

  // codes[w * stride] for every window w, where windows are alike.
  void cut(const Fr& scalar, DigitCode* codes, size_t stride) const {
    const Prepared s = prepare(scalar);
    for (unsigned w = 0; w < layout_.windows; ++w) codes[w * stride] = code(s, w, 0);
  }

 private:
  DigitLayout layout_;
  Fr::Limbs bias_{};
};

}  // namespace cuzk::msm_detail
