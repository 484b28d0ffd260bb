// Recorder: runs a circuit without values and keeps its matrices.
#pragma once

#include <span>
#include <vector>

#include "base/assert.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/constraint_system.hpp"
#include "circuit/growing_bits.hpp"
#include "circuit/poseidon_circuit.hpp"

namespace cuzk {

class Recorder {
 public:
  static constexpr bool kHasValues = false;
  static constexpr bool kHasConstraints = true;
  static constexpr bool kPacked = false;
  using Lc = LinearCombination;

  Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Wire alloc_boolean(bool) { return alloc_aux(WireKind::kBoolean); }
  Wire alloc_field(const Fr&) { return alloc_aux(WireKind::kField); }
  Wire alloc_input(const Fr&) { return Wire::input(num_inputs_++); }
  Wire alloc_derived(const Fr&) {
    CUZK_ASSERT(in_derived_);
    return alloc_aux(WireKind::kDerived);
  }
  void begin_derived(unsigned arity, uint64_t tag, std::span<const Wire> preimage);
  void end_derived();

  template <class A, class B, class C>
  void enforce(A&& a, B&& b, C&& c) {
    a_.clear();
    a(a_);
    b_.clear();
    b(b_);
    c_.clear();
    c(c_);
    record();
  }

  NoScope scope(const char*) { return {}; }
  NoScope scope(const char*, uint64_t) { return {}; }
  Lc make_lc() { return Lc(table_); }
  PoseidonCircuitCache& poseidon_circuits() { return poseidon_; }

  // The circuit; the recorder is empty afterwards and must not be used again. Coefficients that no constraint has in
  // the end are left out. Cost: about 8 bytes a term, and 32 bytes a constraint.
  CompiledCircuit finish();

 private:
  Wire alloc_aux(WireKind kind) {
    if (kinds_.empty() || kinds_.back().kind != kind) kinds_.push_back({kind, 0});
    ++kinds_.back().count;
    return Wire::aux(num_aux_++);
  }
  void record();
  void append(CsrMatrix& matrix, const LinearCombination& lc);
  void compact_coefficients(CompiledCircuit& out) const;

  CoefficientTable table_;
  PoseidonCircuitCache poseidon_{table_};
  Lc a_{table_}, b_{table_}, c_{table_};
  uint32_t num_inputs_ = 1, num_aux_ = 0, num_constraints_ = 0;
  CsrMatrix ma_, mb_, mc_;
  std::vector<WireKindRun> kinds_;
  std::vector<DerivedInstance> derived_;
  std::vector<uint32_t> derived_inputs_;
  Densities densities_;
  bool in_derived_ = false;
};

static_assert(ConstraintSystem<Recorder>);

}  // namespace cuzk
