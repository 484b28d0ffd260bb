// The two hash functions of Filecoin's trees, as circuits.
//
// Source: filecoin-hashers poseidon.rs, sha256.rs.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "circuit/num.hpp"
#include "circuit/packing.hpp"
#include "circuit/poseidon_gadget.hpp"
#include "circuit/sha256_gadget.hpp"

namespace cuzk {

struct PoseidonCircuitHasher {
  template <class CS>
  static Num<CS> hash_multi_leaf(CS& cs, std::span<const Num<CS>> leaves) {
    return gadget::poseidon_hash<CS>(cs, leaves);
  }
  template <class CS>
  static Num<CS> hash2(CS& cs, const Num<CS>& a, const Num<CS>& b) {
    const std::array<Num<CS>, 2> both = {a, b};
    return gadget::poseidon_hash<CS>(cs, both);
  }
  // A chain of hashes of arity 36; the last one is padded with zeros, which are variables without a constraint.
  template <class CS>
  static Num<CS> hash_md(CS& cs, std::span<const Num<CS>> elements) {
    CUZK_ASSERT(elements.size() >= 2);
    Num<CS> hash = elements[0];
    for (auto rest = elements.subspan(1); !rest.empty();) {
      const auto chunk = rest.first(std::min<size_t>(rest.size(), 35));
      std::vector<Num<CS>> preimage = {hash};
      preimage.insert(preimage.end(), chunk.begin(), chunk.end());
      while (preimage.size() < 36) preimage.push_back(gadget::alloc_num(cs, Fr::zero()));
      hash = gadget::poseidon_hash<CS>(cs, preimage);
      rest = rest.subspan(chunk.size());
    }
    return hash;
  }
};

struct Sha256CircuitHasher {
  // The digest of `bits` (SHA order) as a little-endian integer without its two top bits.
  template <class CS>
  static Num<CS> hash_bits(CS& cs, std::span<const Boolean<CS>> bits) {
    return gadget::pack_bits<CS>(cs, gadget::reverse_bit_numbering(gadget::sha256<CS>(cs, bits)));
  }
  // Every leaf counts as its 32 little-endian bytes.
  template <class CS>
  static Num<CS> hash_multi_leaf(CS& cs, std::span<const Num<CS>> leaves) {
    std::vector<Boolean<CS>> bits;
    for (const Num<CS>& leaf : leaves) {
      const auto leaf_bits = gadget::reverse_bit_numbering(gadget::to_bits_le(cs, leaf));
      bits.insert(bits.end(), leaf_bits.begin(), leaf_bits.end());
    }
    return hash_bits<CS>(cs, bits);
  }
  template <class CS>
  static Num<CS> hash2(CS& cs, const Num<CS>& a, const Num<CS>& b) {
    const std::array<Num<CS>, 2> both = {a, b};
    return hash_multi_leaf<CS>(cs, both);
  }
};

}  // namespace cuzk
