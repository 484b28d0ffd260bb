// Seals small sectors in memory, for development and tests: from data to the output of seal commit phase 1. Nothing
// here is made for speed or for sizes above some MiB.
#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
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

// A Poseidon tree of a shape, all levels: levels[0] are the leaves, the last one is the root alone.
class PorepTree {
 public:
  PorepTree(const PorepShape& shape, std::vector<Fr> leaves);
  const Fr& root() const { return levels_.back()[0]; }
  // Writes root, leaf and siblings of leaf `index`, as a PorepPartition stores them.
  void open(uint64_t index, std::span<Fr> out) const;

 private:
  const PorepShape& shape_;
  std::vector<std::vector<Fr>> levels_;
};

struct PorepSealed {
  std::vector<std::vector<NodeBytes>> labels;  // by layer, then node
  std::vector<Fr> replica;
  Fr comm_c, comm_r_last;
  PorepC1 c1;
};

// Labels, encodes, builds the trees, and opens every challenge of every partition. Errors: kUsage where the number of
// nodes is wrong or a node is not canonical. Cost: nodes * (layers + 1) * 20 SHA-256 blocks.
Result<PorepSealed> seal_porep(const PorepSealInput& input);

}  // namespace cuzk
