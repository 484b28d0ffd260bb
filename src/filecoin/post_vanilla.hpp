// The vanilla proofs of a PoSt in flat storage, and their check.
// Source: storage-proofs-post fallback/vanilla.rs, storage-proofs-core merkle/proof.rs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "field/fr.hpp"
#include "filecoin/merkle.hpp"
#include "filecoin/post.hpp"

namespace cuzk {

struct PostSector {
  uint64_t sector_id = 0;
  Fr comm_r, comm_c, comm_r_last;
  friend bool operator==(const PostSector&, const PostSector&) = default;
};

// The vanilla proofs of the real sectors of one proof, in the order given. Values are in Montgomery form. A full
// 32 GiB window partition takes 54 MB.
class PostVanilla {
 public:
  // All zero, to be filled in. `shape` must outlive it.
  PostVanilla(const PostShape& shape, uint32_t sectors);

  const PostShape& shape() const { return *shape_; }
  uint32_t sectors() const { return static_cast<uint32_t>(sectors_.size()); }
  PostSector& sector(uint32_t i) { return sectors_[i]; }
  const PostSector& sector(uint32_t i) const { return sectors_[i]; }

  // Opening n of sector i: n < shape().paths_per_sector().
  MerkleProofView path(uint32_t i, uint32_t n) const {
    const Fr* values = values_.data() + path_number(i, n) * path_values_;
    return {values[0], values[1], {values + 2, path_values_ - 2}, leaf_indices_[path_number(i, n)]};
  }
  // Its root, leaf and siblings, to be written.
  std::span<Fr> path_values(uint32_t i, uint32_t n) {
    return {values_.data() + path_number(i, n) * path_values_, path_values_};
  }
  uint64_t& leaf_index(uint32_t i, uint32_t n) { return leaf_indices_[path_number(i, n)]; }

  // Sector numbers and comm_r, from which a verifier starts.
  std::vector<PostPublicSector> public_sectors() const;

  friend bool operator==(const PostVanilla& a, const PostVanilla& b);

 private:
  size_t path_number(uint32_t i, uint32_t n) const { return size_t{i} * paths_per_sector_ + n; }

  const PostShape* shape_;
  size_t paths_per_sector_, path_values_;
  std::vector<PostSector> sectors_;
  std::vector<Fr> values_;
  std::vector<uint64_t> leaf_indices_;
};

// What a client sends for a proof.
struct PostInput {
  PostRequest request;
  PostVanilla vanilla;
};

// The hashes of every opening of a PostVanilla, tree.levels() each: what its check computes and its witness needs.
class PostPathHashes {
 public:
  explicit PostPathHashes(const PostVanilla& vanilla);
  std::span<Fr> path(uint32_t i, uint32_t n) {
    return {hashes_.data() + (size_t{i} * paths_per_sector_ + n) * levels_, levels_};
  }
  std::span<const Fr> path(uint32_t i, uint32_t n) const {
    return {hashes_.data() + (size_t{i} * paths_per_sector_ + n) * levels_, levels_};
  }
  uint32_t sectors() const { return sectors_; }

 private:
  uint32_t sectors_;
  size_t paths_per_sector_, levels_;
  std::vector<Fr> hashes_;
};

// Sector numbers must ascend: a verifier sorts them, so no other order can verify. Errors: kInvalidInput, with the
// field's path and the sector.
Status check_post_sector_order(const PostVanilla& vanilla);

// Checks everything about the vanilla proofs: the number of sectors (1 to max_real_sectors()), canonical randomness,
// sector numbers strictly ascending, and per sector that
// comm_r = H(comm_c, comm_r_last), and that every opening has the root comm_r_last, is that of the challenged leaf, and
// hashes to its root. request.shape must be vanilla's. Returns the hashes computed, for post_witness. Errors:
// kInvalidInput with the field's path ("vanilla_proofs[<position>]...") and the sector number, those of the first bad
// place in the order given; the message names the other bad sectors. Cost: one Poseidon hash a level, in parallel over
// openings.
Result<PostPathHashes> validate_post_vanilla(const PostRequest& request, const PostVanilla& vanilla);

}  // namespace cuzk
