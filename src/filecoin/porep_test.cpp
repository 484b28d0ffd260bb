#include "filecoin/porep.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/hex.hpp"
#include "field/fr.hpp"
#include "filecoin/porep_hash.hpp"

namespace cuzk {
namespace {

const PorepShape& shape_named(std::string_view id) {
  const PorepShape* shape = porep_shape_by_circuit_id(id);
  EXPECT_NE(shape, nullptr) << id;
  return *shape;
}

TEST(PorepShape, Table) {
  struct Row {
    const char* id;
    const char* name;
    uint64_t bytes;
    uint32_t layers, levels, sub, top, tree_d_levels, partitions, challenges;
  };
  const Row kRows[] = {
      {"porep-2k", "2KiB", uint64_t{1} << 11, 2, 2, 0, 0, 6, 1, 2},
      {"porep-4k", "4KiB", uint64_t{1} << 12, 2, 2, 2, 0, 7, 1, 2},
      {"porep-16k", "16KiB", uint64_t{1} << 14, 2, 2, 8, 0, 9, 1, 2},
      {"porep-32k", "32KiB", uint64_t{1} << 15, 2, 2, 8, 2, 10, 1, 2},
      {"porep-8m", "8MiB", uint64_t{1} << 23, 2, 6, 0, 0, 18, 1, 2},
      {"porep-16m", "16MiB", uint64_t{1} << 24, 2, 6, 2, 0, 19, 1, 2},
      {"porep-512m", "512MiB", uint64_t{1} << 29, 2, 8, 0, 0, 24, 1, 2},
      {"porep-1g", "1GiB", uint64_t{1} << 30, 2, 8, 2, 0, 25, 1, 2},
      {"porep-32g", "32GiB", uint64_t{1} << 35, 11, 9, 8, 0, 30, 10, 18},
      {"porep-64g", "64GiB", uint64_t{1} << 36, 11, 9, 8, 2, 31, 10, 18},
  };
  ASSERT_EQ(porep_shapes().size(), std::size(kRows));
  for (size_t i = 0; i < std::size(kRows); ++i) {
    const Row& row = kRows[i];
    const PorepShape& shape = shape_named(row.id);
    EXPECT_EQ(&shape, &porep_shapes()[i]);
    EXPECT_EQ(porep_shape_by_sector_bytes(row.bytes), &shape);
    EXPECT_EQ(shape.name, row.name);
    EXPECT_EQ(shape.layers, row.layers);
    EXPECT_EQ(shape.base_levels, row.levels);
    EXPECT_EQ(shape.sub_arity, row.sub);
    EXPECT_EQ(shape.top_arity, row.top);
    EXPECT_EQ(shape.log2_nodes, row.tree_d_levels);
    EXPECT_EQ(shape.partitions, row.partitions);
    EXPECT_EQ(shape.challenges, row.challenges);
    // Tree C has as many leaves as there are nodes.
    uint64_t leaves = 1;
    for (uint32_t level = 0; level < shape.path_levels(); ++level) leaves *= shape.path_arity(level);
    EXPECT_EQ(leaves, shape.nodes()) << row.id;
  }
  EXPECT_EQ(porep_shape_by_circuit_id("porep-3k"), nullptr);
  EXPECT_EQ(porep_shape_by_circuit_id(""), nullptr);
  EXPECT_EQ(porep_shape_by_sector_bytes(0), nullptr);
  EXPECT_EQ(porep_shape_by_sector_bytes(2049), nullptr);
}

TEST(RegisteredSealProof, NumbersNamesAndFeatures) {
  const auto proofs = registered_seal_proofs();
  ASSERT_EQ(proofs.size(), 20u);
  std::set<std::string_view> names;
  for (uint32_t n = 0; n < 20; ++n) {
    const RegisteredSealProof& p = proofs[n];
    EXPECT_EQ(p.number, n);
    EXPECT_EQ(registered_seal_proof_by_name(p.name), &p);
    EXPECT_TRUE(names.insert(p.name).second);
    EXPECT_TRUE(p.shape->published);
    EXPECT_EQ(p.shape, proofs[n % 5].shape);
    EXPECT_EQ(p.vanilla_tag(), proofs[n % 5].name);
    EXPECT_EQ(p.porep_id()[0], n);
    EXPECT_EQ(p.porep_id()[8], 0);
  }
  EXPECT_EQ(proofs[3].name, "StackedDrg32GiBV1");
  EXPECT_EQ(proofs[3].api_version, PorepApiVersion::kV1_0_0);
  EXPECT_EQ(proofs[8].name, "StackedDrg32GiBV1_1");
  EXPECT_EQ(proofs[8].api_version, PorepApiVersion::kV1_1_0);
  EXPECT_EQ(proofs[8].partitions(), 10u);
  EXPECT_EQ(proofs[13].name, "StackedDrg32GiBV1_1_Feat_SyntheticPoRep");
  EXPECT_EQ(proofs[13].feature, PorepFeature::kSynthetic);
  EXPECT_EQ(proofs[13].partitions(), 10u);
  EXPECT_EQ(proofs[18].name, "StackedDrg32GiBV1_2_Feat_NonInteractivePoRep");
  EXPECT_EQ(proofs[18].api_version, PorepApiVersion::kV1_2_0);
  EXPECT_EQ(proofs[18].partitions(), 126u);
  EXPECT_EQ(proofs[15].partitions(), 13u);
  EXPECT_EQ(registered_seal_proof_by_name("StackedDrg2KiBV1_2_Feat_NiPoRep"), &proofs[15]);
  for (const char* none :
       {"", "StackedDrg", "StackedDrg4KiBV1", "StackedDrg2KiBV1_2", "StackedDrg2KiBV1 ", "V1_2_Feat_NiPoRep"}) {
    EXPECT_EQ(registered_seal_proof_by_name(none), nullptr) << none;
  }
}

// Upstream's parameters.json has these hashes in its file names.
TEST(PorepParameters, FileNames) {
  EXPECT_EQ(porep_parameter_identifier(shape_named("porep-32g")),
            "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: 8 base_graph: "
            "drgraph::BucketGraph{size: 1073741824; degree: 6; hasher: poseidon_hasher} }, "
            "challenges: LayerChallenges { layers: 11, max_count: 18 }, tree: merkletree-poseidon_hasher-8-8-0 }");
  const std::pair<const char*, const char*> kHashes[] = {
      {"porep-2k", "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"},
      {"porep-8m", "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb"},
      {"porep-512m", "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472"},
      {"porep-32g", "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820"},
      {"porep-64g", "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2"},
  };
  for (const auto& [id, hash] : kHashes) {
    const std::string stem = porep_parameter_file_stem(shape_named(id));
    EXPECT_TRUE(stem.ends_with(std::string("-sha256_hasher-") + hash)) << stem;
  }
  EXPECT_EQ(porep_parameter_file_stem(shape_named("porep-32g")),
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
            "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820");
}

TEST(PorepIds, ProverId) {
  const std::pair<uint64_t, const char*> kIds[] = {
      {0, "00"}, {1, "01"}, {127, "7f"}, {128, "8001"}, {1000, "e807"}, {~uint64_t{0}, "ffffffffffffffffff01"}};
  for (const auto& [miner, hex] : kIds) {
    const std::string text = to_hex(prover_id_of_miner(miner));
    const std::string expected = hex;
    EXPECT_EQ(text, expected + std::string(64 - expected.size(), '0'));
  }
}

TEST(PorepIds, ReplicaId) {
  NodeBytes prover, ticket, comm_d;
  prover.fill(9);
  ticket.fill(1);
  comm_d.fill(4);
  const NodeBytes id = porep_replica_id(prover, 7, ticket, comm_d, registered_seal_proofs()[5].porep_id());
  // Upstream's value, as a big-endian number.
  EXPECT_EQ(to_hex(Fr::from_bytes_le(id)->to_bytes_be()),
            "32f62eaa8b052e8a5394c540f2e8cd47c5630b3dc86bb3c8f2272cfc5481e2fe");
  EXPECT_NE(porep_replica_id(prover, 8, ticket, comm_d, registered_seal_proofs()[5].porep_id()), id);
  EXPECT_NE(porep_replica_id(prover, 7, ticket, comm_d, registered_seal_proofs()[0].porep_id()), id);
}

// Zero trees: the commitment of a sector of zeros.
TEST(PorepHash, TreeDOfZeros) {
  NodeBytes node{};
  for (int level = 0; level < 30; ++level) {
    if (level == 6) {
      EXPECT_EQ(to_hex(node), "fc7e928296e516faade986b28f92d44a4f24b935485223376a799027bc18f833");
    }
    node = tree_d_node(node, node);
  }
  EXPECT_EQ(to_hex(node), "077e5fde35c50a9303a55009e3498a4ebedff39c42b710b730d8ec7ac7afa63e");
}

// Sizes of upstream's blank circuits.
TEST(PorepCounts, ClosedFormMatchesUpstream) {
  struct Row {
    const char* id;
    uint32_t challenges;
    uint64_t inputs, aux, constraints;
    uint32_t log2_domain;
  };
  const Row kRows[] = {
      {"porep-2k", 1, 22, 1343122, 1344246, 21},        {"porep-2k", 2, 40, 2685673, 2687921, 22},
      {"porep-8m", 1, 22, 1921510, 1922750, 21},        {"porep-8m", 2, 40, 3842449, 3844929, 22},
      {"porep-512m", 1, 22, 2210704, 2212002, 22},      {"porep-512m", 2, 40, 4420837, 4423433, 23},
      {"porep-32g", 1, 22, 7232200, 7238236, 23},       {"porep-32g", 2, 40, 14463829, 14475901, 24},
      {"porep-32g", 18, 328, 130169893, 130278541, 27}, {"porep-64g", 1, 22, 7282575, 7288642, 23},
      {"porep-64g", 2, 40, 14564579, 14576713, 24},     {"porep-64g", 18, 328, 131076643, 131185849, 27},
      {"porep-4k", 2, 40, 2786423, 2788733, 22},        {"porep-16k", 2, 40, 2974867, 2977173, 22},
      {"porep-32k", 2, 40, 3075617, 3077985, 22},
  };
  for (const Row& row : kRows) {
    const CircuitCounts counts = porep_circuit_counts(shape_named(row.id), row.challenges);
    EXPECT_EQ(counts.inputs, row.inputs) << row.id;
    EXPECT_EQ(counts.aux, row.aux) << row.id;
    EXPECT_EQ(counts.constraints, row.constraints) << row.id;
    EXPECT_EQ(counts.rows(), row.inputs + row.constraints) << row.id;
    EXPECT_EQ(counts.log2_domain(), row.log2_domain) << row.id;
  }
}

}  // namespace
}  // namespace cuzk
