// Runs a circuit in every mode and holds the modes to each other and to known values. For tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/hex.hpp"
#include "circuit/assignment.hpp"
#include "circuit/boolean.hpp"
#include "circuit/checker.hpp"
#include "circuit/digester.hpp"
#include "circuit/num.hpp"
#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"

namespace cuzk::test {

// Bit i := (i*i + floor(i/3)) mod 2.
template <class CS>
std::vector<Boolean<CS>> fresh_bits(CS& cs, size_t count) {
  std::vector<Boolean<CS>> out;
  for (size_t i = 0; i < count; ++i) out.push_back(gadget::alloc_bit(cs, (i * i + i / 3) % 2 == 1));
  return out;
}

// 1, 2, 3, ...
template <class CS>
std::vector<Num<CS>> fresh_numbers(CS& cs, size_t count) {
  std::vector<Num<CS>> out;
  for (size_t i = 0; i < count; ++i) out.push_back(gadget::alloc_num(cs, Fr::from_u64(i + 1)));
  return out;
}

struct CheckValues {
  uint64_t inputs, aux, constraints;  // inputs with ONE
  std::string r1cs_digest, aux_digest;
};

struct AllModes {
  CompiledCircuit circuit;
  CircuitSummary summary;
  PackedWitness witness;
  std::vector<Fr> inputs, aux;  // the checker's
};

// `circuit(cs)` must be a generic callable. The satisfied witness and all digests must agree between the modes.
template <class F>
AllModes run_all_modes(F&& circuit) {
  AllModes out;
  Recorder recorder;
  circuit(recorder);
  out.circuit = recorder.finish();
  Digester digester;
  circuit(digester);
  out.summary = digester.summary();
  Checker checker;
  circuit(checker);
  EXPECT_TRUE(checker.satisfied()) << "constraint " << checker.first_violation()->constraint << " in "
                                   << checker.first_violation()->path;
  PackedWriter writer;
  circuit(writer);
  out.witness = writer.finish();
  out.inputs = checker.inputs();
  out.aux = checker.aux();

  EXPECT_EQ(to_hex(r1cs_digest(out.circuit)), to_hex(out.summary.r1cs_digest));
  EXPECT_EQ(out.circuit.num_inputs, out.summary.num_inputs);
  EXPECT_EQ(out.circuit.num_aux, out.summary.num_aux);
  EXPECT_EQ(out.circuit.num_constraints, out.summary.num_constraints);
  EXPECT_EQ(checker.num_constraints(), out.summary.num_constraints);
  const WireDensities densities = wire_densities(out.circuit);
  EXPECT_EQ(densities.a_aux.count(), out.summary.a_aux_density);
  EXPECT_EQ(densities.b_input.count(), out.summary.b_input_density);
  EXPECT_EQ(densities.b_aux.count(), out.summary.b_aux_density);
  EXPECT_EQ(out.circuit.a().num_terms(), out.summary.a_terms);
  EXPECT_EQ(out.circuit.b().num_terms(), out.summary.b_terms);
  EXPECT_EQ(out.circuit.c().num_terms(), out.summary.c_terms);
  EXPECT_EQ(out.witness.bits.size(), out.summary.num_booleans);
  EXPECT_EQ(out.witness.fields.size(), out.summary.num_fields);
  EXPECT_EQ(out.inputs, out.witness.inputs);
  const auto expanded = expand_witness(out.circuit, out.witness);
  EXPECT_TRUE(expanded.ok()) << (expanded.ok() ? "" : expanded.error().describe());
  if (expanded.ok()) {
    EXPECT_TRUE(expanded.value() == out.aux) << "the packed witness differs from the checker's";
    EXPECT_FALSE(first_unsatisfied(out.circuit, out.witness.inputs, expanded.value()).has_value());
  }
  return out;
}

template <class F>
AllModes check_all_modes(const CheckValues& expected, F&& circuit) {
  AllModes out = run_all_modes(circuit);
  EXPECT_EQ(out.summary.num_inputs, expected.inputs);
  EXPECT_EQ(out.summary.num_aux, expected.aux);
  EXPECT_EQ(out.summary.num_constraints, expected.constraints);
  EXPECT_EQ(to_hex(out.summary.r1cs_digest), expected.r1cs_digest);
  EXPECT_EQ(to_hex(digest_of_values(out.aux)), expected.aux_digest);
  return out;
}

}  // namespace cuzk::test
