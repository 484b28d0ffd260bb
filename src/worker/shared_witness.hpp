// A packed witness in memory that another process can read: how it reaches a worker without being written to a socket.
//
// The memory holds five numbers (u64): a magic number, the bytes of the whole, and how many inputs, bits and fields
// there are; then the inputs and the fields (32 bytes each, Montgomery form, limbs lowest first) and the words of the
// bits. It exists once, has no name, and is gone when both sides have closed it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "circuit/packed_witness.hpp"
#include "worker/descriptor.hpp"

namespace cuzk {

// Sealed: nobody can write or resize it any more. Errors: kResource where memory or descriptors are short; kIo. Cost: a
// copy, 32 ms of processor time for the 70 MB of a 32 GiB PoRep partition.
Result<Descriptor> share_witness(const PackedWitness& witness);

// A copy. Errors: kCorrupt where the descriptor is no sealed memory or decode_witness() refuses its bytes; kResource.
// Cost: 57 ms for those 70 MB.
Result<PackedWitness> read_shared_witness(int descriptor);

// The bytes as above. Every count is held against the number of bytes before anything is allocated, elements must be
// below the modulus and bits beyond the last be zero. Errors: kCorrupt.
Result<PackedWitness> decode_witness(std::span<const uint8_t> bytes);
std::vector<uint8_t> encode_witness(const PackedWitness& witness);

}  // namespace cuzk
