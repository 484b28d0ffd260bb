// The compiled form of a circuit against its digest and counts. For tests.
#pragma once

#include <gtest/gtest.h>

#include "base/hex.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/digester.hpp"

namespace cuzk::test {

inline void expect_compiled(const CompiledCircuit& circuit, const CircuitSummary& summary, uint64_t max_bytes) {
  EXPECT_LE(circuit.bytes(), max_bytes);
  EXPECT_EQ(circuit.num_inputs, summary.num_inputs);
  EXPECT_EQ(circuit.num_aux, summary.num_aux);
  EXPECT_EQ(circuit.num_constraints, summary.num_constraints);
  EXPECT_EQ(circuit.num_bits, summary.num_booleans);
  EXPECT_EQ(circuit.num_fields, summary.num_fields);
  EXPECT_EQ(circuit.a().num_terms(), summary.a_terms);
  EXPECT_EQ(circuit.b().num_terms(), summary.b_terms);
  EXPECT_EQ(circuit.c().num_terms(), summary.c_terms);
  const WireDensities densities = wire_densities(circuit);
  EXPECT_EQ(densities.a_aux.count(), summary.a_aux_density);
  EXPECT_EQ(densities.b_input.count(), summary.b_input_density);
  EXPECT_EQ(densities.b_aux.count(), summary.b_aux_density);
  EXPECT_EQ(to_hex(r1cs_digest(circuit)), to_hex(summary.r1cs_digest));
}

}  // namespace cuzk::test
