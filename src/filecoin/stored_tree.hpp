// Merkle trees of a sector on disk, of which single leaves are opened without reading the rest.
// Source: merkletree store/{level_cache,disk}.rs, storage-proofs-core merkle/tree.rs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random_access_file.hpp"
#include "base/result.hpp"
#include "field/fr.hpp"
#include "filecoin/merkle.hpp"
#include "filecoin/porep.hpp"

namespace cuzk {

// More could be hashed, but every opening would take seconds.
inline constexpr uint32_t kMaxRowsDiscarded = 4;

// The base trees of a shape: sub_arity * top_arity of them, 1 where there is no level above them.
uint32_t base_trees(const TreeShape& tree);
// Nodes of one base tree's file that keeps rows d + 1 and up, of base_levels + 1 rows.
uint64_t cached_nodes(const TreeShape& tree, uint32_t rows_to_discard);
// What upstream discards where nobody chooses: 2 rows above the leaves, less of small trees.
uint32_t default_rows_to_discard(const TreeShape& tree);
// The d with which a base tree's file has that many bytes; nothing where there is none.
std::optional<uint32_t> rows_to_discard_of_bytes(const TreeShape& tree, uint64_t bytes);

// Tree R: the leaves are the replica, and a file a base tree has its upper rows. The rows between are hashed anew for
// every opening, from 8^(d+1) leaves (16 KiB of a 32 GiB sector).
class StoredTreeR {
 public:
  // replica: the sealed file. rows: the files tree-r-last or tree-r-last-0, -1, ..., base_trees(tree) of them. The root
  // follows from the last nodes of those. Errors, with the file: those of RandomAccessFile; kCorrupt where a size is
  // not the shape's, the files discard different rows, or a root is not canonical; kUnsupported above
  // kMaxRowsDiscarded.
  static Result<StoredTreeR> open(const TreeShape& tree, const std::string& replica,
                                  const std::vector<std::string>& rows);

  const TreeShape& shape() const { return tree_; }
  const Fr& root() const { return root_; }
  uint32_t rows_to_discard() const { return discarded_; }
  const std::string& replica_path() const { return replica_.path(); }

  // Writes root, leaf and siblings of leaf `index` < leaves; out.size() == 2 + siblings. Every hash on the way is
  // compared with the stored node, up to the root. From any number of threads at once. Errors: kCorrupt with the file
  // and the offset of what does not fit; kIo. 73 + levels hashes.
  Status open_leaf(uint64_t index, std::span<Fr> out) const;

 private:
  StoredTreeR(const TreeShape& tree, RandomAccessFile replica) : tree_(tree), replica_(std::move(replica)) {}
  Status open_files(const std::vector<std::string>& rows);
  Status climb_leaves(uint64_t base, uint64_t leaf, std::span<Fr>& siblings, Fr& leaf_value) const;
  Status climb_rows(uint64_t base, uint64_t leaf, std::span<Fr>& siblings) const;
  uint64_t row_offset(uint32_t row) const;

  TreeShape tree_;
  RandomAccessFile replica_;
  std::vector<RandomAccessFile> rows_;
  uint32_t discarded_ = 0;
  // The roots of the base trees, and the nodes above them: above_[0] are the base roots.
  std::vector<std::vector<Fr>> above_;
  Fr root_;
};

// Tree D: binary, SHA-256, all rows in one file.
class StoredTreeD {
 public:
  // Errors as above.
  static Result<StoredTreeD> open(uint32_t log2_leaves, const std::string& path);

  const Fr& root() const { return root_; }
  // As StoredTreeR::open_leaf; out.size() == 2 + log2_leaves.
  Status open_leaf(uint64_t index, std::span<Fr> out) const;
  // Nodes first, first + 1, ... of a row (row 0: the leaves).
  Status read_nodes(uint32_t row, uint64_t first, std::span<Fr> out) const;

 private:
  StoredTreeD(uint32_t log2_leaves, RandomAccessFile file) : log2_leaves_(log2_leaves), file_(std::move(file)) {}
  uint64_t row_offset(uint32_t row) const;

  uint32_t log2_leaves_;
  RandomAccessFile file_;
  Fr root_;
};

}  // namespace cuzk
