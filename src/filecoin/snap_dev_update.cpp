#include "filecoin/snap_dev_update.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

Status check_nodes(const SnapShape& shape, size_t nodes, const char* what) {
  if (nodes == shape.nodes()) return {};
  return Error(ErrorClass::kUsage, std::string(what) + " has " + std::to_string(nodes) + " nodes, a " +
                                       std::string(shape.name) + " sector has " + std::to_string(shape.nodes()));
}

Fr comm_r_of(const Fr& comm_c, const Fr& comm_r_last) { return poseidon_hash(std::array<Fr, 2>{comm_c, comm_r_last}); }

}  // namespace

Result<SnapUpdated> update_snap(const SnapUpdateInput& input) {
  const SnapShape& shape = *input.shape;
  CUZK_ASSERT(snap_h_select(shape, input.h) != 0);
  CUZK_TRY(check_nodes(shape, input.old_replica.size(), "the old replica"));
  CUZK_TRY(check_nodes(shape, input.data.size(), "the new data"));
  for (size_t v = 0; v < input.data.size(); ++v) {
    if (!Fr::from_bytes_le(input.data[v])) {
      return Error(ErrorClass::kUsage, "data node " + std::to_string(v) + " is not a canonical field element");
    }
  }
  MemoryTreeD tree_d_new(input.data);
  MemoryTree tree_r_old(shape.tree, {input.old_replica.begin(), input.old_replica.end()});
  SnapCommitments commitments;
  commitments.comm_r_old = comm_r_of(input.comm_c, tree_r_old.root());
  commitments.comm_d_new = node_to_fr(tree_d_new.root());
  const Fr phi = snap_phi(commitments.comm_d_new, commitments.comm_r_old);
  std::vector<Fr> rhos(size_t{1} << input.h);
  for (size_t high = 0; high < rhos.size(); ++high) rhos[high] = snap_rho(phi, high);
  std::vector<Fr> replica(shape.nodes());
  parallel_for(replica.size(), 1024, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      replica[v] = snap_encode(input.old_replica[v], node_to_fr(input.data[v]), rhos[snap_high(shape, input.h, v)]);
    }
  });
  MemoryTree tree_r_new(shape.tree, std::move(replica));
  commitments.comm_r_new = comm_r_of(input.comm_c, tree_r_new.root());
  return SnapUpdated{commitments, input.comm_c, std::move(tree_d_new), std::move(tree_r_old), std::move(tree_r_new)};
}

SnapInput open_snap(const SnapShape& shape, uint32_t h, const SnapUpdated& updated) {
  SnapInput out;
  out.shape = &shape;
  out.h = h;
  out.commitments = updated.commitments;
  for (uint32_t k = 0; k < shape.partitions(); ++k) {
    SnapPartition& partition = out.partitions.emplace_back(shape);
    partition.comm_c = updated.comm_c;
    const std::span<const NodeBytes> apex =
        updated.tree_d_new.row(shape.path_levels()).subspan(size_t{k} << shape.apex_bits, shape.apex_leaves());
    for (size_t i = 0; i < apex.size(); ++i) partition.apex_leaves[i] = node_to_fr(apex[i]);
    const std::vector<uint64_t> challenges = snap_challenges(shape, out.commitments.comm_r_new, k);
    for (uint32_t i = 0; i < challenges.size(); ++i) {
      for (const SnapProof proof : kSnapProofs) partition.leaf_index(i, proof) = challenges[i];
      updated.tree_r_old.open(challenges[i], partition.values(i, SnapProof::kROld));
      updated.tree_d_new.open(challenges[i], partition.values(i, SnapProof::kDNew));
      updated.tree_r_new.open(challenges[i], partition.values(i, SnapProof::kRNew));
    }
  }
  return out;
}

}  // namespace cuzk
