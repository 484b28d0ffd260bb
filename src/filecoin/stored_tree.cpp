#include "filecoin/stored_tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.hpp"
#include "filecoin/porep_hash.hpp"
#include "hash/poseidon.hpp"

namespace cuzk {
namespace {

constexpr uint64_t kMaxArity = 8;

Error corrupt(const RandomAccessFile& file, uint64_t offset, std::string message) {
  return Error(ErrorClass::kCorrupt, std::move(message)).in_file(file.path()).at_offset(offset);
}

Status read_nodes_at(const RandomAccessFile& file, uint64_t offset, std::span<Fr> out) {
  std::vector<uint8_t> bytes(out.size() * kNodeBytes);
  CUZK_TRY(file.read_at(offset, bytes));
  for (size_t i = 0; i < out.size(); ++i) {
    const auto node = Fr::from_bytes_le(std::span<const uint8_t>(&bytes[i * kNodeBytes], kNodeBytes));
    if (!node) return corrupt(file, offset + i * kNodeBytes, "this node is not a canonical field element");
    out[i] = *node;
  }
  return {};
}

// Appends all nodes of a group but the own one.
void take_siblings(std::span<const Fr> group, uint64_t own, std::span<Fr>& siblings) {
  for (uint64_t i = 0; i < group.size(); ++i) {
    if (i == own) continue;
    siblings[0] = group[i];
    siblings = siblings.subspan(1);
  }
}

Status check_bytes(const RandomAccessFile& file, uint64_t bytes, const char* what) {
  if (file.size() == bytes) return {};
  return Error(ErrorClass::kCorrupt,
               "has " + std::to_string(file.size()) + " bytes, " + what + " " + std::to_string(bytes))
      .in_file(file.path());
}

Fr tree_d_hash(const Fr& left, const Fr& right) {
  return *Fr::from_bytes_le(tree_d_node(left.to_bytes_le(), right.to_bytes_le()));
}

uint64_t base_leaves(const TreeShape& tree) { return tree.leaves() / base_trees(tree); }

}  // namespace

uint32_t base_trees(const TreeShape& tree) { return std::max(1u, tree.sub_arity) * std::max(1u, tree.top_arity); }

uint64_t cached_nodes(const TreeShape& tree, uint32_t rows_to_discard) {
  CUZK_ASSERT(rows_to_discard < tree.base_levels);
  uint64_t nodes = 0, row = base_leaves(tree);
  for (uint32_t j = 1; j <= tree.base_levels; ++j) {
    row /= tree.base_arity;
    if (j > rows_to_discard) nodes += row;
  }
  return nodes;
}

uint32_t default_rows_to_discard(const TreeShape& tree) {
  const uint32_t rows = tree.base_levels + 1;
  return rows <= 2 ? 0 : std::min(rows - 2, 2u);
}

std::optional<uint32_t> rows_to_discard_of_bytes(const TreeShape& tree, uint64_t bytes) {
  for (uint32_t d = 0; d < tree.base_levels; ++d) {
    if (cached_nodes(tree, d) * kNodeBytes == bytes) return d;
  }
  return std::nullopt;
}

Result<StoredTreeR> StoredTreeR::open(const TreeShape& tree, const std::string& replica,
                                      const std::vector<std::string>& rows) {
  CUZK_ASSERT(rows.size() == base_trees(tree));
  CUZK_ASSIGN(RandomAccessFile file, RandomAccessFile::open(replica));
  CUZK_TRY(check_bytes(file, tree.leaves() * kNodeBytes, "a replica of this sector size has"));
  StoredTreeR out(tree, std::move(file));
  CUZK_TRY(out.open_files(rows));
  return out;
}

Status StoredTreeR::open_files(const std::vector<std::string>& rows) {
  std::vector<Fr> roots;
  for (const std::string& path : rows) {
    CUZK_ASSIGN(RandomAccessFile file, RandomAccessFile::open(path));
    const std::optional<uint32_t> discarded = rows_to_discard_of_bytes(tree_, file.size());
    if (!discarded) {
      return Error(ErrorClass::kCorrupt,
                   "has " + std::to_string(file.size()) +
                       " bytes, which the upper rows of a base tree of this sector size never "
                       "have (" +
                       std::to_string(cached_nodes(tree_, default_rows_to_discard(tree_)) * kNodeBytes) +
                       " with upstream's default)")
          .in_file(path);
    }
    if (*discarded > kMaxRowsDiscarded) {
      return Error(ErrorClass::kUnsupported,
                   "leaves out " + std::to_string(*discarded) + " rows above the leaves, of which " +
                       std::to_string(kMaxRowsDiscarded) + " can be hashed anew for an opening")
          .in_file(path);
    }
    if (!rows_.empty() && *discarded != discarded_) {
      return Error(ErrorClass::kCorrupt, "leaves out " + std::to_string(*discarded) + " rows, the file of tree 0 " +
                                             std::to_string(discarded_))
          .in_file(path);
    }
    discarded_ = *discarded;
    CUZK_TRY(read_nodes_at(file, file.size() - kNodeBytes, {&roots.emplace_back(), 1}));
    rows_.push_back(std::move(file));
  }
  above_ = {std::move(roots)};
  for (uint32_t level = tree_.base_levels; level < tree_.levels(); ++level) {
    const size_t arity = tree_.arity(level);
    const std::vector<Fr>& below = above_.back();
    std::vector<Fr> row(below.size() / arity);
    poseidon_hashes(static_cast<unsigned>(arity), below, row);
    above_.push_back(std::move(row));
  }
  CUZK_ASSERT(above_.back().size() == 1);
  root_ = above_.back()[0];
  return {};
}

// Where a stored row begins in the file of a base tree.
uint64_t StoredTreeR::row_offset(uint32_t row) const {
  CUZK_ASSERT(row > discarded_);
  uint64_t nodes = 0;
  for (uint32_t j = discarded_ + 1; j < row; ++j) nodes += base_leaves(tree_) >> (j * tree_.index_bits(0));
  return nodes * kNodeBytes;
}

// Rows 0 to d, from the replica.
Status StoredTreeR::climb_leaves(uint64_t base, uint64_t leaf, std::span<Fr>& siblings, Fr& leaf_value) const {
  const uint32_t bits = tree_.index_bits(0);
  const uint64_t segment = uint64_t{1} << (bits * (discarded_ + 1));
  const uint64_t first = leaf / segment * segment;
  const uint64_t offset = (base * base_leaves(tree_) + first) * kNodeBytes;
  std::vector<Fr> row(segment);
  CUZK_TRY(read_nodes_at(replica_, offset, row));
  uint64_t own = leaf - first;
  leaf_value = row[own];
  const size_t arity = tree_.base_arity;
  while (row.size() > 1) {
    take_siblings({&row[own / arity * arity], arity}, own % arity, siblings);
    std::vector<Fr> above(row.size() / arity);
    poseidon_hashes(static_cast<unsigned>(arity), row, above);
    row = std::move(above);
    own /= arity;
  }
  // The lowest stored row has what was just hashed.
  const RandomAccessFile& file = rows_[base];
  const uint64_t at = row_offset(discarded_ + 1) + leaf / segment * kNodeBytes;
  Fr stored;
  CUZK_TRY(read_nodes_at(file, at, {&stored, 1}));
  if (stored == row[0]) return {};
  return corrupt(file, at,
                 "this node is not the hash of the replica's nodes " + std::to_string(offset / kNodeBytes) + " to " +
                     std::to_string(offset / kNodeBytes + segment - 1) + " in " + replica_.path());
}

// Rows d + 1 to the base tree's root, from its file.
Status StoredTreeR::climb_rows(uint64_t base, uint64_t leaf, std::span<Fr>& siblings) const {
  const uint32_t bits = tree_.index_bits(0);
  const RandomAccessFile& file = rows_[base];
  const uint64_t arity = tree_.base_arity;
  std::array<Fr, kMaxArity> group;
  for (uint32_t row = discarded_ + 1; row < tree_.base_levels; ++row) {
    const uint64_t own = leaf >> (row * bits);
    const std::span<Fr> children(group.data(), arity);
    CUZK_TRY(read_nodes_at(file, row_offset(row) + own / arity * arity * kNodeBytes, children));
    take_siblings(children, own % arity, siblings);
    const uint64_t at = row_offset(row + 1) + own / arity * kNodeBytes;
    Fr stored;
    CUZK_TRY(read_nodes_at(file, at, {&stored, 1}));
    if (stored != poseidon_hash(children)) {
      return corrupt(file, at, "this node is not the hash of its children in the row below");
    }
  }
  return {};
}

Status StoredTreeR::open_leaf(uint64_t index, std::span<Fr> out) const {
  CUZK_ASSERT(index < tree_.leaves() && out.size() == 2 + tree_.siblings());
  const uint64_t base = index / base_leaves(tree_), leaf = index % base_leaves(tree_);
  std::span<Fr> siblings = out.subspan(2);
  out[0] = root_;
  CUZK_TRY(climb_leaves(base, leaf, siblings, out[1]));
  CUZK_TRY(climb_rows(base, leaf, siblings));
  uint64_t own = base;
  for (uint32_t level = tree_.base_levels; level < tree_.levels(); ++level) {
    const uint64_t arity = tree_.arity(level);
    const std::vector<Fr>& row = above_[level - tree_.base_levels];
    take_siblings({&row[own / arity * arity], arity}, own % arity, siblings);
    own /= arity;
  }
  CUZK_ASSERT(siblings.empty());
  return {};
}

Result<StoredTreeD> StoredTreeD::open(uint32_t log2_leaves, const std::string& path) {
  CUZK_ASSIGN(RandomAccessFile file, RandomAccessFile::open(path));
  const uint64_t nodes = (uint64_t{2} << log2_leaves) - 1;
  CUZK_TRY(check_bytes(file, nodes * kNodeBytes, "a tree D of this sector size has"));
  StoredTreeD out(log2_leaves, std::move(file));
  CUZK_TRY(read_nodes_at(out.file_, (nodes - 1) * kNodeBytes, {&out.root_, 1}));
  return out;
}

uint64_t StoredTreeD::row_offset(uint32_t row) const {
  const uint64_t twice = uint64_t{2} << log2_leaves_;
  return (twice - (twice >> row)) * kNodeBytes;
}

Status StoredTreeD::read_nodes(uint32_t row, uint64_t first, std::span<Fr> out) const {
  CUZK_ASSERT(row <= log2_leaves_ && first + out.size() <= uint64_t{1} << (log2_leaves_ - row));
  return read_nodes_at(file_, row_offset(row) + first * kNodeBytes, out);
}

Status StoredTreeD::open_leaf(uint64_t index, std::span<Fr> out) const {
  CUZK_ASSERT(index < uint64_t{1} << log2_leaves_ && out.size() == 2 + size_t{log2_leaves_});
  out[0] = root_;
  for (uint32_t row = 0; row < log2_leaves_; ++row) {
    const uint64_t own = index >> row;
    std::array<Fr, 2> pair;
    CUZK_TRY(read_nodes(row, own & ~uint64_t{1}, pair));
    if (row == 0) out[1] = pair[own & 1];
    out[2 + row] = pair[(own & 1) ^ 1];
    Fr stored;
    CUZK_TRY(read_nodes(row + 1, own >> 1, {&stored, 1}));
    if (stored != tree_d_hash(pair[0], pair[1])) {
      return corrupt(file_, row_offset(row + 1) + (own >> 1) * kNodeBytes,
                     "this node is not the hash of its children in the row below");
    }
  }
  return {};
}

}  // namespace cuzk
