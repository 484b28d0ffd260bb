// Whole Merkle trees in memory, of small sectors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "field/fr.hpp"
#include "filecoin/merkle.hpp"
#include "filecoin/porep.hpp"

namespace cuzk {

// A Poseidon tree (C or R), all rows: row 0 has the leaves, the last one the root alone.
class MemoryTree {
 public:
  // leaves.size() must be shape.leaves(). One hash a node above the leaves, in parallel.
  MemoryTree(const TreeShape& shape, std::vector<Fr> leaves);
  const TreeShape& shape() const { return shape_; }
  const Fr& root() const { return rows_.back()[0]; }
  std::span<const Fr> row(uint32_t level) const { return rows_[level]; }
  // Writes root, leaf and siblings of leaf `index`; out.size() must be 2 + shape().siblings().
  void open(uint64_t index, std::span<Fr> out) const;

 private:
  TreeShape shape_;
  std::vector<std::vector<Fr>> rows_;
};

// Tree D: binary, SHA-256, the same way.
class MemoryTreeD {
 public:
  // The leaves are canonical field elements; their number is a power of two.
  explicit MemoryTreeD(std::span<const NodeBytes> leaves);
  const NodeBytes& root() const { return rows_.back()[0]; }
  uint32_t levels() const { return static_cast<uint32_t>(rows_.size() - 1); }
  std::span<const NodeBytes> row(uint32_t level) const { return rows_[level]; }
  void open(uint64_t index, std::span<Fr> out) const;

 private:
  std::vector<std::vector<NodeBytes>> rows_;
};

// A node that is known to be canonical.
Fr node_to_fr(const NodeBytes& node);

}  // namespace cuzk
