// Splits the scalars of a query into zeros, ones and others: nearly all wires of a bit-wise circuit are bits, whose
// bases need no multiplication, only a sum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.hpp"
#include "circuit/compiled_circuit.hpp"
#include "field/fr.hpp"
#include "msm/msm.hpp"

namespace cuzk {

// A bit per value: is it one; is it neither zero nor one.
struct ValueClasses {
  BitVector one, other;
};

// Parallel; one pass over the values.
ValueClasses classify(std::span<const Fr> values);

// The scalars of one query, in query order: views of the values, no copies of them.
class QuerySelection {
 public:
  // Others whose bases and scalars are brought together at a time.
  static constexpr size_t kGatherPoints = size_t{1} << 21;
  explicit QuerySelection(size_t gather_points = kGatherPoints) : gather_points_(gather_points) {}

  // Appends the values whose density bit is set, or all where density is null. classes = classify(values), and
  // density, if any, has one bit a value. All three must outlive the last sum().
  void append(std::span<const Fr> values, const ValueClasses& classes, const BitVector* density);

  size_t size() const { return ones_.size(); }
  size_t num_ones() const { return ones_.count(); }
  // Those that are neither zero nor one.
  size_t num_others() const { return num_others_; }

  // sum over i of scalar_i * bases[i]; bases.size() == size().
  template <class Curve>
  Jacobian<Curve> sum(std::span<const Affine<Curve>> bases) const;
  // The most that sum() allocates for a query of `size` scalars of which at most `others` are neither zero nor one.
  template <class Curve>
  static uint64_t sum_scratch_bytes(uint64_t size, uint64_t others, size_t threads);
  // The additions of its multi-scalar multiplications: msm_additions().
  static uint64_t additions(uint64_t others);

 private:
  struct Part {
    std::span<const Fr> values;
    std::span<const uint64_t> others, density;  // words; no density: all
    size_t first;                               // in the query
  };
  // visit(position in the query, value) for the others, in order.
  template <class Visit>
  void for_each_other(const Visit& visit) const;

  size_t gather_points_;
  BitVector ones_;
  std::vector<Part> parts_;
  size_t num_others_ = 0;
};

// The queries of a proof. `inputs` and `aux` must outlive them.
class WitnessQueries {
 public:
  WitnessQueries(const CompiledCircuit& circuit, std::span<const Fr> inputs, std::span<const Fr> aux);
  WitnessQueries(const WitnessQueries&) = delete;  // the selections view what is beside them
  WitnessQueries& operator=(const WitnessQueries&) = delete;

  QuerySelection l, a, b;

 private:
  WireDensities densities_;
  ValueClasses input_classes_, aux_classes_;
};

}  // namespace cuzk
