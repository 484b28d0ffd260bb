// The update circuits of 512 MiB, 32 and 64 GiB: 57 to 85 million constraints.
#include <gtest/gtest.h>

#include "base/hex.hpp"
#include "circuit/checker.hpp"
#include "filecoin/compiled_test_util.hpp"
#include "filecoin/snap_circuit.hpp"
#include "filecoin/snap_prove.hpp"
#include "filecoin/snap_synthetic.hpp"

namespace cuzk {
namespace {

void expect_digest(const char* id, const char* digest) {
  const SnapShape& shape = *snap_shape_by_circuit_id(id);
  const CircuitSummary summary = snap_digest(shape);
  const CircuitCounts counts = snap_circuit_counts(shape);
  EXPECT_EQ(summary.num_inputs, counts.inputs);
  EXPECT_EQ(summary.num_aux, counts.aux);
  EXPECT_EQ(summary.num_constraints, counts.constraints);
  EXPECT_EQ(summary.a_aux_density, counts.a_aux_density);
  EXPECT_EQ(summary.b_aux_density, counts.b_aux_density);
  EXPECT_EQ(summary.b_input_density, counts.b_input_density);
  EXPECT_EQ(summary.num_booleans, counts.bits);
  EXPECT_EQ(summary.num_fields, counts.fields);
  EXPECT_EQ(to_hex(summary.r1cs_digest), digest);
  test::expect_compiled(compile_snap(shape), summary, 100'000'000);
}

TEST(SnapFullCircuit, Of512MiBMatchesUpstream) {
  expect_digest("snap-512m", "5aff45fe864f21e128095283ba8d59a9ddf570743d745dc00560618b4aec6bff");
}
TEST(SnapFullCircuit, Of32GiBMatchesUpstream) {
  expect_digest("snap-32g", "46efa853757a74e534fcc212e2e72c2befa60e97b7d85f21b64ecaab6adf86e1");
}
TEST(SnapFullCircuit, Of64GiBMatchesUpstream) {
  expect_digest("snap-64g", "7be2b10ee93586e7bcadb4e6564d86b3e9730964003bf9c0620f31c8b73a6411");
}

// The last partition of a synthetic sector: 3 GB.
TEST(SnapFullCircuit, SyntheticInputOf64GiBSatisfiesIt) {
  SnapSyntheticInput synthetic;
  synthetic.shape = snap_shape_by_circuit_id("snap-64g");
  const SnapInput input = make_synthetic_snap(synthetic);
  ASSERT_EQ(input.partitions.size(), 16u);
  const Status status = snap_check(input, 15);
  EXPECT_TRUE(status.ok()) << status.error().describe();
}

}  // namespace
}  // namespace cuzk
