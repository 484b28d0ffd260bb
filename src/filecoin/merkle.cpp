#include "filecoin/merkle.hpp"

#include <array>

#include "base/assert.hpp"
#include "hash/poseidon.hpp"

namespace cuzk {

void merkle_path_hashes(const TreeShape& tree, const MerkleProofView& proof, std::span<Fr> out) {
  CUZK_ASSERT(out.size() == tree.levels() && proof.siblings.size() == tree.siblings());
  Fr current = proof.leaf;
  uint64_t index = proof.leaf_index;
  size_t sibling = 0;
  std::array<Fr, 8> children;
  for (uint32_t level = 0; level < out.size(); ++level) {
    const uint32_t arity = tree.arity(level);
    CUZK_ASSERT(arity <= children.size());
    const uint32_t own = static_cast<uint32_t>(index) & (arity - 1);
    for (uint32_t i = 0; i < arity; ++i) children[i] = i == own ? current : proof.siblings[sibling++];
    current = out[level] = poseidon_hash(std::span<const Fr>(children.data(), arity));
    index >>= tree.index_bits(level);
  }
}

}  // namespace cuzk
