// Valid PoSt inputs of any kind and size without a sector: sparse replica trees over the challenged leaves, everything
// else random. They pass the vanilla check and satisfy the circuit, so full-size proofs can be made and measured
// anywhere.
#pragma once

#include <cstdint>
#include <span>

#include "filecoin/post_vanilla.hpp"

namespace cuzk {

// Vanilla proofs for these sector numbers, in that order; 1 to request.shape->max_real_sectors() of them. `free`
// decides every free value; equal arguments give equal results. 32 GiB: about 90 hashes a window sector, in parallel
// over sectors.
PostVanilla make_synthetic_post(const PostRequest& request, std::span<const uint64_t> sector_ids,
                                const NodeBytes& free);

}  // namespace cuzk
