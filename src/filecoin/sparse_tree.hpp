// Poseidon trees of synthetic inputs, of which only what openings need exists.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "field/fr.hpp"
#include "filecoin/free_values.hpp"
#include "filecoin/merkle.hpp"

namespace cuzk {

// The paths of the given leaves and the nodes beside them, which are free. Openings agree on one root.
class SparseTree {
 public:
  // At least one leaf; indices below tree.leaves(). One hash a level and leaf, shared where paths meet.
  SparseTree(const TreeShape& tree, std::map<uint64_t, Fr> leaves, FreeValues& free);
  const Fr& root() const { return levels_.back().begin()->second; }
  // Writes root, leaf and siblings of one of the leaves; out.size() == 2 + tree.siblings().
  void open(uint64_t index, std::span<Fr> out) const;

 private:
  void add_level(uint64_t arity, FreeValues& free);

  TreeShape tree_;
  std::vector<std::map<uint64_t, Fr>> levels_;
};

}  // namespace cuzk
