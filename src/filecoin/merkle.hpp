// Merkle trees C and R: their shape, and openings of leaves.
// Source: filecoin-proofs constants.rs (SectorShape*), storage-proofs-core merkle/proof.rs.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "field/fr.hpp"

namespace cuzk {

// Base trees of base_levels levels, then one level of sub_arity, then one of top_arity (0: absent). Arities are powers
// of two up to 8, and their product over all levels is the number of leaves.
struct TreeShape {
  uint32_t log2_leaves = 0;
  uint32_t base_arity = 8;
  uint32_t base_levels = 0;
  uint32_t sub_arity = 0;
  uint32_t top_arity = 0;

  constexpr uint64_t leaves() const { return uint64_t{1} << log2_leaves; }
  constexpr uint32_t levels() const { return base_levels + (sub_arity != 0) + (top_arity != 0); }
  // Arity of level `level` of a path, counted from the leaf; level < levels().
  constexpr uint32_t arity(uint32_t level) const {
    if (level < base_levels) return base_arity;
    return level == base_levels && sub_arity != 0 ? sub_arity : top_arity;
  }
  // Bits that the index at `level` takes in the index of the leaf.
  constexpr uint32_t index_bits(uint32_t level) const { return static_cast<uint32_t>(std::countr_zero(arity(level))); }
  // Sibling hashes in one path.
  constexpr uint32_t siblings() const {
    uint32_t total = 0;
    for (uint32_t level = 0; level < levels(); ++level) total += arity(level) - 1;
    return total;
  }
  friend constexpr bool operator==(const TreeShape&, const TreeShape&) = default;
};

// An opened leaf of a Merkle tree, as views into flat storage.
struct MerkleProofView {
  const Fr& root;
  const Fr& leaf;
  std::span<const Fr> siblings;  // from the leaf upwards; arity - 1 of each level, in order, without the own node
  // Path indices, log2(arity) bits a level, level 0 lowest: the index of the leaf in the tree.
  uint64_t leaf_index;
};

// The Poseidon hash of every level of the path, the root last; out.size() must be tree.levels(). proof.root is not
// looked at.
void merkle_path_hashes(const TreeShape& tree, const MerkleProofView& proof, std::span<Fr> out);
// The same for several paths in trees of one shape, level by level (hash/poseidon.hpp: poseidon_hashes); best in
// eights.
void merkle_path_hashes(const TreeShape& tree, std::span<const MerkleProofView> proofs,
                        std::span<const std::span<Fr>> out);

}  // namespace cuzk
