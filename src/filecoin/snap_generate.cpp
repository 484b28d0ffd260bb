#include "filecoin/snap_generate.hpp"

#include <atomic>
#include <mutex>

#include "base/assert.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

Status open_challenge(const StoredUpdate& update, uint64_t challenge, uint32_t i, SnapPartition& out) {
  for (const SnapProof proof : kSnapProofs) out.leaf_index(i, proof) = challenge;
  CUZK_TRY(update.old_tree_r->open_leaf(challenge, out.values(i, SnapProof::kROld)));
  CUZK_TRY(update.new_tree_d->open_leaf(challenge, out.values(i, SnapProof::kDNew)));
  return update.new_tree_r->open_leaf(challenge, out.values(i, SnapProof::kRNew));
}

}  // namespace

Result<SnapInput> generate_snap(const StoredUpdate& update) {
  const SnapShape& shape = *update.shape;
  CUZK_ASSERT(update.old_tree_r->shape() == shape.tree && update.new_tree_r->shape() == shape.tree);
  SnapInput out;
  out.shape = &shape;
  out.h = update.h;
  out.commitments = update.commitments;
  out.sector_number = update.sector_number;
  std::vector<std::vector<uint64_t>> challenges;
  for (uint32_t k = 0; k < shape.partitions(); ++k) {
    SnapPartition& partition = out.partitions.emplace_back(shape);
    partition.comm_c = update.comm_c;
    CUZK_TRY(update.new_tree_d->read_nodes(shape.path_levels(), uint64_t{k} << shape.apex_bits, partition.apex_leaves));
    challenges.push_back(snap_challenges(shape, out.commitments.comm_r_new, k));
  }
  for (const unsigned arity : {2u, 4u, 8u}) poseidon_constants(arity);  // made before the loop, not once a thread
  const size_t openings = size_t{shape.partitions()} * shape.challenges;
  std::mutex mutex;
  std::atomic<size_t> first_bad = openings;
  Error first_error;
  parallel_for(openings, 1, [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end && at < first_bad.load(std::memory_order_relaxed); ++at) {
      const auto k = static_cast<uint32_t>(at / shape.challenges), i = static_cast<uint32_t>(at % shape.challenges);
      Status status = open_challenge(update, challenges[k][i], i, out.partitions[k]);
      if (status.ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      if (at >= first_bad) return;
      first_bad = at;
      first_error = std::move(status).error();
      first_error.partition = k;
      first_error.sector = update.sector_number;
    }
  });
  if (first_bad != openings) return first_error;
  CUZK_TRY(validate_snap_vanilla(out));
  return out;
}

}  // namespace cuzk
