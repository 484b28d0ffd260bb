// Wire: the name of one variable of a constraint system.
#pragma once

#include <compare>
#include <cstdint>

namespace cuzk {

// Inputs and aux variables are numbered apart, each from 0 in the order of allocation; input 0 is the constant ONE.
// Bit 31 of `raw` is set for inputs, the low 31 bits are the index. Default: aux 0.
struct Wire {
  static constexpr uint32_t kInputFlag = uint32_t{1} << 31;

  uint32_t raw = 0;

  static constexpr Wire input(uint32_t index) { return Wire{index | kInputFlag}; }
  static constexpr Wire aux(uint32_t index) { return Wire{index}; }
  static constexpr Wire one() { return input(0); }

  constexpr bool is_input() const { return (raw & kInputFlag) != 0; }
  constexpr uint32_t index() const { return raw & ~kInputFlag; }
  // Position in the order of terms inside a linear combination: all inputs ascending, then all aux ascending.
  constexpr uint32_t order_key() const { return raw ^ kInputFlag; }
  static constexpr Wire from_order_key(uint32_t key) { return Wire{key ^ kInputFlag}; }

  friend constexpr bool operator==(const Wire&, const Wire&) = default;
};

}  // namespace cuzk
