// What a proof or a setup takes, told before it begins: pure functions of a circuit's sizes and the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "circuit/compiled_circuit.hpp"
#include "srs/layout.hpp"

namespace cuzk {

// The sizes of a circuit that its costs depend on. All are known without compiling it.
struct CircuitSizes {
  uint64_t inputs = 1;  // with ONE
  uint64_t aux = 0;
  uint64_t constraints = 0;  // without the input-consistency rows
  uint64_t bits = 0, fields = 0;
  uint64_t a_aux = 0, b_aux = 0, b_inputs = 0;  // wires that occur in A resp. B
  uint64_t terms = 0;                           // of A, B and C, counted for every instance of a block
  uint64_t compiled_bytes = 0;                  // CompiledCircuit::bytes()

  uint64_t rows() const { return constraints + inputs; }
  uint32_t log2_domain() const;
  uint64_t domain() const { return uint64_t{1} << log2_domain(); }
  SrsShape srs_shape() const { return {inputs, domain() - 1, aux, inputs + a_aux, b_inputs + b_aux, b_inputs + b_aux}; }
  // Bytes of a PackedWitness.
  uint64_t witness_bytes() const { return bits / 8 + 32 * (fields + inputs); }
  // Wires whose scalars are, or may be, neither zero nor one: of the l, a and b queries.
  uint64_t l_others() const { return aux - bits; }
  uint64_t a_others() const { return inputs + std::min(a_aux, aux - bits); }
  uint64_t b_others() const { return b_inputs + std::min(b_aux, aux - bits); }

  friend bool operator==(const CircuitSizes&, const CircuitSizes&) = default;
};

CircuitSizes sizes_of(const CompiledCircuit& circuit);

// The most that is allocated during one step, what earlier steps left included.
struct StepMemory {
  std::string_view name;  // as in ProveReport and Progress
  uint64_t bytes = 0;
};

uint64_t peak_bytes(const std::vector<StepMemory>& steps);

}  // namespace cuzk
