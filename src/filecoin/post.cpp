#include "filecoin/post.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/hex.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

constexpr uint32_t kWinningChallenges = 66;
constexpr uint32_t kWindowChallenges = 10;

struct Size {
  std::string_view name, winning_id, window_id;
  TreeShape tree;
  uint32_t window_sectors;
  bool published;
};
constexpr std::array<Size, 10> kSizes = {{
    {"2KiB", "winning-2k", "window-2k", {6, 8, 2, 0, 0}, 2, true},
    {"4KiB", "winning-4k", "window-4k", {7, 8, 2, 2, 0}, 2, false},
    {"16KiB", "winning-16k", "window-16k", {9, 8, 2, 8, 0}, 2, false},
    {"32KiB", "winning-32k", "window-32k", {10, 8, 2, 8, 2}, 2, false},
    {"8MiB", "winning-8m", "window-8m", {18, 8, 6, 0, 0}, 2, true},
    {"16MiB", "winning-16m", "window-16m", {19, 8, 6, 2, 0}, 2, false},
    {"512MiB", "winning-512m", "window-512m", {24, 8, 8, 0, 0}, 2, true},
    {"1GiB", "winning-1g", "window-1g", {25, 8, 8, 2, 0}, 2, false},
    {"32GiB", "winning-32g", "window-32g", {30, 8, 9, 8, 0}, 2349, true},
    {"64GiB", "winning-64g", "window-64g", {31, 8, 9, 8, 2}, 2300, true},
}};

constexpr std::array<PostShape, 20> make_shapes() {
  std::array<PostShape, 20> out{};
  for (size_t i = 0; i < kSizes.size(); ++i) {
    const Size& s = kSizes[i];
    out[i] = {PostKind::kWinning, s.name, s.winning_id, s.tree, kWinningChallenges, 1, s.published};
    out[10 + i] = {PostKind::kWindow, s.name, s.window_id, s.tree, s.window_sectors, kWindowChallenges, s.published};
  }
  return out;
}
constexpr std::array<PostShape, 20> kShapes = make_shapes();

constexpr std::array<RegisteredPostProof, 15> make_registered_proofs() {
  constexpr size_t kPublished[5] = {0, 4, 6, 8, 9};
  constexpr std::string_view kNames[15] = {
      "StackedDrgWinning2KiBV1",    "StackedDrgWinning8MiBV1",   "StackedDrgWinning512MiBV1",
      "StackedDrgWinning32GiBV1",   "StackedDrgWinning64GiBV1",  "StackedDrgWindow2KiBV1",
      "StackedDrgWindow8MiBV1",     "StackedDrgWindow512MiBV1",  "StackedDrgWindow32GiBV1",
      "StackedDrgWindow64GiBV1",    "StackedDrgWindow2KiBV1_1",  "StackedDrgWindow8MiBV1_1",
      "StackedDrgWindow512MiBV1_1", "StackedDrgWindow32GiBV1_1", "StackedDrgWindow64GiBV1_1",
  };
  std::array<RegisteredPostProof, 15> out{};
  for (uint32_t i = 0; i < 15; ++i) {
    out[i] = {i, kNames[i], &kShapes[(i < 5 ? 0 : 10) + kPublished[i % 5]],
              i < 10 ? PostApiVersion::kV1_0_0 : PostApiVersion::kV1_2_0};
  }
  return out;
}
constexpr std::array<RegisteredPostProof, 15> kRegistered = make_registered_proofs();

std::string tree_name(const TreeShape& tree) {
  return "merkletree-poseidon_hasher-" + std::to_string(tree.base_arity) + "-" + std::to_string(tree.sub_arity) + "-" +
         std::to_string(tree.top_arity);
}

std::array<uint8_t, 8> little_endian(uint64_t value) {
  std::array<uint8_t, 8> out{};
  for (size_t i = 0; i < 8; ++i) out[i] = static_cast<uint8_t>(value >> (8 * i));
  return out;
}

// The first 8 bytes of the digest, little-endian.
uint64_t first_word(Sha256& hash) {
  const Sha256Digest digest = hash.finish();
  uint64_t word = 0;
  for (size_t i = 0; i < 8; ++i) word |= uint64_t{digest[i]} << (8 * i);
  return word;
}

}  // namespace

std::span<const PostShape> post_shapes() { return kShapes; }

const PostShape* post_shape_by_circuit_id(std::string_view circuit_id) {
  for (const PostShape& shape : kShapes) {
    if (shape.circuit_id == circuit_id) return &shape;
  }
  return nullptr;
}

const PostShape* post_shape_by_sector_bytes(PostKind kind, uint64_t sector_bytes) {
  for (const PostShape& shape : kShapes) {
    if (shape.kind == kind && shape.sector_bytes() == sector_bytes) return &shape;
  }
  return nullptr;
}

std::span<const RegisteredPostProof> registered_post_proofs() { return kRegistered; }

const RegisteredPostProof* registered_post_proof_by_name(std::string_view name) {
  std::string go_name(name);
  if (name.starts_with("StackedDrgWindow") && name.ends_with("V1_2")) go_name.back() = '1';
  for (const RegisteredPostProof& proof : kRegistered) {
    if (proof.name == go_name) return &proof;
  }
  return nullptr;
}

CircuitCounts post_circuit_counts(const PostShape& shape, uint32_t sectors) {
  // An opening beside its levels: the leaf, the packed index and the root's equality.
  PartCounts path = {1, 2, 1, 0, 0, 1};
  for (uint32_t level = 0; level < shape.tree.levels(); ++level) path += tree_level_counts(shape.tree.arity(level));
  // A sector beside its openings: three numbers, comm_r as an input, one hash of two and its equality.
  const PartCounts sector = PartCounts{314, 313, 235, 234, 0, 3} + path * shape.challenges;
  return (sector * sectors).with_inputs(1 + uint64_t{sectors} * (1 + shape.challenges));
}

std::string post_parameter_identifier(const PostShape& shape) {
  return "FallbackPoSt::PublicParams{sector_size: " + std::to_string(shape.sector_bytes()) +
         ", challenge_count: " + std::to_string(shape.challenges) + ", sector_count: " + std::to_string(shape.sectors) +
         "}";
}

std::string post_parameter_file_stem(const PostShape& shape) {
  const std::string identifier = post_parameter_identifier(shape);
  const auto digest =
      sha256(std::span<const uint8_t>(reinterpret_cast<const uint8_t*>(identifier.data()), identifier.size()));
  return "v28-proof-of-spacetime-fallback-" + tree_name(shape.tree) + "-" + to_hex(digest);
}

Status check_post_randomness(std::span<const uint8_t> randomness) {
  if (randomness.size() != kNodeBytes) {
    return Error(ErrorClass::kInvalidInput, "has " + std::to_string(randomness.size()) + " bytes, needs 32")
        .at_field("randomness");
  }
  if (!Fr::from_bytes_le(randomness)) {
    return Error(ErrorClass::kInvalidInput,
                 "is not a canonical field element (clients clear the two top bits of the last byte)")
        .at_field("randomness");
  }
  return {};
}

Result<PostRequest> make_post_request(uint64_t registered_proof, std::span<const uint8_t> randomness,
                                      uint32_t partition_index) {
  if (registered_proof >= kRegistered.size()) {
    return Error(ErrorClass::kInvalidInput, std::to_string(registered_proof) + " is no registered PoSt proof (0 to 14)")
        .at_field("registered_proof");
  }
  CUZK_TRY(check_post_randomness(randomness));
  const RegisteredPostProof& proof = kRegistered[registered_proof];
  PostRequest request{proof.shape, proof.api_version, {}, partition_index};
  std::copy(randomness.begin(), randomness.end(), request.randomness.begin());
  return request;
}

uint64_t post_challenge_index(PostApiVersion version, uint64_t sector_index, uint32_t challenges, uint32_t n) {
  return version == PostApiVersion::kV1_2_0 ? n : sector_index * challenges + n;
}

uint64_t post_leaf_challenge(const NodeBytes& randomness, uint64_t sector_id, uint64_t challenge_index,
                             uint64_t leaves) {
  Sha256 hash;
  hash.update(randomness);
  hash.update(little_endian(sector_id));
  hash.update(little_endian(challenge_index));
  return first_word(hash) % leaves;
}

std::vector<uint64_t> post_challenges(const PostRequest& request, uint64_t sector_id, uint32_t position) {
  const PostShape& shape = *request.shape;
  const bool window = shape.kind == PostKind::kWindow;
  const uint64_t sector_index = window ? uint64_t{request.partition_index} * shape.sectors + position : 0;
  std::vector<uint64_t> out;
  for (uint32_t n = 0; n < shape.paths_per_sector(); ++n) {
    const uint64_t index = post_challenge_index(request.api_version, sector_index, shape.paths_per_sector(), n);
    out.push_back(post_leaf_challenge(request.randomness, sector_id, index, shape.tree.leaves()));
  }
  return out;
}

std::vector<uint64_t> winning_post_sectors(const NodeBytes& prover_id, const NodeBytes& randomness,
                                           uint64_t sector_set_size, uint32_t count) {
  CUZK_ASSERT(sector_set_size > 0);
  std::vector<uint64_t> out;
  for (uint32_t n = 0; n < count; ++n) {
    Sha256 hash;
    hash.update(prover_id);
    hash.update(randomness);
    hash.update(little_endian(n));
    out.push_back(first_word(hash) % sector_set_size);
  }
  return out;
}

uint64_t post_partitions(const PostShape& shape, uint64_t num_sectors) {
  if (shape.kind == PostKind::kWinning || num_sectors == 0) return 1;
  return (num_sectors - 1) / shape.sectors + 1;
}

std::vector<Fr> post_public_inputs(const PostRequest& request, std::span<const PostPublicSector> sectors) {
  const PostShape& shape = *request.shape;
  CUZK_ASSERT(!sectors.empty() && sectors.size() <= shape.max_real_sectors());
  std::vector<Fr> inputs;
  inputs.reserve(size_t{shape.sectors} * (1 + shape.challenges));
  for (uint32_t i = 0; i < sectors.size(); ++i) {
    const std::vector<uint64_t> challenges = post_challenges(request, sectors[i].sector_id, i);
    for (uint32_t n = 0; n < challenges.size(); ++n) {
      if (n % shape.challenges == 0) inputs.push_back(sectors[i].comm_r);
      inputs.push_back(Fr::from_u64(challenges[n]));
    }
  }
  const size_t per_sector = 1 + size_t{shape.challenges}, total = per_sector * shape.sectors;
  while (inputs.size() < total) inputs.push_back(inputs[inputs.size() - per_sector]);
  return inputs;
}

}  // namespace cuzk
