// The vanilla proofs of a PoRep: what seal commit phase 1 hands to phase 2, in flat storage, and their check.
// Source: storage-proofs-porep stacked/vanilla/proof.rs, storage-proofs-core merkle/proof.rs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "field/fr.hpp"
#include "filecoin/merkle.hpp"
#include "filecoin/porep.hpp"

namespace cuzk {

// A column of labels and its opening in tree C.
struct ColumnProofView {
  uint32_t index;            // the node, as the file states it
  std::span<const Fr> rows;  // label of layer 1 first
  MerkleProofView inclusion;
};

// Where the parts of one challenge proof lie in flat storage; a pure function of the shape.
struct PorepChallengeLayout {
  explicit PorepChallengeLayout(const PorepShape& shape);
  static constexpr uint32_t kColumns = 1 + kPorepParents;  // c_x, base parents, expander parents

  uint32_t layers;
  uint32_t tree_d_values;  // root, leaf, siblings
  uint32_t tree_values;    // the same for trees C and R
  uint32_t column_values;  // rows, then the opening
  uint32_t total_values;
  uint32_t comm_d() const { return 0; }
  uint32_t comm_r_last() const { return tree_d_values; }
  uint32_t column(uint32_t i) const { return tree_d_values + tree_values + i * column_values; }
  // Indices: node, leaf index in tree D, in tree R, then (column index, leaf index) of every column.
  static constexpr uint32_t kTotalIndices = 3 + 2 * kColumns;
  // Parents of every labeling proof, then of the encoding proof, 37 each.
  uint32_t total_parents() const { return (layers + 1) * kPorepHashedParents; }
};

// One challenge proof as views into its partition.
class PorepChallengeView {
 public:
  PorepChallengeView(const PorepChallengeLayout& layout, const Fr* values, const uint64_t* indices,
                     const NodeBytes* parents)
      : layout_(&layout), values_(values), indices_(indices), parents_(parents) {}

  uint64_t node() const { return indices_[0]; }
  MerkleProofView comm_d() const { return proof(layout_->comm_d(), layout_->tree_d_values, indices_[1]); }
  MerkleProofView comm_r_last() const { return proof(layout_->comm_r_last(), layout_->tree_values, indices_[2]); }
  ColumnProofView c_x() const { return column(0); }
  ColumnProofView base_parent(uint32_t i) const { return column(1 + i); }
  ColumnProofView expander_parent(uint32_t i) const { return column(1 + kPorepBaseParents + i); }
  // Column i: 0 is c_x, then the base parents, then the expander parents.
  ColumnProofView column(uint32_t i) const {
    const uint32_t first = layout_->column(i);
    return {static_cast<uint32_t>(indices_[3 + 2 * i]),
            {values_ + first, layout_->layers},
            proof(first + layout_->layers, layout_->tree_values, indices_[4 + 2 * i])};
  }
  // The 37 parent labels of labeling proof `layer` (1..layers), or of the encoding proof (layers + 1).
  std::span<const NodeBytes> labeling_parents(uint32_t layer) const {
    return {parents_ + size_t{layer - 1} * kPorepHashedParents, kPorepHashedParents};
  }

 private:
  MerkleProofView proof(uint32_t first, uint32_t count, uint64_t leaf_index) const {
    return {values_[first], values_[first + 1], {values_ + first + 2, count - 2}, leaf_index};
  }

  const PorepChallengeLayout* layout_;
  const Fr* values_;
  const uint64_t* indices_;
  const NodeBytes* parents_;
};

// The challenge proofs of one partition. Values are in Montgomery form.
class PorepPartition {
 public:
  // All zero, to be filled in through the mutable spans.
  PorepPartition(const PorepShape& shape, uint32_t challenges);

  uint32_t challenges() const { return challenges_; }
  const PorepChallengeLayout& layout() const { return layout_; }
  PorepChallengeView challenge(uint32_t i) const {
    return {layout_, values_.data() + size_t{i} * layout_.total_values,
            indices_.data() + size_t{i} * PorepChallengeLayout::kTotalIndices,
            parents_.data() + size_t{i} * layout_.total_parents()};
  }
  std::span<Fr> values(uint32_t i) { return {values_.data() + size_t{i} * layout_.total_values, layout_.total_values}; }
  std::span<uint64_t> indices(uint32_t i) {
    return {indices_.data() + size_t{i} * PorepChallengeLayout::kTotalIndices, PorepChallengeLayout::kTotalIndices};
  }
  std::span<NodeBytes> parents(uint32_t i) {
    return {parents_.data() + size_t{i} * layout_.total_parents(), layout_.total_parents()};
  }

 private:
  PorepChallengeLayout layout_;
  uint32_t challenges_;
  std::vector<Fr> values_;
  std::vector<uint64_t> indices_;
  std::vector<NodeBytes> parents_;
};

// Output of seal commit phase 1: everything phase 2 proves from.
struct PorepC1 {
  const RegisteredSealProof* proof = nullptr;
  Fr comm_r;
  Fr comm_d;
  Fr replica_id;
  NodeBytes seed{};
  NodeBytes ticket{};
  std::optional<uint64_t> sector_number;  // only the wrapper has it
  std::vector<PorepPartition> partitions;

  const PorepShape& shape() const { return *proof->shape; }
};

// Checks everything about the vanilla proofs that can be computed from them: challenges and parents against the
// graph, path indices, inclusion proofs against their roots, column hashes, labels, encoding, labeling parents, and
// comm_r = H(comm_c, comm_r_last). Shapes, counts and ranges are those of a PorepC1 that the reader accepted.
// Errors: kInvalidInput with the field's path and the partition, of the first bad challenge; the message names the
// others. About 30 hashes a challenge and level, in parallel
// over challenges. Does not need the miner's id: whether replica_id belongs to the sector is check_porep_replica_id.
Status validate_porep_vanilla(const PorepC1& c1);

// Checks replica_id = f(prover id, sector number, ticket, comm_d, porep id). Errors: kInvalidInput.
Status check_porep_replica_id(const PorepC1& c1, uint64_t miner_id, uint64_t sector_number);

}  // namespace cuzk
