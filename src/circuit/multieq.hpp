// MultiEq: several equalities of small integers as one constraint.
//
// Source: bellpepper gadgets/multieq.rs.
#pragma once

#include "circuit/constraint_system.hpp"

namespace cuzk {

// Equalities of n-bit numbers are put side by side, each shifted by the bits before it, until the next does not fit
// into 253 bits; then (L) * (ONE) = (R) is enforced. The rest is enforced on destruction.
template <class CS>
class MultiEq {
 public:
  explicit MultiEq(CS& cs) : cs_(cs), lhs_(cs.make_lc()), rhs_(cs.make_lc()) {}
  MultiEq(const MultiEq&) = delete;
  MultiEq& operator=(const MultiEq&) = delete;
  ~MultiEq() {
    if (bits_used_ > 0) flush();
  }

  CS& cs() { return cs_; }

  // add_lhs(lc, shift) and add_rhs(lc, shift) add 2^shift times a side of an equality of two n-bit numbers, n < 254.
  // Not called where the mode has no constraints.
  template <class Lhs, class Rhs>
  void enforce_equal(unsigned n, Lhs&& add_lhs, Rhs&& add_rhs) {
    if constexpr (CS::kHasConstraints) {
      if (bits_used_ + n >= 254) flush();
      add_lhs(lhs_, bits_used_);
      add_rhs(rhs_, bits_used_);
      bits_used_ += n;
    }
  }

 private:
  void flush() {
    cs_.enforce([&](auto& lc) { lc.append(lhs_); }, [](auto& lc) { lc.add(Wire::one()); },
                [&](auto& lc) { lc.append(rhs_); });
    lhs_.clear();
    rhs_.clear();
    bits_used_ = 0;
  }

  CS& cs_;
  typename CS::Lc lhs_, rhs_;
  unsigned bits_used_ = 0;
};

}  // namespace cuzk
