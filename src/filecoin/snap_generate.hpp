// Vanilla proofs of a sector update from the files of both sectors.
// Source: storage-proofs-update vanilla.rs (prove), filecoin-proofs api/update.rs (generate_partition_proofs).
#pragma once

#include <cstdint>
#include <optional>

#include "filecoin/snap_vanilla.hpp"
#include "filecoin/stored_tree.hpp"

namespace cuzk {

struct StoredUpdate {
  const SnapShape* shape = nullptr;
  uint32_t h = 0;  // one of the shape's
  std::optional<uint64_t> sector_number;
  SnapCommitments commitments;
  Fr comm_c;  // of the old p_aux, and the new one
  // Not owned: the sector key with its cache, the new replica and tree D with theirs.
  const StoredTreeR* old_tree_r = nullptr;
  const StoredTreeR* new_tree_r = nullptr;
  const StoredTreeD* new_tree_d = nullptr;
};

// Opens the challenges of all partitions, and checks the result as a prover does. Errors: those of the trees, with
// sector and partition, and of validate_snap_vanilla (kInvalidInput: a commitment that does not follow, a node that is
// not the encoding of old node and data). 32 GiB: 230,000 hashes of eight numbers, in parallel.
Result<SnapInput> generate_snap(const StoredUpdate& update);

}  // namespace cuzk
