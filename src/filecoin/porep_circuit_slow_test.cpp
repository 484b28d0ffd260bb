// The full circuits of 32 and 64 GiB: a minute or so each, 130 million constraints.
#include <gtest/gtest.h>

#include "base/hex.hpp"
#include "filecoin/compiled_test_util.hpp"
#include "filecoin/porep_prove.hpp"

namespace cuzk {
namespace {

TEST(PorepFullCircuit, Of32GiBMatchesUpstream) {
  const CircuitSummary summary = porep_digest(*porep_shape_by_circuit_id("porep-32g"), 18);
  EXPECT_EQ(summary.num_inputs, 328u);
  EXPECT_EQ(summary.num_aux, 130169893u);
  EXPECT_EQ(summary.num_constraints, 130278541u);
  EXPECT_EQ(summary.a_aux_density, 129753292u);
  EXPECT_EQ(summary.b_aux_density, 33112281u);
  EXPECT_EQ(summary.b_input_density, 1u);
  EXPECT_EQ(summary.a_terms, 309404723u);
  EXPECT_EQ(summary.b_terms, 130327340u);
  EXPECT_EQ(summary.c_terms, 282656500u);
  EXPECT_EQ(to_hex(summary.r1cs_digest), "00c8d133cb5e24480e19e32a22060aa22e5ed5c9a2e42c09270a58f91a78365f");
  test::expect_compiled(compile_porep(*porep_shape_by_circuit_id("porep-32g"), 18), summary, 500'000'000);
}

TEST(PorepFullCircuit, Of64GiBMatchesUpstream) {
  const CircuitSummary summary = porep_digest(*porep_shape_by_circuit_id("porep-64g"), 18);
  EXPECT_EQ(summary.num_inputs, 328u);
  EXPECT_EQ(summary.num_aux, 131076643u);
  EXPECT_EQ(summary.num_constraints, 131185849u);
  EXPECT_EQ(summary.a_aux_density, 130637542u);
  EXPECT_EQ(summary.b_aux_density, 33386943u);
  EXPECT_EQ(summary.b_input_density, 1u);
  EXPECT_EQ(to_hex(summary.r1cs_digest), "89667c6de5e3fe36aacee8ee1774d1ed4abec7630d60f6e8993767dc465bdaf2");
  test::expect_compiled(compile_porep(*porep_shape_by_circuit_id("porep-64g"), 18), summary, 500'000'000);
}

}  // namespace
}  // namespace cuzk
