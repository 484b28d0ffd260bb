// What proving with a circuit of the catalog costs, known without compiling it.
#pragma once

#include "filecoin/circuit_spec.hpp"
#include "groth16/memory.hpp"

namespace cuzk {

// The sizes that memory and time depend on, in closed form (filecoin/compiled_figures.hpp); those of the compiled
// circuit are the same (groth16/memory.hpp).
CircuitSizes sizes_of(const CircuitSpec& circuit);

}  // namespace cuzk
