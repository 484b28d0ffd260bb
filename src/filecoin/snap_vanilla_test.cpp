// The vanilla check of updates: synthetic inputs of every size pass, and every kind of damage is named.
#include "filecoin/snap_vanilla.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "filecoin/snap_synthetic.hpp"
#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

SnapInput synthetic(const char* id, uint8_t seed, uint32_t partitions = 0) {
  SnapSyntheticInput input;
  input.shape = snap_shape_by_circuit_id(id);
  input.randomness.fill(seed);
  input.partitions = partitions;
  return make_synthetic_snap(input);
}

TEST(SnapSynthetic, EverySizePassesTheCheck) {
  for (const SnapShape& shape : snap_shapes()) {
    const bool whole = shape.partitions() <= 4;
    const SnapInput input = synthetic(shape.circuit_id.data(), 1, whole ? 0 : 2);
    ASSERT_EQ(input.partitions.size(), whole ? shape.partitions() : 2u);
    for (uint32_t k = 0; k < input.partitions.size(); ++k) {
      const Status status = validate_snap_partition(input, k);
      EXPECT_TRUE(status.ok()) << shape.circuit_id << " " << k << ": " << status.error().describe();
    }
    if (whole) {
      EXPECT_TRUE(validate_snap_vanilla(input).ok());
    }
  }
}

TEST(SnapSynthetic, FollowsTheSeedAlone) {
  const SnapInput a = synthetic("snap-8m", 1), b = synthetic("snap-8m", 1), c = synthetic("snap-8m", 2);
  EXPECT_EQ(a.partitions, b.partitions);
  EXPECT_EQ(a.commitments.comm_r_new, b.commitments.comm_r_new);
  EXPECT_NE(a.commitments.comm_r_new, c.commitments.comm_r_new);
  EXPECT_NE(a.commitments.comm_r_new, a.commitments.comm_r_old);
}

// The openings by another path than the generator's and the check's: from the bytes, index by index.
TEST(SnapSynthetic, OpeningsHashToTheCommitments) {
  const SnapInput input = synthetic("snap-16m", 9, 2);
  const SnapShape& shape = *input.shape;
  for (uint32_t k = 0; k < 2; ++k) {
    const SnapPartition& partition = input.partitions[k];
    for (uint32_t i = 0; i < shape.challenges; ++i) {
      for (const SnapProof proof : {SnapProof::kROld, SnapProof::kRNew}) {
        const MerkleProofView view = partition.opening(i, proof);
        uint64_t index = view.leaf_index;
        Fr node = view.leaf;
        size_t used = 0;
        for (const unsigned arity : {8, 8, 8, 8, 8, 8, 2}) {
          std::vector<Fr> children(view.siblings.begin() + static_cast<std::ptrdiff_t>(used),
                                   view.siblings.begin() + static_cast<std::ptrdiff_t>(used + arity - 1));
          children.insert(children.begin() + static_cast<std::ptrdiff_t>(index % arity), node);
          node = poseidon_hash_reference(children, poseidon_merkle_tag(arity));
          index /= arity;
          used += arity - 1;
        }
        EXPECT_EQ(node, view.root);
        const Fr comm_r = poseidon_hash_reference(std::vector<Fr>{partition.comm_c, node}, poseidon_merkle_tag(2));
        EXPECT_EQ(comm_r, proof == SnapProof::kROld ? input.commitments.comm_r_old : input.commitments.comm_r_new);
      }
      const MerkleProofView data = partition.opening(i, SnapProof::kDNew);
      std::array<uint8_t, 32> node = data.leaf.to_bytes_le();
      for (uint32_t level = 0; level < shape.log2_nodes(); ++level) {
        if (level == shape.path_levels()) {
          EXPECT_EQ(node, partition.apex_leaves[(data.leaf_index >> level) % 128].to_bytes_le());
        }
        std::array<uint8_t, 32> pair[2] = {node, data.siblings[level].to_bytes_le()};
        if (data.leaf_index >> level & 1) std::swap(pair[0], pair[1]);
        node = sha256({pair[0].data(), 64});
        node[31] &= 0x3f;
      }
      EXPECT_EQ(node, input.commitments.comm_d_new.to_bytes_le());
    }
  }
}

class SnapVanillaDamage : public testing::Test {
 protected:
  static constexpr uint32_t kPartition = 1, kChallenge = 4;

  void expect_named(const std::function<void(SnapInput&)>& damage, const std::string& field,
                    std::optional<uint32_t> partition = kPartition) {
    SnapInput bad = good_;
    damage(bad);
    const Status status = validate_snap_vanilla(bad);
    ASSERT_FALSE(status.ok()) << field;
    EXPECT_EQ(status.error().error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(status.error().field, field) << status.error().describe();
    EXPECT_EQ(status.error().partition, partition);
    EXPECT_EQ(status.error().sector, 42u);
  }
  void expect_value_named(uint32_t challenge, SnapProof proof, size_t value, const std::string& field) {
    expect_named([=](SnapInput& in) { in.partitions[kPartition].values(challenge, proof)[value] += Fr::one(); },
                 "vanilla_proofs[1].challenge_proofs[" + std::to_string(challenge) + "]." + field);
  }

  const SnapInput good_ = synthetic("snap-16k", 7);  // two partitions, 128 apex leaves, one level below them
};

TEST_F(SnapVanillaDamage, OfTreeROpenings) {
  ASSERT_TRUE(validate_snap_vanilla(good_).ok());
  for (const uint32_t i : {0u, kChallenge, 9u}) {
    for (const SnapProof proof : {SnapProof::kROld, SnapProof::kRNew}) {
      const std::string name = snap_proof_name(proof);
      for (const size_t value : {0, 1, 2, 8, 9, 15, 16, 22}) expect_value_named(i, proof, value, name);
    }
  }
}

TEST_F(SnapVanillaDamage, OfTreeDOpenings) {
  for (const uint32_t i : {0u, kChallenge, 9u}) {
    expect_value_named(i, SnapProof::kDNew, 0, "proof_d_new.root");
    expect_value_named(i, SnapProof::kDNew, 1, "proof_d_new");
    expect_value_named(i, SnapProof::kDNew, 2, "proof_d_new");  // below the apex leaves
    for (size_t level = 1; level <= 7; ++level) {               // in the apex tree
      expect_value_named(i, SnapProof::kDNew, 2 + level, "proof_d_new.path[" + std::to_string(level) + "]");
    }
    if (i > 0) expect_value_named(i, SnapProof::kDNew, 2 + 8, "proof_d_new.path[8]");  // in the partition tree
  }
  expect_named([](SnapInput& in) { in.partitions[kPartition].values(0, SnapProof::kDNew)[2 + 8] += Fr::one(); },
               "vanilla_proofs[1].apex_leafs");
}

TEST_F(SnapVanillaDamage, OfIndices) {
  for (const SnapProof proof : kSnapProofs) {
    // Of challenge 0, the openings of tree D and R are hashed before the challenges are known.
    expect_named([=](SnapInput& in) { in.partitions[kPartition].leaf_index(kChallenge, proof) ^= 1; },
                 "vanilla_proofs[1].challenge_proofs[4]." + std::string(snap_proof_name(proof)));
    expect_named([=](SnapInput& in) { in.partitions[kPartition].leaf_index(0, proof) ^= 2; },
                 "vanilla_proofs[1].challenge_proofs[0]." + std::string(snap_proof_name(proof)));
  }
}

TEST_F(SnapVanillaDamage, OfAnotherChallengesOpening) {
  expect_named(
      [](SnapInput& in) {
        SnapPartition& p = in.partitions[kPartition];
        for (const SnapProof proof : kSnapProofs) {
          const auto from = p.values(3, proof), to = p.values(kChallenge, proof);
          std::copy(from.begin(), from.end(), to.begin());
          p.leaf_index(kChallenge, proof) = p.leaf_index(3, proof);
        }
      },
      "vanilla_proofs[1].challenge_proofs[4].proof_r_old");
}

TEST_F(SnapVanillaDamage, OfApexLeaves) {
  for (const size_t i : {0u, 64u, 127u}) {
    expect_named([=](SnapInput& in) { in.partitions[kPartition].apex_leaves[i] += Fr::one(); },
                 "vanilla_proofs[1].apex_leafs");
  }
  expect_named([](SnapInput& in) { in.partitions[kPartition].apex_leaves.pop_back(); }, "vanilla_proofs[1].apex_leafs");
  expect_named([](SnapInput& in) { in.partitions[kPartition].apex_leaves.clear(); }, "vanilla_proofs[1].apex_leafs");
}

TEST_F(SnapVanillaDamage, OfCommitments) {
  expect_named([](SnapInput& in) { in.commitments.comm_r_old += Fr::one(); }, "comm_r_old", 0);
  expect_named([](SnapInput& in) { in.commitments.comm_r_new += Fr::one(); }, "comm_r_new", 0);
  expect_named([](SnapInput& in) { in.commitments.comm_d_new += Fr::one(); },
               "vanilla_proofs[0].challenge_proofs[0].proof_d_new.root", 0);
  expect_named([](SnapInput& in) { in.partitions[kPartition].comm_c += Fr::one(); }, "vanilla_proofs[1].comm_c");
  expect_named([](SnapInput& in) { std::swap(in.commitments.comm_r_old, in.commitments.comm_r_new); },
               "vanilla_proofs[0].comm_c", 0);
}

TEST_F(SnapVanillaDamage, OfThePartitions) {
  expect_named([](SnapInput& in) { in.partitions.pop_back(); }, "vanilla_proofs", std::nullopt);
  expect_named([](SnapInput& in) { in.partitions.clear(); }, "vanilla_proofs", std::nullopt);
  expect_named([](SnapInput& in) { in.partitions.push_back(in.partitions[0]); }, "vanilla_proofs", std::nullopt);
  // Exchanged: the first is not where it says.
  expect_named([](SnapInput& in) { std::swap(in.partitions[0], in.partitions[1]); }, "vanilla_proofs[0].apex_leafs", 0);
  // The first bad one is named, not the first that a thread finds.
  expect_named(
      [](SnapInput& in) {
        for (SnapPartition& p : in.partitions) p.comm_c += Fr::one();
      },
      "vanilla_proofs[0].comm_c", 0);
  SnapInput all_bad = good_;
  for (SnapPartition& p : all_bad.partitions) p.comm_c += Fr::one();
  EXPECT_TRUE(validate_snap_vanilla(all_bad).error().message.ends_with("; bad too: partition 1"))
      << validate_snap_vanilla(all_bad).error().message;
}

// Openings that are consistent among themselves but under other roots than those of challenge 0.
TEST_F(SnapVanillaDamage, OfAnotherSector) {
  const SnapInput other = synthetic("snap-16k", 8);
  ASSERT_TRUE(validate_snap_vanilla(other).ok());
  // Another sector's openings at this one's challenges exist in its synthetic tree where the challenges agree; so take
  // its commitments with this one's openings instead.
  SnapInput mixed = good_;
  mixed.commitments = other.commitments;
  EXPECT_FALSE(validate_snap_vanilla(mixed).ok());
  mixed = other;
  mixed.partitions[1] = good_.partitions[1];
  const Status status = validate_snap_vanilla(mixed);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().field, "vanilla_proofs[1].comm_c");
}

// Where there is one challenge's worth of freedom: a tree in which all leaves of tree R old are moved, with fitting
// roots and comm_r_old, is a valid old sector, but not the one that was encoded.
TEST(SnapVanilla, EncodingIsRecomputed) {
  const SnapInput good = synthetic("snap-1k", 3);
  // Every node of the new data the same for two inputs; another old sector under the same data and new replica.
  SnapInput bad = good;
  const SnapShape& shape = *bad.shape;
  SnapPartition& partition = bad.partitions[0];
  // A tree R of equal leaves: all nodes of a row are equal, so any leaf opens.
  std::vector<Fr> rows = {Fr::from_u64(5)};
  for (uint32_t level = 0; level < shape.tree.levels(); ++level) {
    rows.push_back(poseidon_hash(std::vector<Fr>(shape.tree.arity(level), rows.back())));
  }
  for (uint32_t i = 0; i < shape.challenges; ++i) {
    const std::span<Fr> values = partition.values(i, SnapProof::kROld);
    values[0] = rows.back();
    values[1] = rows[0];
    size_t at = 2;
    for (uint32_t level = 0; level < shape.tree.levels(); ++level) {
      for (uint32_t m = 1; m < shape.tree.arity(level); ++m) values[at++] = rows[level];
    }
  }
  bad.commitments.comm_r_old = poseidon_hash(std::array<Fr, 2>{partition.comm_c, rows.back()});
  const Status status = validate_snap_vanilla(bad);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().field, "vanilla_proofs[0].challenge_proofs[0].proof_r_new.leaf");
}

// The same for a root that only one challenge has.
TEST(SnapVanilla, RootsOfOneTreeAreEqual) {
  SnapInput bad = synthetic("snap-1k", 3);
  const SnapShape& shape = *bad.shape;
  Fr node = Fr::from_u64(5);
  const std::span<Fr> values = bad.partitions[0].values(6, SnapProof::kROld);
  values[1] = node;
  size_t at = 2;
  for (uint32_t level = 0; level < shape.tree.levels(); ++level) {
    for (uint32_t m = 1; m < shape.tree.arity(level); ++m) values[at++] = node;
    node = poseidon_hash(std::vector<Fr>(shape.tree.arity(level), node));
  }
  values[0] = node;
  const Status status = validate_snap_vanilla(bad);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().field, "vanilla_proofs[0].challenge_proofs[6].proof_r_old.root");
}

}  // namespace
}  // namespace cuzk
