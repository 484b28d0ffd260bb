// Reader and writer of SnapDeals vanilla proofs: one bincode PartitionProof a partition, and the request around them.
//
// Source: storage-proofs-update vanilla.rs (PartitionProof, ChallengeProof), storage-proofs-core merkle/proof.rs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "filecoin/snap_vanilla.hpp"

namespace cuzk {

// What a client sends for an update.
struct SnapRequest {
  uint64_t registered_proof = 0;
  uint64_t sector_bytes = 0;  // 0: not stated, as some clients do; the registered proof decides
  std::optional<uint64_t> sector_number;
  std::span<const uint8_t> comm_r_old, comm_d_new, comm_r_new;  // 32 bytes each, not CIDs
  std::span<const std::span<const uint8_t>> vanilla_proofs;     // in order of partitions
};

// Reads a whole request, with the default h. Guaranteed afterwards: the registered proof exists and has this sector
// size, there are as many vanilla proofs as partitions, what read_snap_partition guarantees of each, and the
// commitments are canonical and not zero. Not checked: hashes and indices; see validate_snap_vanilla. Errors:
// kInvalidInput with the field's path, the partition and the sector; of the first bad partition, and the message names
// the others.
Result<SnapInput> read_snap_request(const SnapRequest& request);
// What is proved alone, which is all that a verifier needs: vanilla_proofs is not looked at, and partitions is empty.
Result<SnapInput> read_snap_statement(const SnapRequest& request);
// As read_snap_request for any shape; registered_proof is not looked at.
Result<SnapInput> read_snap_request(const SnapShape& shape, const SnapRequest& request);

// Reads the vanilla proof of partition k, which is named in errors. Guaranteed afterwards: every count, path length,
// arity and variant is the shape's, every node is a canonical field element, path indices are below their arity, and
// nothing follows. Nothing is allocated but what the shape says. Errors: kInvalidInput with the field's path, the
// partition, and the offset in `bytes`.
Result<SnapPartition> read_snap_partition(const SnapShape& shape, uint32_t k, std::span<const uint8_t> bytes);

// Bytes of such a vanilla proof: 15,064 for 2 KiB, 561,768 for 32 GiB.
size_t snap_partition_bytes(const SnapShape& shape);
// What read_snap_partition reads. The partition must have the shape's counts.
std::vector<uint8_t> write_snap_partition(const SnapShape& shape, const SnapPartition& partition);

}  // namespace cuzk
