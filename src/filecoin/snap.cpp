#include "filecoin/snap.hpp"

#include "base/assert.hpp"
#include "base/hex.hpp"
#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

constexpr std::array<uint32_t, kSnapNumH> kSmallHs = {1, 1, 1, 1, 1, 1};
constexpr std::array<uint32_t, kSnapNumH> kHs = {7, 8, 9, 10, 11, 12};

// name, circuit id, tree R, partition bits, challenges, apex bits, hs, published
constexpr std::array<SnapShape, 11> kShapes = {{
    {"1KiB", "snap-1k", {5, 8, 1, 4, 0}, 0, 10, 3, kSmallHs, false},
    {"2KiB", "snap-2k", {6, 8, 2, 0, 0}, 0, 10, 3, kSmallHs, true},
    {"4KiB", "snap-4k", {7, 8, 2, 2, 0}, 0, 10, 3, kSmallHs, false},
    {"8KiB", "snap-8k", {8, 8, 2, 4, 0}, 0, 10, 3, kSmallHs, false},
    {"16KiB", "snap-16k", {9, 8, 2, 8, 0}, 1, 10, 7, kSmallHs, false},
    {"32KiB", "snap-32k", {10, 8, 2, 8, 2}, 1, 10, 7, kSmallHs, false},
    {"8MiB", "snap-8m", {18, 8, 6, 0, 0}, 2, 10, 7, kHs, true},
    {"16MiB", "snap-16m", {19, 8, 6, 2, 0}, 2, 10, 7, kHs, false},
    {"512MiB", "snap-512m", {24, 8, 8, 0, 0}, 4, 86, 7, kHs, true},
    {"32GiB", "snap-32g", {30, 8, 9, 8, 0}, 4, 86, 7, kHs, true},
    {"64GiB", "snap-64g", {31, 8, 9, 8, 2}, 4, 86, 7, kHs, true},
}};

constexpr std::array<RegisteredUpdateProof, 5> kRegistered = {{
    {0, "StackedDrg2KiBV1", &kShapes[1]},
    {1, "StackedDrg8MiBV1", &kShapes[6]},
    {2, "StackedDrg512MiBV1", &kShapes[8]},
    {3, "StackedDrg32GiBV1", &kShapes[9]},
    {4, "StackedDrg64GiBV1", &kShapes[10]},
}};

constexpr unsigned kRandomnessTagId = 1;

// One hash of tree D; its result is not counted in A, because it occurs there only where another path goes on.
constexpr PartCounts kShaCounts = {45331, 45379, 45330, 11498, 45330, 1};
// A level of a path in tree D: insertion and hash, without the sibling.
constexpr PartCounts kTreeDLevel = kShaCounts + PartCounts{2, 2, 1, 0, 0, 2};
// A level of a path in tree R: siblings, insertion and hash.
constexpr PartCounts tree_r_level(uint32_t arity) {
  switch (arity) {
    case 2: return {1 + 2 + 311, 2 + 311, 236, 234, 0, 3};
    case 4: return {3 + 8 + 377, 8 + 377, 293, 285, 0, 11};
    default: return {7 + 22 + 505, 22 + 505, 404, 386, 2, 27};
  }
}

std::string tree_name(const TreeShape& tree) {
  return "merkletree-poseidon_hasher-" + std::to_string(tree.base_arity) + "-" + std::to_string(tree.sub_arity) + "-" +
         std::to_string(tree.top_arity);
}

}  // namespace

std::span<const SnapShape> snap_shapes() { return kShapes; }

const SnapShape* snap_shape_by_circuit_id(std::string_view circuit_id) {
  for (const SnapShape& shape : kShapes) {
    if (shape.circuit_id == circuit_id) return &shape;
  }
  return nullptr;
}

const SnapShape* snap_shape_by_sector_bytes(uint64_t sector_bytes) {
  for (const SnapShape& shape : kShapes) {
    if (shape.sector_bytes() == sector_bytes) return &shape;
  }
  return nullptr;
}

std::span<const RegisteredUpdateProof> registered_update_proofs() { return kRegistered; }

const RegisteredUpdateProof* registered_update_proof_by_name(std::string_view name) {
  for (const RegisteredUpdateProof& proof : kRegistered) {
    if (proof.name == name) return &proof;
  }
  return nullptr;
}

CircuitCounts snap_circuit_counts(const SnapShape& shape) {
  const uint64_t p = shape.partition_bits, apex_leaves = shape.apex_leaves();
  // h and the partition (numbers, 6 bits), commitments, phi, comm_c and the roots, the hashes of comm_r_old and
  // comm_r_new, and the apex root's place in comm_d_new.
  PartCounts total = {947, 948, 713, 709, 6, 8};
  total += PartCounts{1, 0, 1, 0, 0, 1} * apex_leaves + kShaCounts * (apex_leaves - 1);
  total += (PartCounts{2, 1, 2, 1, 1, 1} + kTreeDLevel) * p;  // with the partition's bit and sibling
  total += PartCounts{567, 568, 488, 488, 255, 1} * shape.digests();
  // High bits, rho, two leaves, the encoding, and the equality at the end of three paths.
  PartCounts challenge = {13 + 311 + 4, 13 + 311 + 5, 249, 234, 0, 17};
  for (uint32_t level = 0; level < shape.tree.levels(); ++level) {
    challenge += tree_r_level(shape.tree.arity(level)) * 2;
  }
  challenge += PartCounts{1, 1, 1, 0, 0, 1} * (apex_leaves - 1);
  challenge.a_aux -= 1;  // what is selected among the apex leaves occurs in C alone
  challenge += (PartCounts{1, 0, 1, 0, 0, 1} + kTreeDLevel) * shape.path_levels();
  total += challenge * shape.challenges;
  return total.with_inputs(5);
}

std::string snap_parameter_identifier(const SnapShape& shape) {
  return "empty_sector_update::PublicParams{ sector_nodes: " + std::to_string(shape.nodes()) + " }";
}

std::string snap_parameter_file_stem(const SnapShape& shape) {
  const std::string identifier = snap_parameter_identifier(shape);
  const auto digest =
      sha256(std::span<const uint8_t>(reinterpret_cast<const uint8_t*>(identifier.data()), identifier.size()));
  return "v28-empty-sector-update-" + tree_name(shape.tree) + "-" + to_hex(digest);
}

uint32_t snap_h_select(const SnapShape& shape, uint32_t h) {
  for (uint32_t i = 0; i < kSnapNumH; ++i) {
    if (shape.hs[i] == h) return uint32_t{1} << i;
  }
  return 0;
}

Fr snap_randomness_hash(const Fr& x, const Fr& y) {
  return poseidon_hash(std::array<Fr, 2>{x, y}, poseidon_custom_tag(kRandomnessTagId));
}

Fr snap_phi(const Fr& comm_d_new, const Fr& comm_r_old) { return snap_randomness_hash(comm_d_new, comm_r_old); }

Fr snap_rho(const Fr& phi, uint64_t high) { return snap_randomness_hash(phi, Fr::from_u64(high)); }

std::vector<uint64_t> snap_challenges(const SnapShape& shape, const Fr& comm_r_new, uint32_t k) {
  CUZK_ASSERT(k < shape.partitions());
  const uint32_t per_digest = shape.challenges_per_digest(), bits = shape.challenge_bits();
  std::vector<uint64_t> out;
  out.reserve(shape.challenges);
  Fr::Limbs digest{};
  for (uint32_t i = 0; i < shape.challenges; ++i) {
    if (i % per_digest == 0) {
      const uint64_t index = uint64_t{k} * shape.digests() + i / per_digest;
      digest = snap_randomness_hash(comm_r_new, Fr::from_u64(index)).to_plain();
    }
    // Bits [first, first + bits) of the digest, which end below bit 254.
    const uint32_t first = i % per_digest * bits, limb = first / 64, shift = first % 64;
    uint64_t low = digest[limb] >> shift;
    if (shift + bits > 64) low |= digest[limb + 1] << (64 - shift);
    out.push_back((low & ((uint64_t{1} << bits) - 1)) + (uint64_t{k} << bits));
  }
  return out;
}

std::vector<Fr> snap_public_inputs(const SnapShape& shape, uint32_t h, const SnapCommitments& commitments, uint32_t k) {
  const uint32_t h_select = snap_h_select(shape, h);
  CUZK_ASSERT(k < shape.partitions() && h_select != 0);
  return {Fr::from_u64(k | uint64_t{h_select} << shape.partition_bits), commitments.comm_r_old, commitments.comm_d_new,
          commitments.comm_r_new};
}

}  // namespace cuzk
