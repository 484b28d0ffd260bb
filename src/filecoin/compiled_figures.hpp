// What compiling a circuit gives, told without compiling it: to plan with.
#pragma once

#include <cstdint>

#include "filecoin/circuit_spec.hpp"

namespace cuzk {

struct CompiledFigures {
  uint64_t terms = 0;  // CompiledCircuit::num_terms()
  uint64_t bytes = 0;  // CompiledCircuit::bytes()
};

// Of a circuit of circuit_specs().
CompiledFigures compiled_figures(const CircuitSpec& circuit);

}  // namespace cuzk
