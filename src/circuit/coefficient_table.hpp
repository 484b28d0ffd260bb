// CoefficientTable: every coefficient of a circuit once, named by a small number.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "field/fr.hpp"

namespace cuzk {

// Linear combinations hold 32-bit ids instead of field elements, so that a term is one 64-bit word that sorts by
// wire. The powers of two and their negatives, which are nearly all coefficients of a SHA-256 circuit, have fixed ids.
class CoefficientTable {
 public:
  static constexpr uint32_t kZero = 0;
  static constexpr uint32_t kOne = 1;
  static constexpr unsigned kMaxPower = 254;
  // The id of 2^k, k <= kMaxPower.
  static constexpr uint32_t power_of_two(unsigned k) { return 1 + k; }
  // The id of -2^k, k <= kMaxPower.
  static constexpr uint32_t negative_power_of_two(unsigned k) { return 1 + kMaxPower + 1 + k; }
  static constexpr uint32_t kMinusOne = 1 + kMaxPower + 1;

  CoefficientTable();

  // The id of `value`; made where it is new. About 10 ns.
  uint32_t intern(const Fr& value) {
    const uint64_t key = hash(value);
    for (size_t slot = key & mask_;; slot = (slot + 1) & mask_) {
      const uint32_t id = slots_[slot];
      if (id == kEmpty) return insert(value, slot);
      if (values_[id] == value) return id;
    }
  }
  const Fr& value(uint32_t id) const { return values_[id]; }
  const std::vector<Fr>& values() const { return values_; }
  size_t size() const { return values_.size(); }
  // The ids of value(a) + value(b) and of -value(a).
  uint32_t add(uint32_t a, uint32_t b) { return intern(values_[a] + values_[b]); }
  uint32_t negate(uint32_t a) { return intern(-values_[a]); }

 private:
  static constexpr uint32_t kEmpty = 0xffffffff;
  static uint64_t hash(const Fr& value) {
    const auto& l = value.montgomery();
    uint64_t h = l[0] * 0x9e3779b97f4a7c15 ^ (l[1] + 0x632be59bd9b4e019) * 0xc2b2ae3d27d4eb4f ^
                 l[2] * 0x165667b19e3779f9 ^ l[3] * 0xd6e8feb86659fd93;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9;
    return h ^ h >> 32;
  }
  uint32_t insert(const Fr& value, size_t slot);
  void grow();

  std::vector<Fr> values_;
  std::vector<uint32_t> slots_;
  size_t mask_ = 0;
};

}  // namespace cuzk
