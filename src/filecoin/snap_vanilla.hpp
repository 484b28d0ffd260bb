// The vanilla proofs of a sector update in flat storage, and their check.
// Source: storage-proofs-update vanilla.rs (PartitionProof, EmptySectorUpdate::verify).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "field/fr.hpp"
#include "filecoin/merkle.hpp"
#include "filecoin/snap.hpp"

namespace cuzk {

// The three openings of a challenge, in the order in which they are stored and serialised.
enum class SnapProof : uint32_t { kROld, kDNew, kRNew };
inline constexpr std::array<SnapProof, 3> kSnapProofs = {SnapProof::kROld, SnapProof::kDNew, SnapProof::kRNew};
// "proof_r_old", "proof_d_new", "proof_r_new".
const char* snap_proof_name(SnapProof proof);

// The vanilla proof of one partition. Values are in Montgomery form. 32 GiB: 0.6 MB.
class SnapPartition {
 public:
  // All zero, to be filled in.
  explicit SnapPartition(const SnapShape& shape);

  Fr comm_c;
  std::vector<Fr> apex_leaves;  // shape.apex_leaves() nodes of tree D

  uint32_t challenges() const { return challenges_; }
  // Opening `proof` of challenge i < challenges(). The siblings of kDNew are one a level of tree D.
  MerkleProofView opening(uint32_t i, SnapProof proof) const {
    const Fr* values = values_.data() + first_value(i, proof);
    return {values[0], values[1], {values + 2, num_values(proof) - 2}, leaf_indices_[index_number(i, proof)]};
  }
  // Its root, leaf and siblings, to be written.
  std::span<Fr> values(uint32_t i, SnapProof proof) {
    return {values_.data() + first_value(i, proof), num_values(proof)};
  }
  uint64_t& leaf_index(uint32_t i, SnapProof proof) { return leaf_indices_[index_number(i, proof)]; }

  friend bool operator==(const SnapPartition&, const SnapPartition&) = default;

 private:
  size_t num_values(SnapProof proof) const { return proof == SnapProof::kDNew ? tree_d_values_ : tree_r_values_; }
  size_t first_value(uint32_t i, SnapProof proof) const {
    const size_t before = proof == SnapProof::kROld   ? 0
                          : proof == SnapProof::kDNew ? tree_r_values_
                                                      : tree_r_values_ + tree_d_values_;
    return i * (2 * tree_r_values_ + tree_d_values_) + before;
  }
  static size_t index_number(uint32_t i, SnapProof proof) { return size_t{i} * 3 + static_cast<uint32_t>(proof); }

  uint32_t challenges_;
  size_t tree_r_values_, tree_d_values_;
  std::vector<Fr> values_;
  std::vector<uint64_t> leaf_indices_;
};

// An update: what it is proved for, and its vanilla proofs in order of partitions.
struct SnapInput {
  const SnapShape* shape = nullptr;
  uint32_t h = 0;  // one of shape->hs
  SnapCommitments commitments;
  std::optional<uint64_t> sector_number;  // only for errors
  std::vector<SnapPartition> partitions;
};

// Checks everything about partition k of the input that can be computed: the hashes of all openings, that their leaf
// indices are the challenges', that all openings of a tree have one root, that comm_r_old, comm_r_new and comm_d_new
// follow from them, that the apex leaves are the nodes of tree D that the openings pass through and lead to comm_d_new,
// that all openings share the last partition_bits siblings, and the encoding of every challenge. This is more than
// upstream's vanilla check: what it accepts satisfies the circuit. The partition must have the shape's counts. Errors:
// kInvalidInput with the field's path, of the first bad place, the partition and the sector. About 25 hashes of eight
// numbers a challenge at 32 GiB; on one thread.
Status validate_snap_partition(const SnapInput& input, uint32_t k);

// The same for all partitions, whose number must be shape->partitions(), in parallel; the error of the first bad one,
// whose message names the others.
Status validate_snap_vanilla(const SnapInput& input);

}  // namespace cuzk
