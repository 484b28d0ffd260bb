#include "filecoin/post_synthetic.hpp"

#include <array>
#include <map>
#include <vector>

#include "base/assert.hpp"
#include "filecoin/free_values.hpp"
#include "filecoin/sparse_tree.hpp"
#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// A source of its own for every sector, so that they can be made in any order.
NodeBytes key_of_sector(const NodeBytes& free, uint32_t position) {
  std::array<uint8_t, 4> number;
  for (size_t i = 0; i < number.size(); ++i) number[i] = static_cast<uint8_t>(position >> (8 * i));
  Sha256 hash;
  hash.update(free);
  hash.update(number);
  return hash.finish();
}

void make_sector(const PostRequest& request, uint64_t sector_id, uint32_t position, const NodeBytes& key,
                 PostVanilla& out) {
  FreeValues free(key);
  const std::vector<uint64_t> challenges = post_challenges(request, sector_id, position);
  std::map<uint64_t, Fr> leaves;
  for (const uint64_t challenge : challenges) leaves.try_emplace(challenge, free.next_fr());
  const SparseTree tree(request.shape->tree, std::move(leaves), free);
  PostSector& sector = out.sector(position);
  sector.sector_id = sector_id;
  sector.comm_c = free.next_fr();
  sector.comm_r_last = tree.root();
  sector.comm_r = poseidon_hash(std::array<Fr, 2>{sector.comm_c, sector.comm_r_last});
  for (uint32_t n = 0; n < challenges.size(); ++n) {
    tree.open(challenges[n], out.path_values(position, n));
    out.leaf_index(position, n) = challenges[n];
  }
}

}  // namespace

PostVanilla make_synthetic_post(const PostRequest& request, std::span<const uint64_t> sector_ids,
                                const NodeBytes& free) {
  CUZK_ASSERT(!sector_ids.empty() && sector_ids.size() <= request.shape->max_real_sectors());
  for (const unsigned arity : {2u, 4u, 8u}) poseidon_constants(arity);  // made before the loop, not once a thread
  PostVanilla out(*request.shape, static_cast<uint32_t>(sector_ids.size()));
  parallel_for(sector_ids.size(), 1, [&](size_t begin, size_t end) {
    for (uint32_t i = static_cast<uint32_t>(begin); i < end; ++i) {
      make_sector(request, sector_ids[i], i, key_of_sector(free, i), out);
    }
  });
  return out;
}

}  // namespace cuzk
