#include "filecoin/porep_synthetic_input.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "filecoin/free_values.hpp"
#include "filecoin/porep_challenges.hpp"
#include "filecoin/porep_graph.hpp"
#include "filecoin/porep_hash.hpp"
#include "filecoin/sparse_tree.hpp"
#include "hash/poseidon.hpp"

namespace cuzk {
namespace {

Fr to_fr(const NodeBytes& bytes) {
  const std::optional<Fr> element = Fr::from_bytes_le(bytes);
  CUZK_ASSERT(element.has_value());
  return *element;
}

struct Parents {
  std::array<uint32_t, kPorepBaseParents> base;
  std::array<uint32_t, kPorepExpanderParents> expander;
};

// Labels of all opened nodes, by layer.
using Labels = std::vector<std::map<uint64_t, NodeBytes>>;

void parent_labels(const Labels& labels, const Parents& parents, uint32_t layer, std::vector<NodeBytes>& out) {
  out.clear();
  for (const uint32_t p : parents.base) out.push_back(labels[layer].at(p));
  if (layer > 0) {
    for (const uint32_t p : parents.expander) out.push_back(labels[layer - 1].at(p));
  }
}

Labels make_labels(const PorepShape& shape, const NodeBytes& replica_id, const std::map<uint64_t, Parents>& challenges,
                   FreeValues& free) {
  std::map<uint64_t, const Parents*> opened;  // nullptr: only a parent
  for (const auto& [node, parents] : challenges) {
    for (const uint32_t p : parents.base) opened.try_emplace(p, nullptr);
    for (const uint32_t p : parents.expander) opened.try_emplace(p, nullptr);
  }
  for (const auto& [node, parents] : challenges) opened[node] = &parents;
  Labels labels(shape.layers);
  std::vector<NodeBytes> inputs;
  for (uint32_t layer = 0; layer < shape.layers; ++layer) {
    // In ascending order: base parents come before their child.
    for (const auto& [node, parents] : opened) {
      if (parents != nullptr) parent_labels(labels, *parents, layer, inputs);
      labels[layer][node] = parents != nullptr ? porep_label(replica_id, layer + 1, node, inputs) : free.next();
    }
  }
  return labels;
}

void open_challenge(const PorepShape& shape, const Labels& labels, const SparseTree& tree_c, const SparseTree& tree_r,
                    std::span<const Fr> zero_tree, uint64_t node, const Parents& node_parents, uint32_t i,
                    PorepPartition& partition) {
  const PorepChallengeLayout& layout = partition.layout();
  const std::span<Fr> values = partition.values(i);
  const std::span<uint64_t> indices = partition.indices(i);
  indices[0] = indices[1] = indices[2] = node;
  values[layout.comm_d()] = zero_tree[shape.log2_nodes];
  for (uint32_t level = 0; level < shape.log2_nodes; ++level) values[layout.comm_d() + 2 + level] = zero_tree[level];
  tree_r.open(node, values.subspan(layout.comm_r_last(), layout.tree_values));
  std::vector<uint64_t> columns = {node};
  columns.insert(columns.end(), node_parents.base.begin(), node_parents.base.end());
  columns.insert(columns.end(), node_parents.expander.begin(), node_parents.expander.end());
  for (uint32_t c = 0; c < columns.size(); ++c) {
    indices[3 + 2 * c] = indices[4 + 2 * c] = columns[c];
    const std::span<Fr> column = values.subspan(layout.column(c), layout.column_values);
    for (uint32_t l = 0; l < shape.layers; ++l) column[l] = to_fr(labels[l].at(columns[c]));
    tree_c.open(columns[c], column.subspan(shape.layers));
  }
  std::vector<NodeBytes> inputs;
  for (uint32_t l = 0; l <= shape.layers; ++l) {
    parent_labels(labels, node_parents, std::min(l, shape.layers - 1), inputs);
    for (uint32_t m = 0; m < kPorepHashedParents; ++m) {
      partition.parents(i)[l * kPorepHashedParents + m] = inputs[m % inputs.size()];
    }
  }
}

}  // namespace

Result<PorepC1> make_synthetic_porep(const PorepSyntheticInput& input) {
  const RegisteredSealProof& proof = *input.proof;
  const PorepShape& shape = *proof.shape;
  if (proof.feature != PorepFeature::kNone) {
    return Error(ErrorClass::kUnsupported, std::string(proof.name) +
                                               " draws its challenges from comm_r, so its input "
                                               "cannot be made without a sector");
  }
  FreeValues free(input.randomness);
  // The tree over zeros: one value a level.
  std::vector<Fr> zero_tree = {Fr::zero()};
  NodeBytes zero_node{};
  for (uint32_t level = 0; level < shape.log2_nodes; ++level) {
    zero_node = tree_d_node(zero_node, zero_node);
    zero_tree.push_back(to_fr(zero_node));
  }
  const NodeBytes replica_id = porep_replica_id(prover_id_of_miner(input.miner_id), input.sector_number, input.ticket,
                                                zero_node, proof.porep_id());
  const PorepGraph graph(proof);
  const PorepChallengeSource source{proof.feature, shape.nodes(), replica_id, {}, input.seed};
  std::vector<std::vector<uint64_t>> partitions;
  std::map<uint64_t, Parents> challenges;
  for (uint32_t k = 0; k < proof.partitions(); ++k) {
    partitions.push_back(porep_challenges(source, k, shape.challenges));
    for (const uint64_t node : partitions.back()) {
      challenges[node] = {graph.base_parents(node), graph.expander_parents(node)};
    }
  }
  const Labels labels = make_labels(shape, replica_id, challenges, free);
  std::map<uint64_t, Fr> columns, replica;
  for (const auto& [node, last_label] : labels.back()) {
    std::vector<Fr> column;
    for (const auto& layer : labels) column.push_back(to_fr(layer.at(node)));
    columns.emplace(node, poseidon_hash(column));
    // The data is zero, so the replica is the last label.
    if (challenges.contains(node)) replica.emplace(node, column.back());
  }
  const SparseTree tree_c(shape.tree(), std::move(columns), free);
  const SparseTree tree_r(shape.tree(), std::move(replica), free);

  PorepC1 c1;
  c1.proof = &proof;
  c1.comm_r = poseidon_hash(std::array<Fr, 2>{tree_c.root(), tree_r.root()});
  c1.comm_d = zero_tree.back();
  c1.replica_id = to_fr(replica_id);
  c1.seed = input.seed;
  c1.ticket = input.ticket;
  for (const std::vector<uint64_t>& nodes : partitions) {
    c1.partitions.emplace_back(shape, shape.challenges);
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      open_challenge(shape, labels, tree_c, tree_r, zero_tree, nodes[i], challenges.at(nodes[i]), i,
                     c1.partitions.back());
    }
  }
  return c1;
}

}  // namespace cuzk
