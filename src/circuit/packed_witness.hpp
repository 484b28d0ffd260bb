// PackedWitness: the values of one circuit instance without what is redundant, and its expansion.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "field/fr.hpp"

namespace cuzk {

struct PackedWitness {
  std::vector<Fr> inputs;  // ONE first
  BitVector bits;          // the boolean aux wires in order of allocation
  std::vector<Fr> fields;  // the field aux wires in order of allocation; derived wires are not stored

  friend bool operator==(const PackedWitness&, const PackedWitness&) = default;
};

// Whether the witness was made for this circuit: kInternal where counts differ or ONE is not 1.
Status check_packed_witness(const CompiledCircuit& circuit, const PackedWitness& witness);

// All aux values, index by index, derived wires filled in. Parallel. Errors: those of check_packed_witness.
// Cost: 32 bytes a wire, about 25 us a derived instance and thread.
Result<std::vector<Fr>> expand_witness(const CompiledCircuit& circuit, const PackedWitness& witness);

}  // namespace cuzk
