// Updates small sealed sectors in memory (SnapDeals), for development and tests: from new data to the new replica and
// its trees.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "filecoin/memory_tree.hpp"
#include "filecoin/snap_vanilla.hpp"

namespace cuzk {

struct SnapUpdateInput {
  const SnapShape* shape = nullptr;  // not owned
  uint32_t h = 0;                    // one of the shape's; production: default_h()
  Fr comm_c;                         // of the sealed sector
  std::span<const Fr> old_replica;   // as many nodes as the sector has
  std::span<const NodeBytes> data;   // the new data, each node a canonical field element
};

struct SnapUpdated {
  SnapCommitments commitments;
  Fr comm_c;
  MemoryTreeD tree_d_new;
  MemoryTree tree_r_old, tree_r_new;  // their leaves are the replicas
};

// Encodes the data into the old replica and builds the trees. Errors: kUsage where a number of nodes is wrong or a node
// of the data is not canonical. 8 MiB: 75,000 hashes of eight numbers, in parallel; 60 MB.
Result<SnapUpdated> update_snap(const SnapUpdateInput& input);

// The vanilla proofs of all partitions.
SnapInput open_snap(const SnapShape& shape, uint32_t h, const SnapUpdated& updated);

}  // namespace cuzk
