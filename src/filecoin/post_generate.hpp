// Vanilla proofs of a PoSt from sectors on disk.
// Source: filecoin-proofs api/window_post.rs, winning_post.rs (generate_single_vanilla_proof).
#pragma once

#include <cstdint>
#include <span>

#include "filecoin/post_vanilla.hpp"
#include "filecoin/stored_tree.hpp"

namespace cuzk {

// A sector: what the chain knows (number and comm_r), and what the disk has.
struct StoredPostSector {
  uint64_t sector_id = 0;
  Fr comm_r;
  Fr comm_c;                            // of p_aux
  const StoredTreeR* tree_r = nullptr;  // not owned; its root is p_aux's comm_r_last
};

// Opens the challenged leaves of every sector, in that order (1 to max_real_sectors()), and checks the result as a
// prover does. request.shape->tree must be the trees' shape. Errors: those of StoredTreeR::open_leaf with the sector,
// and of validate_post_vanilla (kInvalidInput: comm_r is not the hash of comm_c and the root, numbers do not ascend).
Result<PostVanilla> generate_post(const PostRequest& request, std::span<const StoredPostSector> sectors);

}  // namespace cuzk
