#include "residency/circuit_sizes.hpp"

#include "filecoin/compiled_figures.hpp"

namespace cuzk {

CircuitSizes sizes_of(const CircuitSpec& circuit) {
  const CircuitCounts counts = circuit.counts();
  const CompiledFigures figures = compiled_figures(circuit);
  return {.inputs = counts.inputs,
          .aux = counts.aux,
          .constraints = counts.constraints,
          .bits = counts.bits,
          .fields = counts.fields,
          .a_aux = counts.a_aux_density,
          .b_aux = counts.b_aux_density,
          .b_inputs = counts.b_input_density,
          .terms = figures.terms,
          .compiled_bytes = figures.bytes};
}

}  // namespace cuzk
