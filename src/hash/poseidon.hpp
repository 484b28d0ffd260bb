// The Poseidon hash of Filecoin's trees.
#pragma once

#include <cstdint>
#include <span>

#include "field/fr.hpp"
#include "hash/poseidon_constants.hpp"

namespace cuzk {

// Domain tag of Merkle tree nodes (and of every other hash in PoRep): 2^arity - 1.
constexpr uint64_t poseidon_merkle_tag(unsigned arity) { return (uint64_t{1} << arity) - 1; }
// Domain tag of application `id` (1..256).
constexpr uint64_t poseidon_custom_tag(unsigned id) { return uint64_t{id} << 40; }

// The hash of preimage.size() elements, which must be a Poseidon arity. Montgomery form in and out, as everywhere.
Fr poseidon_hash(std::span<const Fr> preimage, uint64_t tag);
Fr poseidon_hash(std::span<const Fr> preimage);

// out.size() hashes of the same arity, each of its own `arity` elements of `preimages`, with the tag of Merkle nodes.
// Eight at a time where the processor has AVX-512 IFMA, which takes a sixth of the time of poseidon_hash() each (Xeon,
// family 6, model 167: 4.5 us and 27.7 us for arity 8).
void poseidon_hashes(unsigned arity, std::span<const Fr> preimages, std::span<Fr> out);

// A hash by the definition (dense matrix, raw constants); for tests, about 10 times slower.
Fr poseidon_hash_reference(std::span<const Fr> preimage, uint64_t tag);

// A chain of hashes of arity 36: the first element, then 35 more a step, padded with zeros. At least one element.
Fr poseidon_hash_md(std::span<const Fr> elements);

// Number of values poseidon_trace writes: 3 * (8 t + R_P - 1) + 8 t + R_P - arity.
uint32_t poseidon_trace_size(unsigned arity);

// Every variable of the hash's circuit in the order of allocation, the hash last: S-box inputs (except those of the
// first round), squares, fourth powers, and fifth powers plus constant. out.size() must be poseidon_trace_size.
void poseidon_trace(std::span<const Fr> preimage, uint64_t tag, std::span<Fr> out);

}  // namespace cuzk
