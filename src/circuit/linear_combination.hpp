// Linear combinations of wires, as constraints take them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "circuit/coefficient_table.hpp"
#include "circuit/wire.hpp"

namespace cuzk {

// Terms in any order while it is built; normalize() sorts them (inputs ascending, then aux ascending), adds the
// coefficients of a wire that occurs more than once, and drops terms whose coefficient is zero.
class LinearCombination {
 public:
  explicit LinearCombination(CoefficientTable& table) : table_(&table) {}

  void add(Wire w) { add_id(w, CoefficientTable::kOne); }
  void sub(Wire w) { add_id(w, CoefficientTable::kMinusOne); }
  void add(Wire w, const Fr& coefficient) { add_id(w, table_->intern(coefficient)); }
  // + 2^k * w, k <= 254.
  void add_shifted(Wire w, unsigned k) { add_id(w, CoefficientTable::power_of_two(k)); }
  // - 2^k * w, k <= 254.
  void sub_shifted(Wire w, unsigned k) { add_id(w, CoefficientTable::negative_power_of_two(k)); }
  // + 2^k * integer * w, k <= 254.
  void add_shifted_integer(Wire w, uint64_t integer, unsigned k) {
    add_id(w, table_->intern(Fr::from_u64(integer) * table_->value(CoefficientTable::power_of_two(k))));
  }
  // A coefficient by its id in the system's table.
  void add_id(Wire w, uint32_t coefficient_id) {
    if (coefficient_id == CoefficientTable::kZero) return;
    const uint64_t term = uint64_t{w.order_key()} << 32 | coefficient_id;
    // Equal wires need merging, so the order must be strict to skip it.
    if (!terms_.empty() && (terms_.back() >> 32) >= w.order_key()) sorted_ = false;
    terms_.push_back(term);
  }

  // + other, which must belong to the same table.
  void append(const LinearCombination& other) {
    if (!terms_.empty() || !other.sorted_) sorted_ = false;
    terms_.insert(terms_.end(), other.terms_.begin(), other.terms_.end());
  }

  void clear() {
    terms_.clear();
    sorted_ = true;
  }
  void normalize() {
    if (!sorted_) sort_and_merge();
  }

  // After normalize(): the terms in order, each order_key << 32 | coefficient id.
  std::span<const uint64_t> terms() const { return terms_; }
  static Wire wire_of(uint64_t term) { return Wire::from_order_key(static_cast<uint32_t>(term >> 32)); }
  static uint32_t id_of(uint64_t term) { return static_cast<uint32_t>(term); }
  bool empty() const { return terms_.empty(); }
  CoefficientTable& table() const { return *table_; }

 private:
  void sort_and_merge();

  CoefficientTable* table_;
  std::vector<uint64_t> terms_;
  bool sorted_ = true;
};

// Stands in where a mode has no constraints. Nothing calls its members; they exist so that templates compile.
class NoLinearCombination {
 public:
  void add(Wire) {}
  void sub(Wire) {}
  void add(Wire, const Fr&) {}
  void add_shifted(Wire, unsigned) {}
  void sub_shifted(Wire, unsigned) {}
  void add_shifted_integer(Wire, uint64_t, unsigned) {}
  void add_id(Wire, uint32_t) {}
  void append(const NoLinearCombination&) {}
  void clear() {}
};

}  // namespace cuzk
