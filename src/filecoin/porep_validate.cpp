// The check of PoRep's vanilla proofs. Source: storage-proofs-porep stacked/vanilla/proof.rs, Proof::verify.
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/element_errors.hpp"
#include "filecoin/merkle.hpp"
#include "filecoin/porep_challenges.hpp"
#include "filecoin/porep_graph.hpp"
#include "filecoin/porep_hash.hpp"
#include "filecoin/porep_vanilla.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

Error invalid(std::string field, std::string message) {
  return Error(ErrorClass::kInvalidInput, std::move(message)).at_field(std::move(field));
}

std::string place_of(uint32_t partition, uint32_t challenge) {
  return "vanilla_proofs[" + std::to_string(partition) + "][" + std::to_string(challenge) + "]";
}

// Checks one challenge proof. The paths of its fields begin with `place`.
class ChallengeCheck {
 public:
  ChallengeCheck(const PorepC1& c1, const PorepGraph& graph, const PorepChallengeView& proof, std::string place)
      : c1_(c1), shape_(c1.shape()), graph_(graph), proof_(proof), place_(std::move(place)) {}

  Status run(uint64_t expected_node) {
    const uint64_t node = proof_.node();
    if (node != expected_node) {
      return invalid(place_ + ".labeling_proofs[0].node",
                     "is " + std::to_string(node) + ", but the challenge is " + std::to_string(expected_node));
    }
    CUZK_TRY(check_leaf_index(".comm_d_proofs", proof_.comm_d(), node));
    CUZK_TRY(check_tree_d(".comm_d_proofs", proof_.comm_d()));
    hash_openings();
    CUZK_TRY(check_opening(".comm_r_last_proof", proof_.comm_r_last(), node, roots_.back()));
    CUZK_TRY(check_column(".replica_column_proofs.c_x", 0, node));
    const auto base = graph_.base_parents(node);
    for (uint32_t m = 0; m < base.size(); ++m) {
      CUZK_TRY(check_column(".replica_column_proofs.drg_parents[" + std::to_string(m) + "]", 1 + m, base[m]));
    }
    const auto expander = graph_.expander_parents(node);
    for (uint32_t m = 0; m < expander.size(); ++m) {
      CUZK_TRY(check_column(".replica_column_proofs.exp_parents[" + std::to_string(m) + "]", 1 + kPorepBaseParents + m,
                            expander[m]));
    }
    for (uint32_t layer = 1; layer <= shape_.layers; ++layer) CUZK_TRY(check_label(layer));
    return check_encoding();
  }

 private:
  Status check_leaf_index(const std::string& field, const MerkleProofView& view, uint64_t node) {
    if (view.leaf_index == node) return {};
    return invalid(place_ + field, "the path is that of leaf " + std::to_string(view.leaf_index) + ", not of node " +
                                       std::to_string(node));
  }

  Status check_tree_d(const std::string& field, const MerkleProofView& view) {
    NodeBytes current = view.leaf.to_bytes_le();
    for (uint32_t level = 0; level < shape_.log2_nodes; ++level) {
      const NodeBytes sibling = view.siblings[level].to_bytes_le();
      const bool right = view.leaf_index >> level & 1;
      current = right ? tree_d_node(sibling, current) : tree_d_node(current, sibling);
    }
    if (current == view.root.to_bytes_le()) return {};
    return invalid(place_ + field, "the path does not hash to the root");
  }

  // c_x, then the base parents, then the expander parents.
  ColumnProofView column(uint32_t c) const {
    if (c == 0) return proof_.c_x();
    return c <= kPorepBaseParents ? proof_.base_parent(c - 1) : proof_.expander_parent(c - 1 - kPorepBaseParents);
  }

  // All hashes of trees C and R side by side.
  void hash_openings() {
    const TreeShape tree = shape_.tree();
    std::vector<MerkleProofView> openings;
    std::vector<Fr> rows;
    for (uint32_t c = 0; c < kColumns; ++c) {
      const ColumnProofView view = column(c);
      openings.push_back(view.inclusion);
      rows.insert(rows.end(), view.rows.begin(), view.rows.end());
    }
    openings.push_back(proof_.comm_r_last());
    std::vector<Fr> hashes(openings.size() * tree.levels());
    std::vector<std::span<Fr>> out;
    for (size_t i = 0; i < openings.size(); ++i) {
      out.push_back(std::span(hashes).subspan(i * tree.levels(), tree.levels()));
    }
    merkle_path_hashes(tree, openings, out);
    for (const std::span<Fr>& path : out) roots_.push_back(path.back());
    columns_.resize(kColumns);
    poseidon_hashes(shape_.layers, rows, columns_);
  }

  // An opening in tree C or R, whose path hashes to `root`.
  Status check_opening(const std::string& field, const MerkleProofView& view, uint64_t node, const Fr& root) {
    CUZK_TRY(check_leaf_index(field, view, node));
    if (root == view.root) return {};
    return invalid(place_ + field, "the path does not hash to the root");
  }

  Status check_column(const std::string& field, uint32_t c, uint64_t node) {
    const ColumnProofView view = column(c);
    if (view.index != node) {
      return invalid(place_ + field + ".column.index",
                     "is " + std::to_string(view.index) + ", but the node is " + std::to_string(node));
    }
    CUZK_TRY(check_opening(field + ".inclusion_proof", view.inclusion, node, roots_[c]));
    if (columns_[c] == view.inclusion.leaf) return {};
    return invalid(place_ + field + ".column.rows", "the column does not hash to the leaf of its inclusion proof");
  }

  Status check_label(uint32_t layer) {
    std::array<NodeBytes, kPorepParents> parents;
    uint32_t count = 0;
    for (uint32_t m = 0; m < kPorepBaseParents; ++m) {
      parents[count++] = proof_.base_parent(m).rows[layer - 1].to_bytes_le();
    }
    for (uint32_t m = 0; layer > 1 && m < kPorepExpanderParents; ++m) {
      parents[count++] = proof_.expander_parent(m).rows[layer - 2].to_bytes_le();
    }
    const std::string labeling = ".labeling_proofs[" + std::to_string(layer - 1) + "].parents";
    CUZK_TRY(check_parents(labeling, layer, {parents.data(), count}));
    if (layer == shape_.layers) CUZK_TRY(check_parents(".encoding_proof.parents", layer + 1, {parents.data(), count}));
    const NodeBytes label = porep_label(c1_.replica_id.to_bytes_le(), layer, proof_.node(), {parents.data(), count});
    if (label == proof_.c_x().rows[layer - 1].to_bytes_le()) return {};
    return invalid(place_ + ".replica_column_proofs.c_x.column.rows[" + std::to_string(layer - 1) + "]",
                   "is not the label that the parents hash to");
  }

  Status check_parents(const std::string& field, uint32_t labeling, std::span<const NodeBytes> parents) {
    const std::span<const NodeBytes> stated = proof_.labeling_parents(labeling);
    for (size_t i = 0; i < stated.size(); ++i) {
      if (stated[i] == parents[i % parents.size()]) continue;
      return invalid(place_ + field + "[" + std::to_string(i) + "]", "is not the label in the parent's column");
    }
    return {};
  }

  Status check_encoding() {
    if (proof_.c_x().rows.back() + proof_.comm_d().leaf == proof_.comm_r_last().leaf) return {};
    return invalid(place_ + ".comm_r_last_proof", "the leaf is not the last label plus the data");
  }

  const PorepC1& c1_;
  const PorepShape& shape_;
  const PorepGraph& graph_;
  PorepChallengeView proof_;
  std::string place_;
  static constexpr uint32_t kColumns = 1 + kPorepBaseParents + kPorepExpanderParents;
  std::vector<Fr> roots_;    // what the paths of the columns, and last of tree R, hash to
  std::vector<Fr> columns_;  // the hashes of the columns
};

}  // namespace

Status validate_porep_vanilla(const PorepC1& c1) {
  const PorepShape& shape = c1.shape();
  const PorepChallengeView first = c1.partitions[0].challenge(0);
  const std::array<Fr, 2> roots = {first.c_x().inclusion.root, first.comm_r_last().root};
  if (poseidon_hash(roots) != c1.comm_r) return invalid("comm_r", "is not the hash of comm_c and comm_r_last");

  const PorepGraph graph(*c1.proof);
  const PorepChallengeSource source{c1.proof->feature, shape.nodes(), c1.replica_id.to_bytes_le(),
                                    c1.comm_r.to_bytes_le(), c1.seed};
  poseidon_constants(8);  // made before the loop, not once a thread
  const uint32_t per_partition = c1.partitions[0].challenges();
  std::vector<uint64_t> expected;
  for (uint32_t k = 0; k < c1.partitions.size(); ++k) {
    const std::vector<uint64_t> challenges = porep_challenges(source, k, per_partition);
    expected.insert(expected.end(), challenges.begin(), challenges.end());
  }
  ElementErrors errors;
  parallel_for(expected.size(), 1, [&](size_t begin, size_t end) {
    for (size_t j = begin; j < end; ++j) {
      const uint32_t k = static_cast<uint32_t>(j / per_partition), i = static_cast<uint32_t>(j % per_partition);
      ChallengeCheck check(c1, graph, c1.partitions[k].challenge(i), place_of(k, i));
      Status status = check.run(expected[j]);
      if (!status.ok()) errors.add(j, 0, std::move(status).error().of_partition(k));
    }
  });
  if (errors.empty()) return {};
  Error error = errors.take([&](size_t j) {
    return place_of(static_cast<uint32_t>(j / per_partition), static_cast<uint32_t>(j % per_partition));
  });
  error.sector = c1.sector_number;
  return error;
}

Status check_porep_replica_id(const PorepC1& c1, uint64_t miner_id, uint64_t sector_number) {
  const NodeBytes expected = porep_replica_id(prover_id_of_miner(miner_id), sector_number, c1.ticket,
                                              c1.comm_d.to_bytes_le(), c1.proof->porep_id());
  if (expected == c1.replica_id.to_bytes_le()) return {};
  return invalid("replica_id", "is not that of miner " + std::to_string(miner_id) + ", sector " +
                                   std::to_string(sector_number) +
                                   " with this ticket, comm_d and registered proof; miner_id and sector_number of the "
                                   "request are to be those that it was sealed with")
      .of_sector(sector_number);
}

}  // namespace cuzk
