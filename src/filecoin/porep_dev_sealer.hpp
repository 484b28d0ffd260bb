// Seals small sectors in memory, for development and tests: from data to the output of seal commit phase 1. Made
// for sizes up to some MiB.
#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "filecoin/memory_tree.hpp"
#include "filecoin/porep_vanilla.hpp"

namespace cuzk {

struct PorepSealInput {
  // Not owned. Test sizes that have no registered proof take a copy of one with another shape.
  const RegisteredSealProof* proof = nullptr;
  NodeBytes prover_id{};
  uint64_t sector_number = 0;
  NodeBytes ticket{};
  NodeBytes seed{};
  std::span<const NodeBytes> data;  // as many nodes as the sector has, each a canonical field element
};

struct PorepSealed {
  std::vector<std::vector<NodeBytes>> labels;  // by layer, then node
  MemoryTreeD tree_d;
  MemoryTree tree_c, tree_r;  // the leaves of tree R are the replica
  PorepC1 c1;

  const Fr& comm_c() const { return tree_c.root(); }
  const Fr& comm_r_last() const { return tree_r.root(); }
};

// Labels, encodes, builds the trees, and opens every challenge of every partition. Errors: kUsage where the number of
// nodes is wrong or a node is not canonical. 8 MiB: about 6 s of one core (parents, hashes of columns and trees), most
// of it in parallel; 60 MB.
Result<PorepSealed> seal_porep(const PorepSealInput& input);

}  // namespace cuzk
