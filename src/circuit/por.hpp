// Merkle inclusion as a circuit.
//
// Source: storage-proofs-core por.rs (PoRCircuit, por_no_challenge_input), gadgets/variables.rs (Root).
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "circuit/hasher.hpp"
#include "circuit/insertion.hpp"
#include "circuit/packing.hpp"

namespace cuzk {

// One level of a Merkle path: `arity` children, of which the node itself is number `index`. In blank circuits
// `siblings` may be empty and `index` anything below arity; otherwise siblings.size() == arity - 1.
struct PathLevel {
  uint32_t arity = 0;  // a power of two
  uint32_t index = 0;
  std::span<const Fr> siblings;
};

// A number that is allocated already, or a value that is allocated where it is needed.
template <class CS>
class Root {
 public:
  static Root var(const Num<CS>& num) { return Root(num, true); }
  static Root val(const Fr& value) { return Root({Wire{}, value}, false); }
  Num<CS> allocated(CS& cs) const { return is_var_ ? num_ : gadget::alloc_num(cs, num_.value); }

 private:
  Root(const Num<CS>& num, bool is_var) : num_(num), is_var_(is_var) {}
  Num<CS> num_;
  bool is_var_;
};

namespace gadget {

// Proves that `value` is the leaf under `root` at the end of `path` (leaf to root: base, sub-tree, top levels). The
// index bits of all levels, which are the leaf's index, become inputs (one for up to 254 bits), and the root too
// unless it is private.
template <class Hasher, class CS>
void por(CS& cs, const Root<CS>& value, std::span<const PathLevel> path, const Root<CS>& root, bool is_private) {
  Num<CS> current = value.allocated(cs);
  std::vector<Boolean<CS>> index_bits;
  for (size_t level = 0; level < path.size(); ++level) {
    auto scope = cs.scope("path level", level);
    const PathLevel& element = path[level];
    CUZK_ASSERT(std::has_single_bit(element.arity) && element.arity >= 2);
    CUZK_ASSERT(!CS::kHasValues || element.siblings.size() + 1 == element.arity);
    const unsigned num_bits = static_cast<unsigned>(std::countr_zero(element.arity));
    const size_t first_bit = index_bits.size();
    alloc_bits_le(cs, element.index, num_bits, index_bits);
    std::vector<Num<CS>> siblings;
    for (uint32_t i = 0; i + 1 < element.arity; ++i) {
      siblings.push_back(alloc_num(cs, value_of<CS>([&] { return element.siblings[i]; })));
    }
    const auto bits = std::span<const Boolean<CS>>(index_bits).subspan(first_bit);
    const std::vector<Num<CS>> inserted = insert<CS>(cs, current, bits, siblings);
    current = Hasher::template hash_multi_leaf<CS>(cs, inserted);
  }
  pack_into_inputs<CS>(cs, index_bits);
  const Num<CS> rt = root.allocated(cs);
  {
    auto scope = cs.scope("root");
    equal(cs, current, rt);
  }
  if (!is_private) inputize(cs, rt);
}

// The same over numbers and index bits that are allocated already; no variable or input of its own.
// siblings[level] are the arity - 1 siblings of that level.
template <class Hasher, class CS>
void por_no_challenge_input(CS& cs, std::span<const Boolean<CS>> index_bits, const Num<CS>& leaf,
                            std::span<const std::vector<Num<CS>>> siblings, const Num<CS>& root) {
  Num<CS> current = leaf;
  for (size_t level = 0; level < siblings.size(); ++level) {
    auto scope = cs.scope("path level", level);
    const size_t arity = siblings[level].size() + 1;
    const size_t num_bits = static_cast<size_t>(std::countr_zero(arity));
    CUZK_ASSERT(std::has_single_bit(arity) && index_bits.size() >= num_bits);
    const std::vector<Num<CS>> inserted = insert<CS>(cs, current, index_bits.first(num_bits), siblings[level]);
    index_bits = index_bits.subspan(num_bits);
    current = Hasher::template hash_multi_leaf<CS>(cs, inserted);
  }
  CUZK_ASSERT(index_bits.empty());
  equal(cs, current, root);
}

}  // namespace gadget
}  // namespace cuzk
