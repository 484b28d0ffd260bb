// Eight Poseidon hashes at a time; poseidon_hashes() of hash/poseidon.hpp chooses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "field/fr.hpp"
#include "hash/poseidon_constants.hpp"

namespace cuzk::detail {

inline constexpr size_t kPoseidonLanes = 8;

// Needs cpu_features().avx512_ifma. preimages: 8 times k.arity elements, one hash after the other.
void poseidon_hash_lanes(const PoseidonConstants& k, const Fr* preimages, uint64_t tag, Fr* out);

}  // namespace cuzk::detail
