#include "filecoin/memory_tree.hpp"

#include <bit>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "filecoin/porep_hash.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {

MemoryTree::MemoryTree(const TreeShape& shape, std::vector<Fr> leaves) : shape_(shape) {
  CUZK_ASSERT(leaves.size() == shape.leaves());
  rows_.push_back(std::move(leaves));
  for (uint32_t level = 0; level < shape.levels(); ++level) {
    const size_t arity = shape.arity(level);
    poseidon_constants(static_cast<unsigned>(arity));  // made before the loop, not once a thread
    const std::vector<Fr>& below = rows_.back();
    std::vector<Fr> above(below.size() / arity);
    parallel_for(above.size(), 16, [&](size_t begin, size_t end) {
      poseidon_hashes(static_cast<unsigned>(arity), std::span(below).subspan(begin * arity, (end - begin) * arity),
                      std::span(above).subspan(begin, end - begin));
    });
    rows_.push_back(std::move(above));
  }
  CUZK_ASSERT(rows_.back().size() == 1);
}

void MemoryTree::open(uint64_t index, std::span<Fr> out) const {
  CUZK_ASSERT(index < shape_.leaves() && out.size() == 2 + shape_.siblings());
  out[0] = root();
  out[1] = rows_[0][index];
  size_t at = 2;
  for (uint32_t level = 0; level < shape_.levels(); ++level) {
    const uint64_t arity = shape_.arity(level);
    for (uint64_t i = 0; i < arity; ++i) {
      const uint64_t child = index / arity * arity + i;
      if (child != index) out[at++] = rows_[level][child];
    }
    index /= arity;
  }
}

MemoryTreeD::MemoryTreeD(std::span<const NodeBytes> leaves) {
  CUZK_ASSERT(std::has_single_bit(leaves.size()));
  rows_.emplace_back(leaves.begin(), leaves.end());
  while (rows_.back().size() > 1) {
    const std::vector<NodeBytes>& below = rows_.back();
    std::vector<NodeBytes> above(below.size() / 2);
    parallel_for(above.size(), 256, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) above[i] = tree_d_node(below[2 * i], below[2 * i + 1]);
    });
    rows_.push_back(std::move(above));
  }
}

void MemoryTreeD::open(uint64_t index, std::span<Fr> out) const {
  CUZK_ASSERT(index < rows_[0].size() && out.size() == 2 + levels());
  out[0] = node_to_fr(root());
  out[1] = node_to_fr(rows_[0][index]);
  for (uint32_t level = 0; level < levels(); ++level) out[2 + level] = node_to_fr(rows_[level][(index >> level) ^ 1]);
}

Fr node_to_fr(const NodeBytes& node) {
  const std::optional<Fr> element = Fr::from_bytes_le(node);
  CUZK_ASSERT(element.has_value());
  return *element;
}

}  // namespace cuzk
