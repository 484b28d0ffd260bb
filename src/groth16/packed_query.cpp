#include "groth16/packed_query.hpp"

#include "circuit/packed_form.hpp"

namespace cuzk {

PackedQuery packed_query(const CompiledCircuit& circuit, bool with_inputs, const BitVector* input_density,
                         const BitVector* aux_density) {
  PackedQuery out;
  uint32_t position = 0;
  if (with_inputs) {
    for (uint32_t i = 0; i < circuit.num_inputs; ++i) {
      if (input_density != nullptr && !input_density->get(i)) continue;
      out.values.index.push_back(i);
      out.values.position.push_back(position++);
    }
  }
  for_each_packed_run(circuit, [&](uint32_t first_aux, uint32_t count, PackedPlace place) {
    PackedQuery::Group& group = place.is_bit() ? out.bits : out.values;
    for (uint32_t i = 0; i < count; ++i) {
      if (aux_density != nullptr && !aux_density->get(first_aux + i)) continue;
      group.index.push_back(place.index() + i);
      group.position.push_back(position++);
    }
  });
  return out;
}

PackedQueries packed_queries(const CompiledCircuit& circuit) {
  const WireDensities densities = wire_densities(circuit);
  return {packed_query(circuit, false, nullptr, nullptr), packed_query(circuit, true, nullptr, &densities.a_aux),
          packed_query(circuit, true, &densities.b_input, &densities.b_aux)};
}

}  // namespace cuzk
