#include "filecoin/merkle.hpp"

#include <vector>

#include "base/assert.hpp"
#include "hash/poseidon.hpp"

namespace cuzk {

void merkle_path_hashes(const TreeShape& tree, const MerkleProofView& proof, std::span<Fr> out) {
  merkle_path_hashes(tree, std::span(&proof, 1), std::span(&out, 1));
}

void merkle_path_hashes(const TreeShape& tree, std::span<const MerkleProofView> proofs,
                        std::span<const std::span<Fr>> out) {
  CUZK_ASSERT(proofs.size() == out.size());
  std::vector<Fr> children, current;
  for (size_t k = 0; k < proofs.size(); ++k) {
    CUZK_ASSERT(out[k].size() == tree.levels() && proofs[k].siblings.size() == tree.siblings());
    current.push_back(proofs[k].leaf);
  }
  size_t sibling = 0;
  uint32_t shift = 0;
  for (uint32_t level = 0; level < tree.levels(); ++level) {
    const uint32_t arity = tree.arity(level);
    children.clear();
    for (size_t k = 0; k < proofs.size(); ++k) {
      const uint32_t own = static_cast<uint32_t>(proofs[k].leaf_index >> shift) & (arity - 1);
      const auto siblings = proofs[k].siblings.subspan(sibling, arity - 1);
      children.insert(children.end(), siblings.begin(), siblings.begin() + own);
      children.push_back(current[k]);
      children.insert(children.end(), siblings.begin() + own, siblings.end());
    }
    poseidon_hashes(arity, children, current);
    for (size_t k = 0; k < proofs.size(); ++k) out[k][level] = current[k];
    sibling += arity - 1;
    shift += tree.index_bits(level);
  }
}

}  // namespace cuzk
