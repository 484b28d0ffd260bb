// The order in which the Poseidon hashes of a circuit can be computed.
#pragma once

#include <cstdint>
#include <vector>

#include "circuit/compiled_circuit.hpp"

namespace cuzk {

// One hash: CircuitBlock::derived[derived] of an instance.
struct HashJob {
  uint32_t instance, derived;
};

// All hashes in steps: those of a step read none of the same step, and all that they read are in earlier ones.
std::vector<std::vector<HashJob>> hash_order(const CompiledCircuit& circuit);

}  // namespace cuzk
