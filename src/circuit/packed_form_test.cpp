// The packed form against the expansion and the products of the compiled circuit.
#include "circuit/packed_form.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "circuit/circuit_test_util.hpp"
#include "circuit/poseidon_gadget.hpp"
#include "matrix/matrix.hpp"
#include "support/block_circuit.hpp"
#include "support/packed_reference.hpp"

namespace cuzk {
namespace {

template <class F>
void expect_same_values(F&& circuit_of) {
  const test::AllModes modes = test::run_all_modes(circuit_of);
  const CompiledCircuit& circuit = modes.circuit;
  const PackedSystem system = packed_form(circuit);
  EXPECT_EQ(system.num_values + system.num_bits, circuit.num_inputs + circuit.num_aux);
  EXPECT_EQ(system.num_terms(), circuit.num_terms());
  const test::PackedReference reference(system, modes.witness);
  uint32_t next = 0;
  for_each_packed_run(circuit, [&](uint32_t first, uint32_t count, PackedPlace place) {
    EXPECT_EQ(first, next);
    next += count;
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_TRUE(reference.value({place.raw + i}) == modes.aux.at(first + i)) << "aux " << first + i;
    }
  });
  EXPECT_EQ(next, circuit.num_aux);
  for (uint32_t i = 0; i < circuit.num_inputs; ++i) EXPECT_TRUE(reference.values()[i] == modes.inputs[i]);
  const BlockMatrix matrices[] = {circuit.a(), circuit.b(), circuit.c()};
  for (size_t m = 0; m < 3; ++m) {
    std::vector<Fr> rows(circuit.num_constraints);
    multiply(matrices[m], Coefficients(circuit.coefficients), modes.inputs, modes.aux, rows);
    EXPECT_TRUE(reference.rows(m) == rows) << "matrix " << m;
  }
}

TEST(PackedForm, OneBlock) {
  expect_same_values([](auto& cs) {
    const auto bits = test::fresh_bits(cs, 70);
    auto numbers = test::fresh_numbers(cs, 5);
    gadget::inputize(cs, numbers[2]);
    for (size_t i = 0; i + 1 < bits.size(); ++i) gadget::boolean_xor(cs, bits[i], bits[i + 1]);
    gadget::inputize(cs, gadget::mul(cs, numbers[3], numbers[4]));
  });
}

TEST(PackedForm, Empty) {
  const CompiledCircuit circuit = Recorder().finish();
  const PackedSystem system = packed_form(circuit);
  EXPECT_EQ(system.num_values, 1u);
  EXPECT_TRUE(system.batches.empty());
}

TEST(PackedForm, BlocksWithPorts) {
  for (const size_t instances : {1, 9}) {
    expect_same_values([=](auto& cs) { test::block_circuit(cs, instances); });
  }
}

// A chain of dependent hashes is as many batches; independent ones of equal form are one.
TEST(PackedForm, Batches) {
  Recorder cs;
  std::vector<Num<Recorder>> n = test::fresh_numbers(cs, 4);
  for (int i = 0; i < 3; ++i) gadget::poseidon_hash<Recorder>(cs, n);
  const std::array<Num<Recorder>, 2> two = {gadget::poseidon_hash<Recorder>(cs, n), n[0]};
  gadget::poseidon_hash<Recorder>(cs, two);
  const CompiledCircuit circuit = cs.finish();
  const PackedSystem system = packed_form(circuit);
  ASSERT_EQ(system.batches.size(), 2u);
  EXPECT_EQ(system.batches[0].arity, 4u);
  EXPECT_EQ(system.batches[0].num_jobs, 4u);
  EXPECT_EQ(system.batches[1].arity, 2u);
  EXPECT_EQ(system.batches[1].num_jobs, 1u);
}

}  // namespace
}  // namespace cuzk
