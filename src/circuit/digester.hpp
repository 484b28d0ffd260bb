// Digester: runs a circuit without values and keeps nothing but its check values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circuit/constraint_system.hpp"
#include "circuit/growing_bits.hpp"
#include "circuit/poseidon_circuit.hpp"
#include "circuit/r1cs_stream.hpp"

namespace cuzk {

// What identifies a circuit, and the sizes that a prover plans with.
struct CircuitSummary {
  uint64_t num_inputs = 0, num_aux = 0, num_constraints = 0;  // inputs with ONE; no input-consistency rows
  uint64_t a_aux_density = 0, b_input_density = 0, b_aux_density = 0;
  uint64_t a_terms = 0, b_terms = 0, c_terms = 0;              // with nonzero coefficient
  uint64_t num_booleans = 0, num_fields = 0, num_derived = 0;  // aux by kind
  Sha256Digest r1cs_digest{};                                  // as r1cs_digest(CompiledCircuit)
};

// Memory: 2 bits a wire and some buffers. Two threads: one builds, one hashes (37 bytes a term).
class Digester {
 public:
  static constexpr bool kHasValues = false;
  static constexpr bool kHasConstraints = true;
  static constexpr bool kPacked = false;
  using Lc = LinearCombination;

  Digester() = default;
  Digester(const Digester&) = delete;
  Digester& operator=(const Digester&) = delete;

  Wire alloc_boolean(bool) {
    ++counts_.num_booleans;
    return next_aux();
  }
  Wire alloc_field(const Fr&) {
    ++counts_.num_fields;
    return next_aux();
  }
  Wire alloc_input(const Fr&) { return Wire::input(num_inputs_++); }
  Wire alloc_derived(const Fr&) {
    ++counts_.num_derived;
    return next_aux();
  }
  void begin_derived(unsigned, uint64_t, std::span<const Wire>) {}
  void end_derived() {}

  template <class A, class B, class C>
  void enforce(A&& a, B&& b, C&& c) {
    lc_.clear();
    a(lc_);
    put_a();
    lc_.clear();
    b(lc_);
    put_b();
    lc_.clear();
    c(lc_);
    put_c();
    ++counts_.num_constraints;
  }

  NoScope scope(const char*) { return {}; }
  NoScope scope(const char*, uint64_t) { return {}; }
  Lc make_lc() { return Lc(table_); }
  PoseidonCircuitCache& poseidon_circuits() { return poseidon_; }

  // The check values of the constraints so far; more may follow.
  CircuitSummary summary();

 private:
  Wire next_aux() { return Wire::aux(num_aux_++); }
  void put_a();
  void put_b();
  void put_c();
  void write();
  const std::array<uint8_t, 32>& coefficient_bytes(uint32_t id) {
    if (id >= bytes_.size()) extend_bytes();
    return bytes_[id];
  }
  void extend_bytes();

  CoefficientTable table_;
  PoseidonCircuitCache poseidon_{table_};
  Lc lc_{table_};
  uint32_t num_inputs_ = 1, num_aux_ = 0;
  CircuitSummary counts_;
  Densities densities_;
  std::vector<std::array<uint8_t, 32>> bytes_;  // plain little-endian, by coefficient id
  R1csStream stream_;
};

static_assert(ConstraintSystem<Digester>);

}  // namespace cuzk
