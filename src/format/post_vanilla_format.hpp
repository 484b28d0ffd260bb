// Reader and writer of PoSt vanilla proofs: one bincode FallbackPoStSectorProof a sector, and the request around them.
//
// Source: storage-proofs-post fallback/vanilla.rs (SectorProof, Proof), filecoin-proofs types/mod.rs
// (FallbackPoStSectorProof), storage-proofs-core merkle/proof.rs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "filecoin/post_vanilla.hpp"

namespace cuzk {

// What a client sends for a winning or window proof.
struct PostVanillaRequest {
  uint64_t registered_proof = 0;
  uint64_t sector_bytes = 0;  // 0: not stated; the registered proof decides
  std::span<const uint8_t> randomness;
  uint32_t partition_index = 0;
  std::span<const std::span<const uint8_t>> vanilla_proofs;  // one a sector
};

// Reads a whole request. Guaranteed afterwards: the registered proof exists and has this sector size, the randomness is
// 32 canonical bytes, and what read_post_vanilla guarantees. Not checked: hashes, challenges, order of sectors; see
// validate_post_vanilla. Errors: kInvalidInput with the field's path.
Result<PostInput> read_post_request(const PostVanillaRequest& request);

// Reads the vanilla proofs of 1 to shape.max_real_sectors() sectors, in parallel. Guaranteed afterwards: every count,
// path length, arity and variant is the shape's, every node is a canonical field element, path indices are below their
// arity, and nothing follows a proof. Nothing is allocated but what the shape and the number of blobs say. Errors:
// kInvalidInput with the field's path ("vanilla_proofs[<position>]..."), the sector number where it was read, and the
// offset in that blob; of the first bad blob, and the message names the others. 2349 blobs of 24,960 bytes: 54 MB, 0.15
// s on one core.
Result<PostVanilla> read_post_vanilla(const PostShape& shape, std::span<const std::span<const uint8_t>> blobs);

// Bytes of one sector's vanilla proof: winning-32g 164,064, window-32g 24,960.
size_t post_sector_proof_bytes(const PostShape& shape);
// The bytes of sector i, as a client sends them.
std::vector<uint8_t> write_post_sector_proof(const PostVanilla& vanilla, uint32_t i);

}  // namespace cuzk
