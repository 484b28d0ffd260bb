// Shapes, names, challenges and encoding of sector updates, against upstream's values.
#include "filecoin/snap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/hex.hpp"
#include "hash/poseidon.hpp"

namespace cuzk {
namespace {

const SnapShape& shape_named(std::string_view id) {
  const SnapShape* shape = snap_shape_by_circuit_id(id);
  EXPECT_NE(shape, nullptr) << id;
  return *shape;
}

Fr from_hex_le(const std::string& hex) { return *Fr::from_bytes_le(*from_hex(hex)); }
std::string hex_le(const Fr& x) { return to_hex(x.to_bytes_le()); }

const char* const kCommRNew = "101cbe4b9c42604f04c703c396f788c6cb2d6d7d58f45430b12eb2edd640076c";

TEST(SnapShape, TableMatchesUpstream) {
  struct Row {
    const char* id;
    uint32_t log2_nodes, partitions, challenges, default_h, apex_leaves, path_levels, bits, per_digest, digests;
    std::array<uint32_t, 3> tree;
  };
  const Row kRows[] = {{"snap-1k", 5, 1, 10, 1, 8, 2, 5, 50, 1, {8, 4, 0}},
                       {"snap-2k", 6, 1, 10, 1, 8, 3, 6, 42, 1, {8, 0, 0}},
                       {"snap-4k", 7, 1, 10, 1, 8, 4, 7, 36, 1, {8, 2, 0}},
                       {"snap-8k", 8, 1, 10, 1, 8, 5, 8, 31, 1, {8, 4, 0}},
                       {"snap-16k", 9, 2, 10, 1, 128, 1, 8, 31, 1, {8, 8, 0}},
                       {"snap-32k", 10, 2, 10, 1, 128, 2, 9, 28, 1, {8, 8, 2}},
                       {"snap-8m", 18, 4, 10, 10, 128, 9, 16, 15, 1, {8, 0, 0}},
                       {"snap-16m", 19, 4, 10, 10, 128, 10, 17, 14, 1, {8, 2, 0}},
                       {"snap-512m", 24, 16, 86, 10, 128, 13, 20, 12, 8, {8, 0, 0}},
                       {"snap-32g", 30, 16, 86, 10, 128, 19, 26, 9, 10, {8, 8, 0}},
                       {"snap-64g", 31, 16, 86, 10, 128, 20, 27, 9, 10, {8, 8, 2}}};
  ASSERT_EQ(snap_shapes().size(), std::size(kRows));
  for (size_t i = 0; i < std::size(kRows); ++i) {
    const Row& r = kRows[i];
    const SnapShape& s = snap_shapes()[i];
    EXPECT_EQ(s.circuit_id, r.id);
    EXPECT_EQ(s.log2_nodes(), r.log2_nodes) << r.id;
    EXPECT_EQ(s.partitions(), r.partitions) << r.id;
    EXPECT_EQ(s.challenges, r.challenges) << r.id;
    EXPECT_EQ(s.default_h(), r.default_h) << r.id;
    EXPECT_EQ(s.apex_leaves(), r.apex_leaves) << r.id;
    EXPECT_EQ(s.path_levels(), r.path_levels) << r.id;
    EXPECT_EQ(s.challenge_bits(), r.bits) << r.id;
    EXPECT_EQ(s.challenges_per_digest(), r.per_digest) << r.id;
    EXPECT_EQ(s.digests(), r.digests) << r.id;
    EXPECT_EQ((std::array<uint32_t, 3>{s.tree.base_arity, s.tree.sub_arity, s.tree.top_arity}), r.tree) << r.id;
    uint32_t bits = 0;
    for (uint32_t level = 0; level < s.tree.levels(); ++level) bits += s.tree.index_bits(level);
    EXPECT_EQ(bits, s.log2_nodes()) << r.id;
    EXPECT_EQ(snap_shape_by_circuit_id(r.id), &s);
    EXPECT_EQ(snap_shape_by_sector_bytes(s.sector_bytes()), &s);
  }
  EXPECT_EQ(shape_named("snap-32g").sector_bytes(), uint64_t{32} << 30);
  EXPECT_EQ(snap_shape_by_circuit_id("snap-1g"), nullptr);
  EXPECT_EQ(snap_shape_by_sector_bytes(uint64_t{1} << 30), nullptr);
  EXPECT_EQ(snap_shape_by_sector_bytes(0), nullptr);
}

TEST(SnapShape, RegisteredProofsAndFileNames) {
  struct Row {
    const char *id, *name, *stem;
  };
  const Row kRows[] = {{"snap-2k", "StackedDrg2KiBV1",
                        "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
                        "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba"
                        "454510194"},
                       {"snap-8m", "StackedDrg8MiBV1",
                        "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
                        "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b36"
                        "4b715ad63"},
                       {"snap-512m", "StackedDrg512MiBV1",
                        "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
                        "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a"
                        "43b73a30c"},
                       {"snap-32g", "StackedDrg32GiBV1",
                        "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
                        "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1c"
                        "bfd599d18"},
                       {"snap-64g", "StackedDrg64GiBV1",
                        "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
                        "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f"
                        "87f2f83a7"}};
  ASSERT_EQ(registered_update_proofs().size(), 5u);
  for (uint32_t i = 0; i < 5; ++i) {
    const RegisteredUpdateProof& proof = registered_update_proofs()[i];
    EXPECT_EQ(proof.number, i);
    EXPECT_EQ(proof.name, kRows[i].name);
    EXPECT_EQ(proof.shape->circuit_id, kRows[i].id);
    EXPECT_TRUE(proof.shape->published);
    EXPECT_EQ(snap_parameter_file_stem(*proof.shape), kRows[i].stem);
    EXPECT_EQ(registered_update_proof_by_name(kRows[i].name), &proof);
  }
  EXPECT_EQ(registered_update_proof_by_name("StackedDrg32GiBV1_1"), nullptr);
  EXPECT_EQ(snap_parameter_identifier(shape_named("snap-2k")), "empty_sector_update::PublicParams{ sector_nodes: 64 }");
}

TEST(SnapHSelect, IsTheFirstMatch) {
  const SnapShape& small = shape_named("snap-2k");
  const SnapShape& large = shape_named("snap-32g");
  EXPECT_EQ(snap_h_select(small, 1), 1u);
  EXPECT_EQ(snap_h_select(small, 2), 0u);
  EXPECT_EQ(snap_h_select(large, 7), 1u);
  EXPECT_EQ(snap_h_select(large, 10), 8u);
  EXPECT_EQ(snap_h_select(large, 12), 32u);
  EXPECT_EQ(snap_h_select(large, 6), 0u);
  EXPECT_EQ(snap_h_select(large, 0), 0u);
}

TEST(SnapEncoding, HashPhiAndRhoMatchUpstream) {
  EXPECT_EQ(hex_le(snap_randomness_hash(Fr::from_u64(1), Fr::from_u64(2))),
            "3c2fe9b59c5f0de453bbb6db5c84af5448c7d4c1fbf41830ab05dbaf9b872c70");
  EXPECT_EQ(hex_le(Fr::from_u64(poseidon_custom_tag(1))),
            "0000000000010000000000000000000000000000000000000000000000000000");
  NodeBytes ones;
  ones.fill(1);
  const Fr comm_d_new = *Fr::from_bytes_le(ones);
  const Fr phi = snap_phi(comm_d_new, from_hex_le(kCommRNew));
  EXPECT_EQ(hex_le(phi), "802cfb19f09efb3ebb0b6c00eb5208ea8524b354935d69a464c0deeb86dc2f15");
  EXPECT_EQ(hex_le(snap_rho(phi, 0)), "d2938a9f07b5402ee8b828affafe49537d793b75dc39545f4ba8f53963775c49");
  EXPECT_EQ(hex_le(snap_rho(phi, 1023)), "dd831eda6fb4961fc8c8f5e9f20e1ebc09da8b526ddfb8c6f8948d79b524e02a");
  // comm_d_new comes first.
  EXPECT_NE(snap_phi(from_hex_le(kCommRNew), comm_d_new), phi);
}

TEST(SnapEncoding, HighBitsAndLabels) {
  const SnapShape& shape = shape_named("snap-32g");
  EXPECT_EQ(snap_high(shape, 10, 0), 0u);
  EXPECT_EQ(snap_high(shape, 10, (uint64_t{1} << 20) - 1), 0u);
  EXPECT_EQ(snap_high(shape, 10, uint64_t{1} << 20), 1u);
  EXPECT_EQ(snap_high(shape, 10, shape.nodes() - 1), 1023u);
  EXPECT_EQ(snap_high(shape, 12, shape.nodes() - 1), 4095u);
  EXPECT_EQ(snap_high(shape_named("snap-2k"), 1, 31), 0u);
  EXPECT_EQ(snap_high(shape_named("snap-2k"), 1, 32), 1u);
  EXPECT_EQ(snap_encode(Fr::from_u64(5), Fr::from_u64(3), Fr::from_u64(7)), Fr::from_u64(26));
  EXPECT_EQ(snap_encode(-Fr::one(), Fr::one(), Fr::one()), Fr::zero());
}

TEST(SnapChallenges, MatchUpstream) {
  struct Row {
    const char* id;
    uint32_t k;
    std::vector<uint64_t> first;
  };
  const Row kRows[] = {
      {"snap-1k", 0, {21, 7, 3, 31, 0}},
      {"snap-2k", 0, {53, 51, 56, 3, 0}},
      {"snap-4k", 0, {117, 25, 62, 0, 72}},
      {"snap-8k", 0, {245, 140, 15, 128, 28}},
      {"snap-16k", 0, {245, 140, 15, 128, 28}},
      {"snap-16k", 1, {286, 308, 493, 510, 508}},
      {"snap-32k", 0, {245, 454, 3, 400, 193}},
      {"snap-32k", 1, {542, 666, 955, 927, 911}},
      {"snap-8m", 0, {36085, 32783, 44060, 10950, 3731}},
      {"snap-8m", 1, {78878, 130797, 112892, 93994, 78379}},
      {"snap-16m", 0, {101621, 16391, 109319, 25944, 41193}},
      {"snap-16m", 1, {209950, 163702, 175679, 224741, 197410}},
      {"snap-512m", 0, {1019125, 116736, 706220, 59698, 799498}},
      {"snap-512m", 15, {16388544, 15794686, 16637142, 16319148, 16328348}},
      {"snap-32g", 0, {1019125, 27985696, 15282860, 11586600, 44651330}},
      {"snap-32g", 1, {109168525, 127316247, 80331041, 97065716, 72310052}},
      {"snap-32g", 14, {990420169, 955146989, 968005601, 976863263, 944650706}},
      {"snap-32g", 15, {1038629497, 1053983614, 1030421316, 1027373887, 1068685433}},
      {"snap-64g", 0, {1019125, 13992848, 3820715, 18225541, 57316660}},
      {"snap-64g", 15, {2045262457, 2036941247, 2136653521, 2091356007, 2147167623}},
  };
  for (const Row& r : kRows) {
    const SnapShape& shape = shape_named(r.id);
    const std::vector<uint64_t> all = snap_challenges(shape, from_hex_le(kCommRNew), r.k);
    ASSERT_EQ(all.size(), shape.challenges);
    EXPECT_EQ(std::vector<uint64_t>(all.begin(), all.begin() + 5), r.first) << r.id << " " << r.k;
    const uint64_t block = shape.nodes() / shape.partitions();
    for (const uint64_t c : all) {
      EXPECT_GE(c, r.k * block);
      EXPECT_LT(c, (r.k + 1) * block);
    }
  }
}

// Every challenge bit by bit, by the definition.
TEST(SnapChallenges, AreTheBitsOfTheDigests) {
  const Fr comm_r_new = from_hex_le(kCommRNew);
  for (const SnapShape& shape : snap_shapes()) {
    const uint32_t k = shape.partitions() - 1, q = shape.challenge_bits();
    const std::vector<uint64_t> all = snap_challenges(shape, comm_r_new, k);
    for (uint32_t i = 0; i < shape.challenges; ++i) {
      const uint32_t j = i / shape.challenges_per_digest(), s = i % shape.challenges_per_digest();
      const auto digest =
          snap_randomness_hash(comm_r_new, Fr::from_u64(uint64_t{k} * shape.digests() + j)).to_bytes_le();
      uint64_t low = 0;
      for (uint32_t b = 0; b < q; ++b) low += uint64_t{(digest[(s * q + b) / 8] >> ((s * q + b) % 8)) & 1u} << b;
      EXPECT_EQ(all[i], low + (uint64_t{k} << q)) << shape.circuit_id << " " << i;
    }
  }
}

TEST(SnapPublicInputs, FirstSaysPartitionAndH) {
  const SnapCommitments commitments{Fr::from_u64(11), Fr::from_u64(12), Fr::from_u64(13)};
  const auto first = [&](const char* id, uint32_t h, uint32_t k) {
    const std::vector<Fr> inputs = snap_public_inputs(shape_named(id), h, commitments, k);
    EXPECT_EQ(inputs.size(), 4u);
    EXPECT_EQ(inputs[1], Fr::from_u64(11));
    EXPECT_EQ(inputs[2], Fr::from_u64(12));
    EXPECT_EQ(inputs[3], Fr::from_u64(13));
    return inputs[0];
  };
  EXPECT_EQ(first("snap-2k", 1, 0), Fr::from_u64(1));
  EXPECT_EQ(first("snap-16k", 1, 1), Fr::from_u64(3));
  EXPECT_EQ(first("snap-32g", 10, 0), Fr::from_u64(128));
  EXPECT_EQ(first("snap-32g", 10, 15), Fr::from_u64(143));
  EXPECT_EQ(first("snap-32g", 7, 2), Fr::from_u64(18));
  EXPECT_EQ(first("snap-8m", 12, 3), Fr::from_u64(3 + 32 * 4));
}

TEST(SnapCircuitCounts, MatchUpstream) {
  struct Row {
    const char* id;
    uint64_t aux, constraints, a_aux, b_aux;
    uint32_t log2_domain;
  };
  const Row kRows[] = {{"snap-1k", 1247309, 1248389, 1241649, 327403, 21},
                       {"snap-2k", 1703569, 1705039, 1697189, 444403, 21},
                       {"snap-4k", 2163189, 2165109, 2155229, 564063, 22},
                       {"snap-8k", 2618009, 2620359, 2609689, 680063, 22},
                       {"snap-16k", 6293944, 6300021, 6284882, 1613422, 23},
                       {"snap-32k", 6753564, 6760091, 6742922, 1733082, 23},
                       {"snap-8m", 9998039, 10007503, 9981015, 2567921, 24},
                       {"snap-16m", 10457659, 10467573, 10439055, 2687581, 24},
                       {"snap-512m", 57401314, 57450479, 57212317, 14916879, 26},
                       {"snap-32g", 80978488, 81049499, 80743581, 20983607, 27},
                       {"snap-64g", 84931220, 85006101, 84682725, 22012683, 27}};
  for (const Row& r : kRows) {
    const CircuitCounts counts = snap_circuit_counts(shape_named(r.id));
    EXPECT_EQ(counts.inputs, 5u);
    EXPECT_EQ(counts.aux, r.aux) << r.id;
    EXPECT_EQ(counts.constraints, r.constraints) << r.id;
    EXPECT_EQ(counts.a_aux_density, r.a_aux) << r.id;
    EXPECT_EQ(counts.b_aux_density, r.b_aux) << r.id;
    EXPECT_EQ(counts.b_input_density, 1u);
    EXPECT_EQ(counts.rows(), r.constraints + 5);
    EXPECT_EQ(counts.log2_domain(), r.log2_domain) << r.id;
  }
}

}  // namespace
}  // namespace cuzk
