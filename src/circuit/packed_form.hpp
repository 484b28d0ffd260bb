// The packed form of a compiled circuit, for backends that evaluate it from packed bits and values.
#pragma once

#include <cstdint>
#include <vector>

#include "circuit/compiled_circuit.hpp"
#include "matrix/packed_system.hpp"

namespace cuzk {

// A view of `circuit`, which must outlive it. Parallel; one pass over the columns of every block. 40 million terms: 0.2
// s, and 4 bytes a term of memory.
PackedSystem packed_form(const CompiledCircuit& circuit);

// Where the aux wires of a circuit lie in the packed form, run by run: calls
// visit(first_aux, count, first place) in ascending order of aux wires; a run's places ascend with its wires.
template <class Visit>
void for_each_packed_run(const CompiledCircuit& circuit, Visit&& visit) {
  uint32_t value = circuit.num_inputs;
  for (const BlockInstance& instance : circuit.instances) {
    uint32_t aux = instance.first_aux, bit = instance.first_bit;
    for (const WireKindRun& run : circuit.block(instance).kinds) {
      if (run.kind == WireKind::kBoolean) {
        visit(aux, run.count, PackedPlace::bit(bit));
        bit += run.count;
      } else {
        visit(aux, run.count, PackedPlace::value(value));
        value += run.count;
      }
      aux += run.count;
    }
  }
}

}  // namespace cuzk
