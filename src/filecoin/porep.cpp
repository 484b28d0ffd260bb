#include "filecoin/porep.hpp"

#include "base/assert.hpp"
#include "base/hex.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

// name, circuit id, log2 nodes, layers, base arity, base levels, sub, top, partitions, non-interactive, challenges
constexpr std::array<PorepShape, 10> kShapes = {{
    {"2KiB", "porep-2k", 6, 2, 8, 2, 0, 0, 1, 13, 2, true},
    {"4KiB", "porep-4k", 7, 2, 8, 2, 2, 0, 1, 13, 2, false},
    {"16KiB", "porep-16k", 9, 2, 8, 2, 8, 0, 1, 13, 2, false},
    {"32KiB", "porep-32k", 10, 2, 8, 2, 8, 2, 1, 13, 2, false},
    {"8MiB", "porep-8m", 18, 2, 8, 6, 0, 0, 1, 13, 2, true},
    {"16MiB", "porep-16m", 19, 2, 8, 6, 2, 0, 1, 13, 2, false},
    {"512MiB", "porep-512m", 24, 2, 8, 8, 0, 0, 1, 13, 2, true},
    {"1GiB", "porep-1g", 25, 2, 8, 8, 2, 0, 1, 13, 2, false},
    {"32GiB", "porep-32g", 30, 11, 8, 9, 8, 0, 10, 126, 18, true},
    {"64GiB", "porep-64g", 31, 11, 8, 9, 8, 2, 10, 126, 18, true},
}};

constexpr std::array<RegisteredSealProof, 20> make_registered_proofs() {
  constexpr const PorepShape* kSizes[5] = {&kShapes[0], &kShapes[4], &kShapes[6], &kShapes[8], &kShapes[9]};
  constexpr std::string_view kNames[20] = {
      "StackedDrg2KiBV1",
      "StackedDrg8MiBV1",
      "StackedDrg512MiBV1",
      "StackedDrg32GiBV1",
      "StackedDrg64GiBV1",
      "StackedDrg2KiBV1_1",
      "StackedDrg8MiBV1_1",
      "StackedDrg512MiBV1_1",
      "StackedDrg32GiBV1_1",
      "StackedDrg64GiBV1_1",
      "StackedDrg2KiBV1_1_Feat_SyntheticPoRep",
      "StackedDrg8MiBV1_1_Feat_SyntheticPoRep",
      "StackedDrg512MiBV1_1_Feat_SyntheticPoRep",
      "StackedDrg32GiBV1_1_Feat_SyntheticPoRep",
      "StackedDrg64GiBV1_1_Feat_SyntheticPoRep",
      "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep",
      "StackedDrg8MiBV1_2_Feat_NonInteractivePoRep",
      "StackedDrg512MiBV1_2_Feat_NonInteractivePoRep",
      "StackedDrg32GiBV1_2_Feat_NonInteractivePoRep",
      "StackedDrg64GiBV1_2_Feat_NonInteractivePoRep",
  };
  std::array<RegisteredSealProof, 20> out{};
  for (uint32_t i = 0; i < 20; ++i) {
    out[i].number = i;
    out[i].name = kNames[i];
    out[i].shape = kSizes[i % 5];
    out[i].api_version = i < 5    ? PorepApiVersion::kV1_0_0
                         : i < 10 ? PorepApiVersion::kV1_1_0
                                  : PorepApiVersion::kV1_2_0;
    out[i].feature = i < 10 ? PorepFeature::kNone : i < 15 ? PorepFeature::kSynthetic : PorepFeature::kNonInteractive;
  }
  return out;
}
constexpr std::array<RegisteredSealProof, 20> kRegistered = make_registered_proofs();

// One Poseidon hash of a column of so many labels, without the labels.
constexpr PartCounts column_hash_counts(uint32_t layers) {
  switch (layers) {
    case 2: return {311, 311, 232, 232, 0, 0};
    case 4: return {377, 377, 281, 281, 0, 0};
    case 8: return {505, 505, 376, 376, 0, 0};
    case 11: return {598, 598, 445, 445, 0, 0};
    default: return {};
  }
}

std::string tree_name(const PorepShape& shape) {
  return "merkletree-poseidon_hasher-" + std::to_string(shape.base_arity) + "-" + std::to_string(shape.sub_arity) +
         "-" + std::to_string(shape.top_arity);
}

}  // namespace

std::span<const PorepShape> porep_shapes() { return kShapes; }

const PorepShape* porep_shape_by_circuit_id(std::string_view circuit_id) {
  for (const PorepShape& shape : kShapes) {
    if (shape.circuit_id == circuit_id) return &shape;
  }
  return nullptr;
}

const PorepShape* porep_shape_by_sector_bytes(uint64_t sector_bytes) {
  for (const PorepShape& shape : kShapes) {
    if (shape.sector_bytes() == sector_bytes) return &shape;
  }
  return nullptr;
}

NodeBytes RegisteredSealProof::porep_id() const {
  NodeBytes id{};
  id[0] = static_cast<uint8_t>(number);
  return id;
}

std::string RegisteredSealProof::vanilla_tag() const { return "StackedDrg" + std::string(shape->name) + "V1"; }

std::span<const RegisteredSealProof> registered_seal_proofs() { return kRegistered; }

const RegisteredSealProof* registered_seal_proof_by_name(std::string_view name) {
  std::string rust_name(name);
  constexpr std::string_view kGoSuffix = "V1_2_Feat_NiPoRep";
  if (name.ends_with(kGoSuffix)) {
    rust_name.resize(rust_name.size() - kGoSuffix.size());
    rust_name += "V1_2_Feat_NonInteractivePoRep";
  }
  for (const RegisteredSealProof& proof : kRegistered) {
    if (proof.name == rust_name) return &proof;
  }
  return nullptr;
}

CircuitCounts porep_circuit_counts(const PorepShape& shape, uint32_t challenges) {
  // replica_id and its bits, the commitments, both roots and comm_r's hash.
  constexpr PartCounts kPrologue = {571, 571, 490, 489, 255, 5};
  // A level of the opening in tree D: index bit, sibling, insertion, SHA-256.
  constexpr PartCounts kTreeDLevel = {45335, 45382, 45333, 11499, 45331, 4};
  // The labels of 14 parents, and the own one's SHA-256.
  constexpr PartCounts kLayer = {521763, 522269, 521763, 126215, 521748, 15};
  // The bits of one parent's label.
  constexpr PartCounts kParentBits = {255, 256, 255, 255, 255, 0};
  const uint64_t parent_bits = kPorepBaseParents + uint64_t{kPorepParents} * (shape.layers - 1);
  constexpr uint32_t kColumns = kPorepParents + 1;
  // 64 challenge bits and their packing, the data, the encoding, and what ends 17 openings: 14 parent columns and c_x
  // in tree C, the encoded node in tree R, the data in tree D.
  PartCounts challenge = {66, 100, 81, 64, 64, 2};
  challenge += kTreeDLevel * shape.log2_nodes + kLayer * shape.layers + kParentBits * parent_bits;
  challenge += column_hash_counts(shape.layers) * kColumns;
  for (uint32_t level = 0; level < shape.path_levels(); ++level) {
    challenge += tree_level_counts(shape.path_arity(level)) * (kColumns + 1);
  }
  return (kPrologue + challenge * challenges).with_inputs(4 + 18 * uint64_t{challenges});
}

std::string porep_parameter_identifier(const PorepShape& shape) {
  return "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: 8 base_graph: "
         "drgraph::BucketGraph{size: " +
         std::to_string(shape.nodes()) +
         "; degree: 6; hasher: poseidon_hasher} }, challenges: LayerChallenges { layers: " +
         std::to_string(shape.layers) + ", max_count: " + std::to_string(shape.challenges) +
         " }, tree: " + tree_name(shape) + " }";
}

std::string porep_parameter_file_stem(const PorepShape& shape) {
  const std::string identifier = porep_parameter_identifier(shape);
  const auto digest =
      sha256(std::span<const uint8_t>(reinterpret_cast<const uint8_t*>(identifier.data()), identifier.size()));
  return "v28-stacked-proof-of-replication-" + tree_name(shape) + "-sha256_hasher-" + to_hex(digest);
}

NodeBytes prover_id_of_miner(uint64_t miner_id) {
  NodeBytes id{};
  size_t i = 0;
  do {
    id[i++] = static_cast<uint8_t>((miner_id & 0x7f) | (miner_id > 0x7f ? 0x80 : 0));
    miner_id >>= 7;
  } while (miner_id != 0);
  return id;
}

NodeBytes porep_replica_id(const NodeBytes& prover_id, uint64_t sector_id, const NodeBytes& ticket,
                           const NodeBytes& comm_d, const NodeBytes& porep_id) {
  std::array<uint8_t, 8> sector{};
  for (size_t i = 0; i < 8; ++i) sector[i] = static_cast<uint8_t>(sector_id >> (56 - 8 * i));
  Sha256 hash;
  hash.update(prover_id);
  hash.update(sector);
  hash.update(ticket);
  hash.update(comm_d);
  hash.update(porep_id);
  NodeBytes out = hash.finish();
  trim_to_fr(out);
  return out;
}

}  // namespace cuzk
