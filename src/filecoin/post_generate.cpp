#include "filecoin/post_generate.hpp"

#include <atomic>
#include <mutex>

#include "base/assert.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {

Result<PostVanilla> generate_post(const PostRequest& request, std::span<const StoredPostSector> sectors) {
  const PostShape& shape = *request.shape;
  CUZK_ASSERT(!sectors.empty() && sectors.size() <= shape.max_real_sectors());
  PostVanilla out(shape, static_cast<uint32_t>(sectors.size()));
  const uint32_t paths = shape.paths_per_sector();
  for (uint32_t i = 0; i < sectors.size(); ++i) {
    const StoredPostSector& sector = sectors[i];
    CUZK_ASSERT(sector.tree_r->shape() == shape.tree);
    out.sector(i) = {sector.sector_id, sector.comm_r, sector.comm_c, sector.tree_r->root()};
    const std::vector<uint64_t> challenges = post_challenges(request, sector.sector_id, i);
    for (uint32_t n = 0; n < paths; ++n) out.leaf_index(i, n) = challenges[n];
  }
  for (const unsigned arity : {2u, 4u, 8u}) poseidon_constants(arity);  // made before the loop, not once a thread
  const size_t openings = sectors.size() * paths;
  std::mutex mutex;
  std::atomic<size_t> first_bad = openings;
  Error first_error;
  parallel_for(openings, 1, [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end && at < first_bad.load(std::memory_order_relaxed); ++at) {
      const auto i = static_cast<uint32_t>(at / paths), n = static_cast<uint32_t>(at % paths);
      Status status = sectors[i].tree_r->open_leaf(out.leaf_index(i, n), out.path_values(i, n));
      if (status.ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      if (at >= first_bad) return;
      first_bad = at;
      first_error = std::move(status).error();
      first_error.sector = sectors[i].sector_id;
    }
  });
  if (first_bad != openings) return first_error;
  CUZK_TRY(validate_post_vanilla(request, out));
  return out;
}

}  // namespace cuzk
