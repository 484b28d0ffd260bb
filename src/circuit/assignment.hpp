// Full assignments against compiled matrices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "circuit/compiled_circuit.hpp"
#include "field/fr.hpp"

namespace cuzk {

// The lowest number of a constraint that the assignment does not satisfy; nothing where it satisfies all. inputs[0]
// must be 1; sizes must be the circuit's (CUZK_ASSERT). Parallel over rows; about 10 ns a term and thread.
std::optional<uint32_t> first_unsatisfied(const CompiledCircuit& circuit, std::span<const Fr> inputs,
                                          std::span<const Fr> aux);

}  // namespace cuzk
