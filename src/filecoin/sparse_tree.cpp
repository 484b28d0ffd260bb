#include "filecoin/sparse_tree.hpp"

#include <utility>

#include "base/assert.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {

SparseTree::SparseTree(const TreeShape& tree, std::map<uint64_t, Fr> leaves, FreeValues& free) : tree_(tree) {
  levels_.push_back(std::move(leaves));
  for (uint32_t level = 0; level < tree.levels(); ++level) add_level(tree.arity(level), free);
  CUZK_ASSERT(levels_.back().size() == 1);
}

void SparseTree::open(uint64_t index, std::span<Fr> out) const {
  CUZK_ASSERT(out.size() == 2 + tree_.siblings());
  out[0] = root();
  out[1] = levels_[0].at(index);
  size_t at = 2;
  for (uint32_t level = 0; level < tree_.levels(); ++level) {
    const uint64_t arity = tree_.arity(level);
    for (uint64_t i = 0; i < arity; ++i) {
      const uint64_t child = index / arity * arity + i;
      if (child != index) out[at++] = levels_[level].at(child);
    }
    index /= arity;
  }
}

void SparseTree::add_level(uint64_t arity, FreeValues& free) {
  std::map<uint64_t, Fr>& below = levels_.back();
  std::vector<uint64_t> parents;
  for (const auto& [index, value] : below) {
    if (parents.empty() || parents.back() != index / arity) parents.push_back(index / arity);
  }
  std::vector<Fr> children;
  for (const uint64_t parent : parents) {
    for (uint64_t i = 0; i < arity; ++i) {
      const auto [it, is_new] = below.try_emplace(parent * arity + i);
      if (is_new) it->second = free.next_fr();
      children.push_back(it->second);
    }
  }
  std::vector<Fr> hashes(parents.size());
  parallel_for(parents.size(), 16, [&](size_t begin, size_t end) {
    poseidon_hashes(static_cast<unsigned>(arity), std::span(children).subspan(begin * arity, (end - begin) * arity),
                    std::span(hashes).subspan(begin, end - begin));
  });
  std::map<uint64_t, Fr> above;
  for (size_t i = 0; i < parents.size(); ++i) above.emplace_hint(above.end(), parents[i], hashes[i]);
  levels_.push_back(std::move(above));
}

}  // namespace cuzk
