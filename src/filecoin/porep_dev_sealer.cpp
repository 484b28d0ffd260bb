#include "filecoin/porep_dev_sealer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "filecoin/porep_challenges.hpp"
#include "filecoin/porep_graph.hpp"
#include "filecoin/porep_hash.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// The graph's parents of every node, which all layers share.
struct Parents {
  std::vector<std::array<uint32_t, kPorepBaseParents>> base;
  std::vector<std::array<uint32_t, kPorepExpanderParents>> expander;
};

Parents make_parents(const PorepGraph& graph) {
  const size_t nodes = graph.nodes();
  Parents out{std::vector<std::array<uint32_t, kPorepBaseParents>>(nodes),
              std::vector<std::array<uint32_t, kPorepExpanderParents>>(nodes)};
  parallel_for(nodes, 64, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      out.base[v] = graph.base_parents(v);
      out.expander[v] = graph.expander_parents(v);
    }
  });
  return out;
}

// A layer's nodes depend on each other, so there is nothing to do in parallel.
std::vector<std::vector<NodeBytes>> make_labels(const PorepShape& shape, const Parents& parents,
                                                const NodeBytes& replica_id) {
  std::vector<std::vector<NodeBytes>> labels(shape.layers, std::vector<NodeBytes>(shape.nodes()));
  for (uint32_t l = 0; l < shape.layers; ++l) {
    for (uint64_t v = 0; v < shape.nodes(); ++v) {
      std::array<NodeBytes, kPorepParents> inputs;
      uint32_t count = 0;
      if (v > 0) {
        for (const uint32_t p : parents.base[v]) inputs[count++] = labels[l][p];
        if (l > 0) {
          for (const uint32_t p : parents.expander[v]) inputs[count++] = labels[l - 1][p];
        }
      }
      labels[l][v] = porep_label(replica_id, l + 1, v, {inputs.data(), count});
    }
  }
  return labels;
}

// What the challenge proofs are opened from.
struct Sealing {
  const PorepShape& shape;
  const Parents& parents_of;
  const PorepSealed& sealed;

  void open_column(uint64_t node, std::span<Fr> out) const {
    for (uint32_t l = 0; l < shape.layers; ++l) out[l] = node_to_fr(sealed.labels[l][node]);
    sealed.tree_c.open(node, out.subspan(shape.layers));
  }
  void open(uint64_t node, uint32_t i, PorepPartition& partition) const {
    const PorepChallengeLayout& layout = partition.layout();
    const std::span<Fr> values = partition.values(i);
    const std::span<uint64_t> indices = partition.indices(i);
    const std::span<NodeBytes> parents = partition.parents(i);
    indices[0] = indices[1] = indices[2] = node;
    sealed.tree_d.open(node, values.subspan(layout.comm_d(), layout.tree_d_values));
    sealed.tree_r.open(node, values.subspan(layout.comm_r_last(), layout.tree_values));
    const auto& base = parents_of.base[node];
    const auto& expander = parents_of.expander[node];
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
        parents[l * kPorepHashedParents + m] = p < kPorepBaseParents
                                                   ? sealed.labels[layer][base[p]]
                                                   : sealed.labels[layer - 1][expander[p - kPorepBaseParents]];
      }
    }
  }
};

}  // namespace

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
  MemoryTreeD tree_d(input.data);
  const NodeBytes replica_id =
      porep_replica_id(input.prover_id, input.sector_number, input.ticket, tree_d.root(), input.proof->porep_id());
  const Parents parents = make_parents(PorepGraph(*input.proof));
  std::vector<std::vector<NodeBytes>> labels = make_labels(shape, parents, replica_id);
  std::vector<Fr> columns(shape.nodes()), replica(shape.nodes());
  poseidon_constants(shape.layers);
  parallel_for(shape.nodes(), 16, [&](size_t begin, size_t end) {
    std::vector<Fr> column(shape.layers);
    for (size_t v = begin; v < end; ++v) {
      for (uint32_t l = 0; l < shape.layers; ++l) column[l] = node_to_fr(labels[l][v]);
      columns[v] = poseidon_hash(column);
      replica[v] = column.back() + node_to_fr(input.data[v]);
    }
  });
  PorepSealed out{std::move(labels),
                  std::move(tree_d),
                  MemoryTree(shape.tree(), std::move(columns)),
                  MemoryTree(shape.tree(), std::move(replica)),
                  {}};
  out.c1.proof = input.proof;
  out.c1.comm_r = poseidon_hash(std::array<Fr, 2>{out.comm_c(), out.comm_r_last()});
  out.c1.comm_d = node_to_fr(out.tree_d.root());
  out.c1.replica_id = node_to_fr(replica_id);
  out.c1.seed = input.seed;
  out.c1.ticket = input.ticket;

  const Sealing sealing{shape, parents, out};
  const PorepChallengeSource source{input.proof->feature, shape.nodes(), replica_id, out.c1.comm_r.to_bytes_le(),
                                    input.seed};
  for (uint32_t k = 0; k < input.proof->partitions(); ++k) {
    PorepPartition& partition = out.c1.partitions.emplace_back(shape, shape.challenges);
    const std::vector<uint64_t> challenges = porep_challenges(source, k, shape.challenges);
    for (uint32_t i = 0; i < challenges.size(); ++i) sealing.open(challenges[i], i, partition);
  }
  return out;
}

}  // namespace cuzk
