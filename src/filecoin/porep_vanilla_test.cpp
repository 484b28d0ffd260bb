// The vanilla check: everything sealed passes, and every kind of damage is named.
#include "filecoin/porep_vanilla.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/hex.hpp"
#include "filecoin/porep_challenges.hpp"
#include "filecoin/porep_dev_sealer.hpp"
#include "filecoin/porep_hash.hpp"
#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

std::vector<NodeBytes> random_data(uint64_t nodes) {
  std::mt19937_64 random(nodes);
  std::vector<NodeBytes> data(nodes);
  for (NodeBytes& node : data) {
    for (uint8_t& byte : node) byte = static_cast<uint8_t>(random());
    trim_to_fr(node);
  }
  return data;
}

PorepSealed seal(const RegisteredSealProof& proof, std::span<const NodeBytes> data) {
  PorepSealInput input;
  input.proof = &proof;
  input.prover_id = prover_id_of_miner(1000);
  input.sector_number = 42;
  input.ticket.fill(3);
  input.seed.fill(5);
  input.data = data;
  Result<PorepSealed> sealed = seal_porep(input);
  EXPECT_TRUE(sealed.ok());
  return std::move(sealed).value();
}

TEST(PorepSealer, EveryFeatureAndVersionPassesTheCheck) {
  const std::vector<NodeBytes> data = random_data(64);
  for (const uint32_t number : {0u, 5u, 10u, 15u}) {
    const RegisteredSealProof& proof = registered_seal_proofs()[number];
    const PorepSealed sealed = seal(proof, data);
    EXPECT_EQ(sealed.c1.partitions.size(), proof.partitions());
    const Status status = validate_porep_vanilla(sealed.c1);
    EXPECT_TRUE(status.ok()) << number << ": " << status.error().describe();
    EXPECT_TRUE(check_porep_replica_id(sealed.c1, 1000, 42).ok());
    EXPECT_EQ(check_porep_replica_id(sealed.c1, 1001, 42).error().field, "replica_id");
    EXPECT_EQ(check_porep_replica_id(sealed.c1, 1000, 43).error().field, "replica_id");
  }
}

TEST(PorepSealer, EveryTreeShapePassesTheCheck) {
  for (const char* id : {"porep-4k", "porep-16k", "porep-32k"}) {
    RegisteredSealProof proof = registered_seal_proofs()[5];
    proof.shape = porep_shape_by_circuit_id(id);
    const PorepSealed sealed = seal(proof, random_data(proof.shape->nodes()));
    const Status status = validate_porep_vanilla(sealed.c1);
    EXPECT_TRUE(status.ok()) << id << ": " << status.error().describe();
  }
}

// Labels, replica and roots of upstream's 2 KiB example.
TEST(PorepSealer, ExampleMatchesUpstream) {
  std::vector<NodeBytes> data;
  for (uint64_t i = 0; i < 64; ++i) data.push_back(Fr::from_u64(i * 0x010203040506 + 1).to_bytes_le());
  PorepSealInput input;
  input.proof = &registered_seal_proofs()[5];
  input.prover_id.fill(9);
  input.sector_number = 7;
  input.ticket.fill(1);
  input.seed.fill(2);
  input.data = data;
  const PorepSealed sealed = std::move(seal_porep(input)).value();
  const auto hex = [](const Fr& x) { return to_hex(x.to_bytes_le()); };
  EXPECT_EQ(hex(sealed.c1.comm_d), "d257d50ac2f787ffe9e55f474fa814ad41d66cbcd7e84801edb3d28f8b170120");
  EXPECT_EQ(hex(sealed.c1.replica_id), "7e49afa520343b89e97483fc455af4d432d5fc2627d9e9e9dca04be4af615406");
  EXPECT_EQ(hex(sealed.comm_c()), "0c33c81e6f541777481202b3bfbf9742e0dd90f5e107fed275138b95308ae115");
  EXPECT_EQ(hex(sealed.comm_r_last()), "997aff3c0f11c94ad26ad6bba1b11af1846d2504f9995e6c64431563c293c83a");
  EXPECT_EQ(hex(sealed.c1.comm_r), "f53f886e35a6ccc447d9437e7e1719c9b0523566b72f8ebbfab4bff0d5779116");
  const struct {
    uint32_t layer, node;
    const char* label;
  } kLabels[] = {{1, 0, "3edd9f07d7e63d9e280cc21ed0169b5c3d883874cbecf787a8dc724f656cd111"},
                 {1, 1, "bf4d1605aa3a9e8a498fe44bb0d5ae911ec1581a8580c7c546db2ae06621ef07"},
                 {1, 2, "6fa0bb177faa339f1b3715b9a3744894b201dba927c24651ef6dfa65c132b027"},
                 {1, 63, "604d596efa140fa3da897e28e6b0e45e5106289c210313cf20178893fc09a91b"},
                 {2, 0, "ff2d98052cc53b2f54cd270c48d1c310e540e29b6e2cbc87bb8c0f1311baf612"},
                 {2, 1, "22cb6b3b7072209bc8850a2706869ec5a0106958de6e7c92aee80936d42a1530"},
                 {2, 2, "d7b8f301525d0e46af2d68cc6483903742a94ec2e975b03df9ac401918279d35"},
                 {2, 63, "a8ba094d7912e22b918863250ab312c2ff6d69deab7902ade4ee11ba97f5b914"}};
  for (const auto& l : kLabels)
    EXPECT_EQ(to_hex(sealed.labels[l.layer - 1][l.node]), l.label) << l.layer << "," << l.node;
  const auto digest = [](const std::vector<NodeBytes>& nodes) {
    Sha256 hash;
    for (const NodeBytes& node : nodes) hash.update(node);
    return to_hex(hash.finish());
  };
  EXPECT_EQ(digest(sealed.labels[0]), "30480374f2a951f940afd675ca5d3f7bbe37184dccc951b475979df1a139cbba");
  EXPECT_EQ(digest(sealed.labels[1]), "876fffb879e380ca64ae220240828b5c220f460b58dc5692fd0ecce85189674f");
  std::vector<NodeBytes> replica;
  for (const Fr& node : sealed.tree_r.row(0)) replica.push_back(node.to_bytes_le());
  EXPECT_EQ(digest(replica), "25fc975224137136187d35fa17f0263d3e09128c231866df93b4137cb9c2837c");
}

TEST(PorepSealer, RefusesBadData) {
  PorepSealInput input;
  input.proof = &registered_seal_proofs()[5];
  std::vector<NodeBytes> data(63);
  input.data = data;
  EXPECT_EQ(seal_porep(input).error().error_class, ErrorClass::kUsage);
  data.resize(64);
  data[63].fill(0xff);
  input.data = data;
  EXPECT_EQ(seal_porep(input).error().error_class, ErrorClass::kUsage);
}

class PorepVanillaDamage : public testing::Test {
 protected:
  // Challenge i of partition k after damage; the check must name `field` there.
  void expect_named(const std::function<void(PorepC1&)>& damage, const std::string& field,
                    std::optional<uint32_t> partition) {
    PorepC1 c1 = good_.c1;
    damage(c1);
    const Status status = validate_porep_vanilla(c1);
    ASSERT_FALSE(status.ok()) << field;
    EXPECT_EQ(status.error().error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(status.error().field, field) << status.error().describe();
    EXPECT_EQ(status.error().partition, partition);
  }
  // Adds one to a value of challenge 1 of partition 3.
  void expect_value_named(uint32_t value, const std::string& field) {
    expect_named([=](PorepC1& c1) { c1.partitions[3].values(1)[value] += Fr::one(); }, kPlace + field, 3);
  }
  void expect_index_named(uint32_t index, const std::string& field) {
    expect_named([=](PorepC1& c1) { c1.partitions[3].indices(1)[index] ^= 1; }, kPlace + field, 3);
  }

  const std::string kPlace = "vanilla_proofs[3][1].";
  // Non-interactive: 13 partitions of two challenges.
  const PorepSealed good_ = seal(registered_seal_proofs()[15], random_data(64));
  const PorepChallengeLayout layout_{good_.c1.shape()};
};

TEST_F(PorepVanillaDamage, OfValues) {
  const uint32_t d = layout_.comm_d(), r = layout_.comm_r_last();
  expect_value_named(d, "comm_d_proofs");      // root
  expect_value_named(d + 1, "comm_d_proofs");  // leaf
  expect_value_named(d + 7, "comm_d_proofs");  // last sibling
  expect_value_named(r, "comm_r_last_proof");
  expect_value_named(r + 1, "comm_r_last_proof");
  expect_value_named(r + 2, "comm_r_last_proof");
  expect_value_named(r + 15, "comm_r_last_proof");
  for (uint32_t column = 0; column < PorepChallengeLayout::kColumns; ++column) {
    const std::string place =
        "replica_column_proofs." + (column == 0   ? "c_x"
                                    : column <= 6 ? "drg_parents[" + std::to_string(column - 1) + "]"
                                                  : "exp_parents[" + std::to_string(column - 7) + "]");
    expect_value_named(layout_.column(column), place + ".column.rows");
    expect_value_named(layout_.column(column) + 1, place + ".column.rows");
    expect_value_named(layout_.column(column) + 2, place + ".inclusion_proof");   // root
    expect_value_named(layout_.column(column) + 3, place + ".inclusion_proof");   // leaf
    expect_value_named(layout_.column(column) + 17, place + ".inclusion_proof");  // last sibling
    expect_index_named(3 + 2 * column, place + ".column.index");
    expect_index_named(4 + 2 * column, place + ".inclusion_proof");
  }
}

TEST_F(PorepVanillaDamage, OfIndices) {
  expect_index_named(0, "labeling_proofs[0].node");
  expect_index_named(1, "comm_d_proofs");
  expect_index_named(2, "comm_r_last_proof");
}

TEST_F(PorepVanillaDamage, OfLabelingParents) {
  for (const uint32_t i : {0u, 36u, 37u, 73u, 74u, 110u}) {
    const uint32_t proof = i / kPorepHashedParents, parent = i % kPorepHashedParents;
    const std::string place = proof < 2 ? "labeling_proofs[" + std::to_string(proof) + "]" : "encoding_proof";
    expect_named([=](PorepC1& c1) { c1.partitions[3].parents(1)[i][0] ^= 1; },
                 kPlace + place + ".parents[" + std::to_string(parent) + "]", 3);
  }
}

// Values that are consistent with their trees but not with the graph of labels: a whole column exchanged for another.
TEST_F(PorepVanillaDamage, OfAnotherSector) {
  const PorepSealed other = seal(registered_seal_proofs()[15], random_data(64));
  EXPECT_TRUE(validate_porep_vanilla(other.c1).ok());
  // A partition of the same sector in another's place: its challenges are not these.
  expect_named([](PorepC1& c1) { std::swap(c1.partitions[3], c1.partitions[4]); },
               "vanilla_proofs[3][0].labeling_proofs[0].node", 3);
  PorepC1 swapped = other.c1;
  std::swap(swapped.partitions[3], swapped.partitions[4]);
  const std::string message = validate_porep_vanilla(swapped).error().message;
  EXPECT_TRUE(message.ends_with("; bad too: vanilla_proofs[3][1], vanilla_proofs[4][0], vanilla_proofs[4][1]"))
      << message;
  expect_named([](PorepC1& c1) { c1.replica_id += Fr::one(); }, "vanilla_proofs[0][0].labeling_proofs[0].node", 0);
}

TEST_F(PorepVanillaDamage, OfCommitments) {
  expect_named([](PorepC1& c1) { c1.comm_r += Fr::one(); }, "comm_r", std::nullopt);
}

// The interactive challenges come from the seed: another seed, other challenges.
TEST(PorepVanilla, SeedDecidesInteractiveChallenges) {
  PorepSealed sealed = seal(registered_seal_proofs()[5], random_data(64));
  sealed.c1.seed[0] ^= 1;
  const Status status = validate_porep_vanilla(sealed.c1);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().field, "vanilla_proofs[0][0].labeling_proofs[0].node");
}

// Labels made for another replica id, in a file that agrees in everything else: only recomputing a label finds it.
TEST(PorepVanilla, LabelsAreRecomputed) {
  PorepC1 c1 = seal(registered_seal_proofs()[5], random_data(64)).c1;
  const Fr right_id = c1.replica_id;
  PorepChallengeSource source{PorepFeature::kNone, 64, {}, {}, c1.seed};
  const std::vector<uint64_t> challenges = {c1.partitions[0].challenge(0).node(), c1.partitions[0].challenge(1).node()};
  // Another id with the same two challenges; one in 63^2 has them.
  for (uint64_t i = 1; c1.replica_id == right_id; ++i) {
    ASSERT_LT(i, 200000u);
    source.replica_id = Fr::from_u64(i).to_bytes_le();
    if (porep_challenges(source, 0, 2) == challenges) c1.replica_id = Fr::from_u64(i);
  }
  const Status status = validate_porep_vanilla(c1);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().field, "vanilla_proofs[0][0].replica_column_proofs.c_x.column.rows[0]");
}

// Another sector's data under the same replica: every proof holds for itself, but the encoding does not.
TEST(PorepVanilla, EncodingIsRecomputed) {
  PorepC1 c1 = seal(registered_seal_proofs()[5], random_data(64)).c1;
  std::vector<std::vector<NodeBytes>> levels = {std::vector<NodeBytes>(64, Fr::from_u64(5).to_bytes_le())};
  while (levels.back().size() > 1) {
    std::vector<NodeBytes> above;
    for (size_t i = 0; i < levels.back().size(); i += 2) {
      above.push_back(tree_d_node(levels.back()[i], levels.back()[i + 1]));
    }
    levels.push_back(above);
  }
  c1.comm_d = *Fr::from_bytes_le(levels.back()[0]);
  for (uint32_t i = 0; i < 2; ++i) {
    const uint64_t node = c1.partitions[0].challenge(i).node();
    const std::span<Fr> values = c1.partitions[0].values(i);
    values[0] = c1.comm_d;
    values[1] = Fr::from_u64(5);
    for (uint32_t level = 0; level < 6; ++level)
      values[2 + level] = *Fr::from_bytes_le(levels[level][(node >> level) ^ 1]);
  }
  const Status status = validate_porep_vanilla(c1);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().field, "vanilla_proofs[0][0].comm_r_last_proof");
  EXPECT_NE(status.error().message.find("label plus the data"), std::string::npos);
}

}  // namespace
}  // namespace cuzk
