#include "groth16/memory.hpp"

#include <bit>

namespace cuzk {

uint32_t CircuitSizes::log2_domain() const { return static_cast<uint32_t>(std::bit_width(rows() - 1)); }

CircuitSizes sizes_of(const CompiledCircuit& circuit) {
  const WireDensities densities = wire_densities(circuit);
  CircuitSizes out;
  out.inputs = circuit.num_inputs;
  out.aux = circuit.num_aux;
  out.constraints = circuit.num_constraints;
  out.bits = circuit.num_bits;
  out.fields = circuit.num_fields;
  out.a_aux = densities.a_aux.count();
  out.b_aux = densities.b_aux.count();
  out.b_inputs = densities.b_input.count();
  out.terms = circuit.num_terms();
  out.compiled_bytes = circuit.bytes();
  return out;
}

uint64_t peak_bytes(const std::vector<StepMemory>& steps) {
  uint64_t most = 0;
  for (const StepMemory& step : steps) most = std::max(most, step.bytes);
  return most;
}

}  // namespace cuzk
