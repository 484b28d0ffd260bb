// Splits the scalars of a query into zeros, ones and others: nearly all wires of a bit-wise circuit are bits, whose
// bases need no multiplication, only a sum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.hpp"
#include "field/fr.hpp"
#include "msm/msm.hpp"

namespace cuzk {

// A bit per value: is it one; is it neither zero nor one.
struct ValueClasses {
  BitVector one, other;
};

// Parallel; one pass over the values.
ValueClasses classify(std::span<const Fr> values);

// The scalars of one query, in query order.
class QuerySelection {
 public:
  // Appends the values whose density bit is set, or all where density is null. classes = classify(values), and
  // density, if any, has one bit a value.
  void append(std::span<const Fr> values, const ValueClasses& classes, const BitVector* density);

  size_t size() const { return ones_.size(); }
  // sum over i of scalar_i * bases[i]; bases.size() == size().
  template <class Curve>
  Jacobian<Curve> sum(std::span<const Affine<Curve>> bases) const {
    CUZK_ASSERT(bases.size() == size());
    std::vector<Affine<Curve>> gathered(others_.size());
    for (size_t i = 0; i < others_.size(); ++i) gathered[i] = bases[others_[i]];
    return sum_selected<Curve>(bases, ones_) + msm<Curve>(std::span<const Affine<Curve>>(gathered), scalars_);
  }

 private:
  BitVector ones_;
  std::vector<uint64_t> others_;  // positions in the query
  std::vector<Fr> scalars_;       // of those
};

}  // namespace cuzk
