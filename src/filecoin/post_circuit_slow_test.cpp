// The full window circuits of 32 and 64 GiB: 125 and 130 million constraints, 43 GB hashed each.
#include <gtest/gtest.h>

#include "base/hex.hpp"
#include "filecoin/compiled_test_util.hpp"
#include "filecoin/post_circuit.hpp"

namespace cuzk {
namespace {

TEST(PostFullCircuit, WindowOf32GiBMatchesUpstream) {
  const PostShape& shape = *post_shape_by_circuit_id("window-32g");
  const CircuitSummary summary = post_digest(shape, shape.sectors);
  EXPECT_EQ(summary.num_inputs, 25840u);
  EXPECT_EQ(summary.num_aux, 126902376u);
  EXPECT_EQ(summary.num_constraints, 125279217u);
  EXPECT_EQ(summary.a_aux_density, 96179805u);
  EXPECT_EQ(summary.b_aux_density, 91925766u);
  EXPECT_EQ(summary.b_input_density, 1u);
  EXPECT_EQ(to_hex(summary.r1cs_digest), "da09cc066b43f71a3ac05fb7c64712c96d173dcd935e0f409156536d809cdae9");
  test::expect_compiled(compile_post(shape, shape.sectors), summary, 100'000'000);
}

TEST(PostFullCircuit, WindowOf64GiBMatchesUpstream) {
  const PostShape& shape = *post_shape_by_circuit_id("window-64g");
  const CircuitSummary summary = post_digest(shape, shape.sectors);
  EXPECT_EQ(summary.num_inputs, 25301u);
  EXPECT_EQ(summary.num_aux, 131500200u);
  EXPECT_EQ(summary.num_constraints, 129887900u);
  EXPECT_EQ(summary.a_aux_density, 99624500u);
  EXPECT_EQ(summary.b_aux_density, 95413200u);
  EXPECT_EQ(summary.b_input_density, 1u);
  EXPECT_EQ(to_hex(summary.r1cs_digest), "d64d3f40c0f7faeb955746ed416c150adb93a90e916160ac6c9b1368fe25799f");
  test::expect_compiled(compile_post(shape, shape.sectors), summary, 100'000'000);
}

}  // namespace
}  // namespace cuzk
