// Upstream's 32 GiB vector through the whole circuit: 81 million constraints, 3 GB.
#include <gtest/gtest.h>

#include "base/hex.hpp"
#include "circuit/checker.hpp"
#include "filecoin/snap_circuit.hpp"
#include "format/snap_vanilla_format.hpp"
#include "support/snap_vectors.hpp"

namespace cuzk {
namespace {

TEST(SnapVectors, Of32GiBSatisfiesTheCircuit) {
  const test::SnapVector vector("snap-32GiB-k0");
  const SnapShape& shape = *registered_update_proofs()[vector.registered_proof].shape;
  const Result<SnapPartition> partition = read_snap_partition(shape, 0, vector.blob);
  ASSERT_TRUE(partition.ok()) << partition.error().describe();
  const SnapCommitments commitments = {*Fr::from_bytes_le(vector.comm_r_old), *Fr::from_bytes_le(vector.comm_d_new),
                                       *Fr::from_bytes_le(vector.comm_r_new)};
  Checker checker;
  synthesize_snap(checker, {&shape, &*partition, 0, shape.default_h(), commitments});
  EXPECT_TRUE(checker.satisfied()) << checker.first_violation()->path;
  EXPECT_EQ(checker.aux().size(), vector.num_aux);
  EXPECT_EQ(checker.num_constraints(), vector.num_constraints);
  EXPECT_EQ(to_hex(checker.inputs_digest()), vector.sha256_input_assignment);
  EXPECT_EQ(to_hex(checker.aux_digest()), vector.sha256_aux_assignment);
}

}  // namespace
}  // namespace cuzk
