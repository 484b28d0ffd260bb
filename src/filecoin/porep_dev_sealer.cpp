#include "filecoin/porep_dev_sealer.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/assert.hpp"
#include "filecoin/porep_challenges.hpp"
#include "filecoin/porep_graph.hpp"
#include "filecoin/porep_hash.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// Tree D, all levels, leaves first.
std::vector<std::vector<NodeBytes>> tree_d(std::span<const NodeBytes> data) {
  std::vector<std::vector<NodeBytes>> levels = {{data.begin(), data.end()}};
  while (levels.back().size() > 1) {
    const std::vector<NodeBytes>& below = levels.back();
    std::vector<NodeBytes> above(below.size() / 2);
    for (size_t i = 0; i < above.size(); ++i) above[i] = tree_d_node(below[2 * i], below[2 * i + 1]);
    levels.push_back(std::move(above));
  }
  return levels;
}

Fr to_fr(const NodeBytes& bytes) {
  const std::optional<Fr> element = Fr::from_bytes_le(bytes);
  CUZK_ASSERT(element.has_value());
  return *element;
}

std::vector<std::vector<NodeBytes>> make_labels(const PorepShape& shape, const PorepGraph& graph,
                                                const NodeBytes& replica_id) {
  std::vector<std::vector<NodeBytes>> labels(shape.layers, std::vector<NodeBytes>(shape.nodes()));
  for (uint32_t l = 0; l < shape.layers; ++l) {
    for (uint64_t v = 0; v < shape.nodes(); ++v) {
      std::array<NodeBytes, kPorepParents> parents;
      uint32_t count = 0;
      if (v > 0) {
        for (const uint32_t p : graph.base_parents(v)) parents[count++] = labels[l][p];
        if (l > 0) {
          for (const uint32_t p : graph.expander_parents(v)) parents[count++] = labels[l - 1][p];
        }
      }
      labels[l][v] = porep_label(replica_id, l + 1, v, {parents.data(), count});
    }
  }
  return labels;
}

// What the challenge proofs are opened from.
struct Sealing {
  const PorepShape& shape;
  const PorepGraph& graph;
  const std::vector<std::vector<NodeBytes>>& labels;
  const std::vector<std::vector<NodeBytes>>& tree_d;
  const PorepTree& tree_c;
  const PorepTree& tree_r;

  void open_tree_d(uint64_t node, std::span<Fr> out) const {
    out[0] = to_fr(tree_d.back()[0]);
    out[1] = to_fr(tree_d[0][node]);
    for (uint32_t level = 0; level < shape.log2_nodes; ++level)
      out[2 + level] = to_fr(tree_d[level][(node >> level) ^ 1]);
  }
  void open_column(uint64_t node, std::span<Fr> out) const {
    for (uint32_t l = 0; l < shape.layers; ++l) out[l] = to_fr(labels[l][node]);
    tree_c.open(node, out.subspan(shape.layers));
  }
  void open(uint64_t node, uint32_t i, PorepPartition& partition) const {
    const PorepChallengeLayout& layout = partition.layout();
    const std::span<Fr> values = partition.values(i);
    const std::span<uint64_t> indices = partition.indices(i);
    const std::span<NodeBytes> parents = partition.parents(i);
    indices[0] = indices[1] = indices[2] = node;
    open_tree_d(node, values.subspan(layout.comm_d(), layout.tree_d_values));
    tree_r.open(node, values.subspan(layout.comm_r_last(), layout.tree_values));
    const auto base = graph.base_parents(node);
    const auto expander = graph.expander_parents(node);
    std::vector<uint64_t> columns = {node};
    columns.insert(columns.end(), base.begin(), base.end());
    columns.insert(columns.end(), expander.begin(), expander.end());
    for (uint32_t c = 0; c < columns.size(); ++c) {
      indices[3 + 2 * c] = indices[4 + 2 * c] = columns[c];
      open_column(columns[c], values.subspan(layout.column(c), layout.column_values));
    }
    // The labeling proof of every layer, and the encoding proof, which repeats the last.
    for (uint32_t l = 0; l <= shape.layers; ++l) {
      const uint32_t layer = std::min(l, shape.layers - 1);
      const uint32_t count = layer == 0 ? kPorepBaseParents : kPorepParents;
      for (uint32_t m = 0; m < kPorepHashedParents; ++m) {
        const uint32_t p = m % count;
        parents[l * kPorepHashedParents + m] =
            p < kPorepBaseParents ? labels[layer][base[p]] : labels[layer - 1][expander[p - kPorepBaseParents]];
      }
    }
  }
};

}  // namespace

PorepTree::PorepTree(const PorepShape& shape, std::vector<Fr> leaves) : shape_(shape) {
  levels_.push_back(std::move(leaves));
  for (uint32_t level = 0; level < shape.path_levels(); ++level) {
    const size_t arity = shape.path_arity(level);
    const std::vector<Fr>& below = levels_.back();
    std::vector<Fr> above(below.size() / arity);
    parallel_for(above.size(), 16, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) above[i] = poseidon_hash({&below[i * arity], arity});
    });
    levels_.push_back(std::move(above));
  }
  CUZK_ASSERT(levels_.back().size() == 1);
}

void PorepTree::open(uint64_t index, std::span<Fr> out) const {
  out[0] = root();
  out[1] = levels_[0][index];
  size_t at = 2;
  for (uint32_t level = 0; level < shape_.path_levels(); ++level) {
    const uint64_t arity = shape_.path_arity(level);
    for (uint64_t i = 0; i < arity; ++i) {
      const uint64_t child = index / arity * arity + i;
      if (child != index) out[at++] = levels_[level][child];
    }
    index /= arity;
  }
}

Result<PorepSealed> seal_porep(const PorepSealInput& input) {
  const PorepShape& shape = *input.proof->shape;
  if (input.data.size() != shape.nodes()) {
    return Error(ErrorClass::kUsage, "a " + std::string(shape.name) + " sector has " + std::to_string(shape.nodes()) +
                                         " nodes, not " + std::to_string(input.data.size()));
  }
  for (size_t v = 0; v < input.data.size(); ++v) {
    if (!Fr::from_bytes_le(input.data[v])) {
      return Error(ErrorClass::kUsage, "data node " + std::to_string(v) + " is not a canonical field element");
    }
  }
  const auto d = tree_d(input.data);
  const NodeBytes replica_id =
      porep_replica_id(input.prover_id, input.sector_number, input.ticket, d.back()[0], input.proof->porep_id());
  const PorepGraph graph(*input.proof);
  PorepSealed out;
  out.labels = make_labels(shape, graph, replica_id);
  std::vector<Fr> columns(shape.nodes());
  out.replica.resize(shape.nodes());
  poseidon_constants(shape.layers);
  parallel_for(shape.nodes(), 16, [&](size_t begin, size_t end) {
    std::vector<Fr> column(shape.layers);
    for (size_t v = begin; v < end; ++v) {
      for (uint32_t l = 0; l < shape.layers; ++l) column[l] = to_fr(out.labels[l][v]);
      columns[v] = poseidon_hash(column);
      out.replica[v] = column.back() + to_fr(input.data[v]);
    }
  });
  const PorepTree tree_c(shape, std::move(columns));
  const PorepTree tree_r(shape, out.replica);
  out.comm_c = tree_c.root();
  out.comm_r_last = tree_r.root();
  const std::array<Fr, 2> roots = {out.comm_c, out.comm_r_last};
  out.c1.proof = input.proof;
  out.c1.comm_r = poseidon_hash(roots);
  out.c1.comm_d = to_fr(d.back()[0]);
  out.c1.replica_id = to_fr(replica_id);
  out.c1.seed = input.seed;
  out.c1.ticket = input.ticket;

  const Sealing sealing{shape, graph, out.labels, d, tree_c, tree_r};
  const PorepChallengeSource source{input.proof->feature, shape.nodes(), replica_id, out.c1.comm_r.to_bytes_le(),
                                    input.seed};
  for (uint32_t k = 0; k < input.proof->partitions(); ++k) {
    out.c1.partitions.emplace_back(shape, shape.challenges);
    const std::vector<uint64_t> challenges = porep_challenges(source, k, shape.challenges);
    for (uint32_t i = 0; i < challenges.size(); ++i) sealing.open(challenges[i], i, out.c1.partitions.back());
  }
  return out;
}

}  // namespace cuzk
