#include "filecoin/snap_vanilla.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/assert.hpp"
#include "base/element_errors.hpp"
#include "filecoin/porep_hash.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

Fr tree_d_hash(const Fr& left, const Fr& right) {
  // Below 2^254, so canonical.
  return *Fr::from_bytes_le(tree_d_node(left.to_bytes_le(), right.to_bytes_le()));
}

Fr hash_pair(const Fr& x, const Fr& y) { return poseidon_hash(std::array<Fr, 2>{x, y}); }

class PartitionCheck {
 public:
  PartitionCheck(const SnapInput& input, uint32_t k)
      : input_(input),
        shape_(*input.shape),
        k_(k),
        partition_(input.partitions[k]),
        place_("vanilla_proofs[" + std::to_string(k) + "]"),
        tree_r_roots_(2 * partition_.challenges()) {}

  Status run() {
    Status status = check_counts();
    if (status.ok()) {
      hash_tree_r_paths();
      status = check_commitments();
    }
    if (status.ok()) status = check_apex();
    if (status.ok()) status = check_challenges();
    if (status.ok()) return {};
    Error error = std::move(status).error();
    error.partition = k_;
    error.sector = input_.sector_number;
    return error;
  }

 private:
  static Error invalid(std::string field, std::string message) {
    return Error(ErrorClass::kInvalidInput, std::move(message)).at_field(std::move(field));
  }
  std::string place_of(uint32_t i, SnapProof proof) const {
    return place_ + ".challenge_proofs[" + std::to_string(i) + "]." + snap_proof_name(proof);
  }

  Status check_counts() const {
    if (partition_.apex_leaves.size() != shape_.apex_leaves()) {
      return invalid(place_ + ".apex_leafs", "has " + std::to_string(partition_.apex_leaves.size()) + " nodes, needs " +
                                                 std::to_string(shape_.apex_leaves()));
    }
    if (partition_.challenges() != shape_.challenges) {
      return invalid(place_ + ".challenge_proofs", "has " + std::to_string(partition_.challenges()) +
                                                       " challenges, needs " + std::to_string(shape_.challenges));
    }
    return {};
  }

  // Before the challenges, which follow from comm_r_new: a wrong commitment shall not be reported as a wrong index.
  Status check_commitments() {
    CUZK_TRY(check_tree_r_path(0, SnapProof::kROld));
    CUZK_TRY(check_tree_r_path(0, SnapProof::kRNew));
    const Fr& root_r_old = partition_.opening(0, SnapProof::kROld).root;
    const Fr& root_r_new = partition_.opening(0, SnapProof::kRNew).root;
    const bool old_holds = hash_pair(partition_.comm_c, root_r_old) == input_.commitments.comm_r_old;
    const bool new_holds = hash_pair(partition_.comm_c, root_r_new) == input_.commitments.comm_r_new;
    if (old_holds && new_holds) return {};
    if (!old_holds && !new_holds) {
      return invalid(place_ + ".comm_c", "neither comm_r_old nor comm_r_new is its hash with the root of tree R");
    }
    return invalid(old_holds ? "comm_r_new" : "comm_r_old", std::string("is not the hash of comm_c and the root of ") +
                                                                (old_holds ? "proof_r_new" : "proof_r_old"));
  }

  // The apex tree under the partition path of challenge 0. Its rows stay, for the other challenges.
  Status check_apex() {
    CUZK_TRY(check_tree_d_root(0));
    apex_rows_ = {partition_.apex_leaves};
    while (apex_rows_.back().size() > 1) {
      const std::vector<Fr>& below = apex_rows_.back();
      std::vector<Fr> above;
      for (size_t i = 0; i < below.size(); i += 2) above.push_back(tree_d_hash(below[i], below[i + 1]));
      apex_rows_.push_back(std::move(above));
    }
    const std::span<const Fr> path = partition_path(0);
    Fr current = apex_rows_.back()[0];
    for (uint32_t level = 0; level < path.size(); ++level) {
      current = k_ >> level & 1 ? tree_d_hash(path[level], current) : tree_d_hash(current, path[level]);
    }
    if (current == input_.commitments.comm_d_new) return {};
    return invalid(place_ + ".apex_leafs",
                   "they do not hash to comm_d_new, under the last siblings of challenge_proofs[0].proof_d_new");
  }

  Status check_challenges() {
    const std::vector<uint64_t> challenges = snap_challenges(shape_, input_.commitments.comm_r_new, k_);
    const Fr phi = snap_phi(input_.commitments.comm_d_new, input_.commitments.comm_r_old);
    for (uint32_t i = 0; i < challenges.size(); ++i) {
      for (const SnapProof proof : kSnapProofs) {
        const uint64_t index = partition_.opening(i, proof).leaf_index;
        if (index == challenges[i]) continue;
        return invalid(place_of(i, proof), "the path is that of node " + std::to_string(index) +
                                               ", but the challenge is node " + std::to_string(challenges[i]));
      }
      if (i > 0) CUZK_TRY(check_tree_r_path(i, SnapProof::kROld));
      CUZK_TRY(check_tree_d_path(i));
      if (i > 0) CUZK_TRY(check_tree_r_path(i, SnapProof::kRNew));
      const Fr rho = snap_rho(phi, snap_high(shape_, input_.h, challenges[i]));
      const Fr encoded =
          snap_encode(partition_.opening(i, SnapProof::kROld).leaf, partition_.opening(i, SnapProof::kDNew).leaf, rho);
      if (encoded != partition_.opening(i, SnapProof::kRNew).leaf) {
        return invalid(place_of(i, SnapProof::kRNew) + ".leaf", "is not the encoding of the old node and the new data");
      }
    }
    return {};
  }

  Fr& tree_r_root(uint32_t i, SnapProof proof) { return tree_r_roots_[2 * i + (proof == SnapProof::kRNew ? 1 : 0)]; }

  // What the paths in both trees R hash to, side by side.
  void hash_tree_r_paths() {
    constexpr uint32_t kAtOnce = 8;  // challenges
    const size_t levels = shape_.tree.levels();
    std::vector<Fr> hashes(2 * kAtOnce * levels);
    for (uint32_t first = 0; first < partition_.challenges(); first += kAtOnce) {
      const uint32_t end = std::min(first + kAtOnce, partition_.challenges());
      std::vector<MerkleProofView> openings;
      std::vector<std::span<Fr>> out;
      for (uint32_t i = first; i < end; ++i) {
        for (const SnapProof proof : {SnapProof::kROld, SnapProof::kRNew}) {
          out.push_back(std::span(hashes).subspan(openings.size() * levels, levels));
          openings.push_back(partition_.opening(i, proof));
        }
      }
      merkle_path_hashes(shape_.tree, openings, out);
      for (size_t j = 0; j < out.size(); ++j) tree_r_roots_[2 * first + j] = out[j].back();
    }
  }

  Status check_tree_r_path(uint32_t i, SnapProof proof) {
    const MerkleProofView view = partition_.opening(i, proof);
    if (tree_r_root(i, proof) != view.root) return invalid(place_of(i, proof), "the path does not hash to the root");
    if (view.root == partition_.opening(0, proof).root) return {};
    return invalid(place_of(i, proof) + ".root", "is not that of challenge 0");
  }

  Status check_tree_d_root(uint32_t i) const {
    if (partition_.opening(i, SnapProof::kDNew).root == input_.commitments.comm_d_new) return {};
    return invalid(place_of(i, SnapProof::kDNew) + ".root", "is not comm_d_new");
  }

  // The upper part of the path must be that of the apex tree, which is known to lead to comm_d_new; so only the part
  // below it is hashed.
  Status check_tree_d_path(uint32_t i) const {
    CUZK_TRY(check_tree_d_root(i));
    const MerkleProofView view = partition_.opening(i, SnapProof::kDNew);
    const std::string place = place_of(i, SnapProof::kDNew);
    const uint32_t levels = shape_.path_levels();
    const std::span<const Fr> path = partition_path(i), first = partition_path(0);
    for (uint32_t level = 0; level < path.size(); ++level) {
      if (path[level] == first[level]) continue;
      return invalid(place + ".path[" + std::to_string(levels + shape_.apex_bits + level) + "]",
                     "the sibling is not that of challenge 0, which has the same node there");
    }
    const uint64_t apex_leaf = view.leaf_index >> levels & (shape_.apex_leaves() - 1);
    for (uint32_t level = 0; level < shape_.apex_bits; ++level) {
      if (view.siblings[levels + level] == apex_rows_[level][apex_leaf >> level ^ 1]) continue;
      return invalid(place + ".path[" + std::to_string(levels + level) + "]",
                     "the sibling is not the node of the tree over apex_leafs");
    }
    Fr current = view.leaf;
    for (uint32_t level = 0; level < levels; ++level) {
      const Fr& sibling = view.siblings[level];
      current = view.leaf_index >> level & 1 ? tree_d_hash(sibling, current) : tree_d_hash(current, sibling);
    }
    if (current == partition_.apex_leaves[apex_leaf]) return {};
    return invalid(place, "the path does not hash to apex_leafs[" + std::to_string(apex_leaf) + "]");
  }

  std::span<const Fr> partition_path(uint32_t i) const {
    return partition_.opening(i, SnapProof::kDNew).siblings.last(shape_.partition_bits);
  }

  const SnapInput& input_;
  const SnapShape& shape_;
  uint32_t k_;
  const SnapPartition& partition_;
  std::string place_;
  std::vector<Fr> tree_r_roots_;  // of every challenge, what the old and the new path hash to
  std::vector<std::vector<Fr>> apex_rows_;
};

}  // namespace

const char* snap_proof_name(SnapProof proof) {
  switch (proof) {
    case SnapProof::kROld: return "proof_r_old";
    case SnapProof::kDNew: return "proof_d_new";
    default: return "proof_r_new";
  }
}

SnapPartition::SnapPartition(const SnapShape& shape)
    : apex_leaves(shape.apex_leaves()),
      challenges_(shape.challenges),
      tree_r_values_(2 + shape.tree.siblings()),
      tree_d_values_(2 + shape.log2_nodes()),
      values_(challenges_ * (2 * tree_r_values_ + tree_d_values_)),
      leaf_indices_(size_t{3} * challenges_) {}

Status validate_snap_partition(const SnapInput& input, uint32_t k) {
  CUZK_ASSERT(k < input.partitions.size() && k < input.shape->partitions());
  CUZK_ASSERT(snap_h_select(*input.shape, input.h) != 0);
  return PartitionCheck(input, k).run();
}

Status validate_snap_vanilla(const SnapInput& input) {
  const uint32_t partitions = input.shape->partitions();
  if (input.partitions.size() != partitions) {
    Error error = Error(ErrorClass::kInvalidInput, "has " + std::to_string(input.partitions.size()) +
                                                       " partitions, needs " + std::to_string(partitions))
                      .at_field("vanilla_proofs");
    error.sector = input.sector_number;
    return error;
  }
  for (const unsigned arity : {2u, 4u, 8u}) poseidon_constants(arity);  // made before the loop, not once a thread
  ElementErrors errors;
  parallel_for(partitions, 1, [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      Status status = validate_snap_partition(input, static_cast<uint32_t>(k));
      if (!status.ok()) errors.add(k, 0, std::move(status).error());
    }
  });
  if (errors.empty()) return {};
  return errors.take([](size_t k) { return "partition " + std::to_string(k); });
}

}  // namespace cuzk
