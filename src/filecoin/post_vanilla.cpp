#include "filecoin/post_vanilla.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/element_errors.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

Error invalid(std::string field, std::string message) {
  return Error(ErrorClass::kInvalidInput, std::move(message)).at_field(std::move(field));
}

std::string place_of(uint32_t position) { return "vanilla_proofs[" + std::to_string(position) + "]"; }
std::string place_of(uint32_t position, uint32_t path) {
  return place_of(position) + ".vanilla_proof.sectors[0].inclusion_proofs[" + std::to_string(path) + "]";
}

Status check_commitments(const PostVanilla& vanilla, uint32_t i) {
  const PostSector& sector = vanilla.sector(i);
  if (poseidon_hash(std::array<Fr, 2>{sector.comm_c, sector.comm_r_last}) == sector.comm_r) return {};
  return invalid(place_of(i) + ".comm_r", "is not the hash of comm_c and comm_r_last");
}

// Everything about an opening but its hashes.
Status check_place(const PostVanilla& vanilla, uint32_t i, uint32_t n, uint64_t challenge) {
  const MerkleProofView path = vanilla.path(i, n);
  if (path.root != vanilla.sector(i).comm_r_last) return invalid(place_of(i, n) + ".root", "is not comm_r_last");
  if (path.leaf_index == challenge) return {};
  return invalid(place_of(i, n) + ".index", "the path is that of leaf " + std::to_string(path.leaf_index) +
                                                ", but the challenge is leaf " + std::to_string(challenge));
}

// Openings whose paths are hashed side by side.
constexpr size_t kPathsAtOnce = 16;

}  // namespace

Status check_post_sector_order(const PostVanilla& vanilla) {
  for (uint32_t i = 1; i < vanilla.sectors(); ++i) {
    const uint64_t before = vanilla.sector(i - 1).sector_id, here = vanilla.sector(i).sector_id;
    if (before < here) continue;
    const std::string message = before == here ? "the sector is given twice in a row"
                                               : "follows sector " + std::to_string(before) +
                                                     "; sector numbers must ascend, as a verifier sorts them";
    return invalid(place_of(i) + ".sector_id", message).of_sector(here);
  }
  return {};
}

PostVanilla::PostVanilla(const PostShape& shape, uint32_t sectors)
    : shape_(&shape),
      paths_per_sector_(shape.paths_per_sector()),
      path_values_(2 + shape.tree.siblings()),
      sectors_(sectors),
      values_(sectors * paths_per_sector_ * path_values_),
      leaf_indices_(sectors * paths_per_sector_) {}

std::vector<PostPublicSector> PostVanilla::public_sectors() const {
  std::vector<PostPublicSector> out;
  out.reserve(sectors_.size());
  for (const PostSector& sector : sectors_) out.push_back({sector.sector_id, sector.comm_r});
  return out;
}

bool operator==(const PostVanilla& a, const PostVanilla& b) {
  return a.shape_->tree == b.shape_->tree && a.paths_per_sector_ == b.paths_per_sector_ && a.sectors_ == b.sectors_ &&
         a.values_ == b.values_ && a.leaf_indices_ == b.leaf_indices_;
}

PostPathHashes::PostPathHashes(const PostVanilla& vanilla)
    : sectors_(vanilla.sectors()),
      paths_per_sector_(vanilla.shape().paths_per_sector()),
      levels_(vanilla.shape().tree.levels()),
      hashes_(sectors_ * paths_per_sector_ * levels_) {}

Result<PostPathHashes> validate_post_vanilla(const PostRequest& request, const PostVanilla& vanilla) {
  const PostShape& shape = vanilla.shape();
  CUZK_ASSERT(request.shape == &shape);
  CUZK_TRY(check_post_randomness(request.randomness));
  if (vanilla.sectors() == 0 || vanilla.sectors() > shape.max_real_sectors()) {
    return invalid("vanilla_proofs", "has " + std::to_string(vanilla.sectors()) + " sectors, needs 1 to " +
                                         std::to_string(shape.max_real_sectors()));
  }
  CUZK_TRY(check_post_sector_order(vanilla));
  poseidon_constants(8);  // made before the loop, not once a thread
  PostPathHashes hashes(vanilla);
  const uint32_t paths = shape.paths_per_sector();
  std::vector<uint64_t> challenges;
  challenges.reserve(size_t{vanilla.sectors()} * paths);
  for (uint32_t i = 0; i < vanilla.sectors(); ++i) {
    const std::vector<uint64_t> of_sector = post_challenges(request, vanilla.sector(i).sector_id, i);
    challenges.insert(challenges.end(), of_sector.begin(), of_sector.end());
  }
  // Over openings and not sectors: a winning proof has one sector. Of a bad sector the first bad opening counts, and no
  // later one is looked at, but for those that are hashed beside it.
  ElementErrors errors;
  const auto add_error = [&](uint32_t i, uint32_t n, Error error) {
    errors.add(i, n, std::move(error).of_sector(vanilla.sector(i).sector_id));
  };
  parallel_for(challenges.size(), kPathsAtOnce, [&](size_t begin, size_t end) {
    std::vector<std::pair<uint32_t, uint32_t>> places;
    std::vector<MerkleProofView> opened;
    std::vector<std::span<Fr>> out;
    for (size_t j = begin; j < end; ++j) {
      const uint32_t i = static_cast<uint32_t>(j / paths), n = static_cast<uint32_t>(j % paths);
      if (errors.known(i, n)) continue;
      Status status = n == 0 ? check_commitments(vanilla, i) : Status();
      if (status.ok()) status = check_place(vanilla, i, n, challenges[j]);
      if (!status.ok()) {
        add_error(i, n, std::move(status).error());
        continue;
      }
      places.emplace_back(i, n);
      opened.push_back(vanilla.path(i, n));
      out.push_back(hashes.path(i, n));
    }
    merkle_path_hashes(shape.tree, opened, out);
    for (size_t k = 0; k < places.size(); ++k) {
      const auto [i, n] = places[k];
      if (out[k].back() != opened[k].root)
        add_error(i, n, invalid(place_of(i, n), "the path does not hash to the root"));
    }
  });
  if (!errors.empty()) {
    return errors.take([&](size_t i) {
      const uint32_t position = static_cast<uint32_t>(i);
      return place_of(position) + " (sector " + std::to_string(vanilla.sector(position).sector_id) + ")";
    });
  }
  return hashes;
}

}  // namespace cuzk
