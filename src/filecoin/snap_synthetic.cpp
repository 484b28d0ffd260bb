#include "filecoin/snap_synthetic.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "filecoin/free_values.hpp"
#include "filecoin/porep_hash.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// Blocks of equal nodes where the sector has more nodes than that. A multiple of 2^h, so that rho is constant in each.
constexpr uint32_t kLog2Blocks = 12;

// Nodes of one level of a tree, each value repeated 2^log2_repeat times.
struct Row {
  std::vector<Fr> values;
  uint32_t log2_repeat = 0;
  const Fr& node(uint64_t i) const { return values[i >> log2_repeat]; }
};

Fr tree_r_hash(std::span<const Fr> children) { return poseidon_hash(children); }
Fr tree_d_hash(std::span<const Fr> children) {
  return *Fr::from_bytes_le(tree_d_node(children[0].to_bytes_le(), children[1].to_bytes_le()));
}

// A whole tree over block-wise constant leaves.
class BlockTree {
 public:
  using Hash = Fr (*)(std::span<const Fr> children);

  // log2_arities: of every level, from the leaves up.
  BlockTree(Row leaves, std::vector<uint32_t> log2_arities, Hash hash) : log2_arities_(std::move(log2_arities)) {
    rows_.push_back(std::move(leaves));
    for (const uint32_t log2_arity : log2_arities_) add_row(log2_arity, hash);
    CUZK_ASSERT(rows_.back().values.size() == 1 && rows_.back().log2_repeat == 0);
  }
  const Fr& root() const { return rows_.back().values[0]; }
  const Fr& node(uint32_t level, uint64_t i) const { return rows_[level].node(i); }
  // Writes root, leaf and siblings of a leaf.
  void open(uint64_t index, std::span<Fr> out) const {
    out[0] = root();
    out[1] = node(0, index);
    size_t at = 2;
    for (uint32_t level = 0; level < log2_arities_.size(); ++level) {
      const uint64_t first = index >> log2_arities_[level] << log2_arities_[level];
      for (uint64_t child = first; child < first + (uint64_t{1} << log2_arities_[level]); ++child) {
        if (child != index) out[at++] = node(level, child);
      }
      index >>= log2_arities_[level];
    }
    CUZK_ASSERT(at == out.size());
  }

 private:
  void add_row(uint32_t log2_arity, Hash hash) {
    const Row& below = rows_.back();
    Row above;
    // Parents of equal children are equal; where a block ends inside a parent, every parent is its own.
    above.log2_repeat = below.log2_repeat > log2_arity ? below.log2_repeat - log2_arity : 0;
    const uint64_t nodes = uint64_t{below.values.size()} << below.log2_repeat >> log2_arity;
    above.values.resize(nodes >> above.log2_repeat);
    parallel_for(above.values.size(), 16, [&](size_t begin, size_t end) {
      std::array<Fr, 8> children;
      for (size_t i = begin; i < end; ++i) {
        const uint64_t first = uint64_t{i} << above.log2_repeat << log2_arity;
        for (uint64_t c = 0; c < uint64_t{1} << log2_arity; ++c) children[c] = below.node(first + c);
        above.values[i] = hash({children.data(), size_t{1} << log2_arity});
      }
    });
    rows_.push_back(std::move(above));
  }

  std::vector<uint32_t> log2_arities_;
  std::vector<Row> rows_;
};

BlockTree tree_r(const SnapShape& shape, Row leaves) {
  std::vector<uint32_t> log2_arities;
  for (uint32_t level = 0; level < shape.tree.levels(); ++level) log2_arities.push_back(shape.tree.index_bits(level));
  return {std::move(leaves), std::move(log2_arities), tree_r_hash};
}

}  // namespace

SnapInput make_synthetic_snap(const SnapSyntheticInput& input) {
  const SnapShape& shape = *input.shape;
  CUZK_ASSERT(input.partitions <= shape.partitions());
  for (const unsigned arity : {2u, 4u, 8u}) poseidon_constants(arity);  // made before the loops, not once a thread
  const uint32_t log2_blocks = std::min(kLog2Blocks, shape.log2_nodes());
  const size_t blocks = size_t{1} << log2_blocks;
  const uint32_t log2_repeat = shape.log2_nodes() - log2_blocks;
  FreeValues free(input.randomness);
  const Fr comm_c = free.next_fr();
  Row old_labels{std::vector<Fr>(blocks), log2_repeat}, data = old_labels, new_labels = old_labels;
  for (Fr& x : old_labels.values) x = free.next_fr();
  for (Fr& x : data.values) x = free.next_fr();

  SnapInput out;
  out.shape = &shape;
  out.h = shape.default_h();
  out.sector_number = input.sector_number;
  CUZK_ASSERT(log2_blocks >= out.h);
  const auto comm_r = [&](const Fr& root) { return poseidon_hash(std::array<Fr, 2>{comm_c, root}); };
  const BlockTree tree_r_old = tree_r(shape, old_labels);
  const BlockTree tree_d_new(data, std::vector<uint32_t>(shape.log2_nodes(), 1), tree_d_hash);
  out.commitments.comm_r_old = comm_r(tree_r_old.root());
  out.commitments.comm_d_new = tree_d_new.root();
  const Fr phi = snap_phi(out.commitments.comm_d_new, out.commitments.comm_r_old);
  for (size_t s = 0; s < blocks; ++s) {
    const Fr rho = snap_rho(phi, snap_high(shape, out.h, uint64_t{s} << log2_repeat));
    new_labels.values[s] = snap_encode(old_labels.values[s], data.values[s], rho);
  }
  const BlockTree tree_r_new = tree_r(shape, std::move(new_labels));
  out.commitments.comm_r_new = comm_r(tree_r_new.root());

  const uint32_t partitions = input.partitions == 0 ? shape.partitions() : input.partitions;
  for (uint32_t k = 0; k < partitions; ++k) {
    SnapPartition& partition = out.partitions.emplace_back(shape);
    partition.comm_c = comm_c;
    for (uint64_t i = 0; i < shape.apex_leaves(); ++i) {
      partition.apex_leaves[i] = tree_d_new.node(shape.path_levels(), (uint64_t{k} << shape.apex_bits) + i);
    }
    const std::vector<uint64_t> challenges = snap_challenges(shape, out.commitments.comm_r_new, k);
    for (uint32_t i = 0; i < challenges.size(); ++i) {
      for (const SnapProof proof : kSnapProofs) partition.leaf_index(i, proof) = challenges[i];
      tree_r_old.open(challenges[i], partition.values(i, SnapProof::kROld));
      tree_d_new.open(challenges[i], partition.values(i, SnapProof::kDNew));
      tree_r_new.open(challenges[i], partition.values(i, SnapProof::kRNew));
    }
  }
  return out;
}

}  // namespace cuzk
