// What compiling a circuit gives, told without compiling it: to plan with.
#pragma once

#include <cstdint>

#include "filecoin/circuit_spec.hpp"

namespace cuzk {

struct CompiledFigures {
  uint64_t terms = 0;  // CompiledCircuit::num_terms()
  uint64_t bytes = 0;  // CompiledCircuit::bytes()

  // The most that is held while it is compiled: growing arrays beside those that it keeps. Measured, 1.25 to 1.45 of
  // the circuit's bytes.
  uint64_t compiling_bytes() const { return bytes + bytes / 2; }
};

// Of a circuit of circuit_specs().
CompiledFigures compiled_figures(const CircuitSpec& circuit);

}  // namespace cuzk
