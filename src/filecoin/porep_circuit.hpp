// The PoRep circuit of one partition, for every sector size.
// Source: storage-proofs-porep stacked/circuit/{proof,params,create_label,column_proof,hash}.rs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "circuit/block.hpp"
#include "circuit/hasher.hpp"
#include "circuit/num.hpp"
#include "circuit/packing.hpp"
#include "circuit/por.hpp"
#include "filecoin/porep.hpp"
#include "filecoin/porep_vanilla.hpp"

namespace cuzk {

// What one partition is synthesised from.
struct PorepCircuitInput {
  const PorepShape* shape = nullptr;
  uint32_t challenges = 0;
  // nullptr: a blank circuit. Otherwise it has `challenges` challenges of `shape`, and the rest is set.
  const PorepPartition* partition = nullptr;
  Fr replica_id, comm_d, comm_r;
};

// Places in the synthesis, for tests that compare the running state.
enum class PorepStep : uint8_t {
  kReplicaId,
  kCommitments,
  kCommRHash,
  kDataInclusion,
  kBaseParent,      // once each, with its number
  kExpanderParent,  // once each, with its number
  kChallenge,
  kParentBits,  // once a layer, with its number from 1
  kLabel,       // once a layer
  kEncoding,
  kColumn,
};
struct NoPorepProbe {
  void operator()(PorepStep, uint32_t /*number*/) const {}
};

namespace gadget {

// The label of a node: SHA-256 of replica id, layer, node and 37 parent labels, as a number. rid_bits and the parents
// are 256 Booleans in SHA order each; node_bits 64, least significant first. 522,269 constraints where the parents are
// numbers of 255 allocated bits.
template <class CS>
Num<CS> create_label(CS& cs, std::span<const Boolean<CS>> rid_bits,
                     std::span<const std::vector<Boolean<CS>>* const> parents, uint32_t layer, const UInt64<CS>& node) {
  CUZK_ASSERT(rid_bits.size() == 256);
  constexpr size_t kHeaderBits = 512;
  std::vector<Boolean<CS>> message;
  message.reserve(kHeaderBits + 256 * parents.size());
  message.insert(message.end(), rid_bits.begin(), rid_bits.end());
  for (unsigned i = 32; i-- > 0;) message.push_back(Boolean<CS>::constant(layer >> i & 1));
  message.insert(message.end(), node.bits.rbegin(), node.bits.rend());
  message.resize(kHeaderBits, Boolean<CS>::constant(false));
  for (const std::vector<Boolean<CS>>* parent : parents) {
    CUZK_ASSERT(parent->size() == 256);
    message.insert(message.end(), parent->begin(), parent->end());
  }
  return Sha256CircuitHasher::hash_bits<CS>(cs, message);
}

}  // namespace gadget

// Synthesises one partition into a fresh system. Inputs, variables and constraints are upstream's, in its order.
template <class CS, class Probe = NoPorepProbe>
class PorepSynthesizer {
 public:
  PorepSynthesizer(CS& cs, const PorepCircuitInput& in, Probe probe = {})
      : cs_(cs), in_(in), shape_(*in.shape), probe_(probe), blank_(shape_, in.partition ? 0 : 1) {
    CUZK_ASSERT(in.challenges > 0 && (!in.partition || in.partition->challenges() == in.challenges));
  }

  void run() {
    prologue();
    for (uint32_t i = 0; i < in_.challenges; ++i) {
      auto scope = cs_.scope("challenge", i);
      gadget::block(cs_, "challenge", {{comm_d_, comm_c_, comm_r_last_}, rid_bits_}, [&](const BlockWires<CS>& shared) {
        challenge(proof_of(i), {shared.nums[0], shared.nums[1], shared.nums[2], shared.bits});
        return BlockWires<CS>{};
      });
    }
  }

 private:
  using Bits = std::vector<Boolean<CS>>;
  struct Column {
    std::vector<Num<CS>> rows;
  };
  // What a challenge uses of the rest.
  struct Shared {
    Num<CS> comm_d, comm_c, comm_r_last;
    std::span<const Boolean<CS>> rid_bits;
  };

  PorepChallengeView proof_of(uint32_t i) const {
    return in_.partition ? in_.partition->challenge(i) : blank_.challenge(0);
  }

  void prologue() {
    const PorepChallengeView first = proof_of(0);
    const Num<CS> replica_id = gadget::alloc_num(cs_, in_.replica_id);
    gadget::inputize(cs_, replica_id);
    {
      auto scope = cs_.scope("replica_id");
      rid_bits_ = number_bits(replica_id);
    }
    probe_(PorepStep::kReplicaId, 0);
    comm_d_ = gadget::alloc_num(cs_, in_.comm_d);
    gadget::inputize(cs_, comm_d_);
    const Num<CS> comm_r = gadget::alloc_num(cs_, in_.comm_r);
    gadget::inputize(cs_, comm_r);
    probe_(PorepStep::kCommitments, 0);
    comm_r_last_ = gadget::alloc_num(cs_, first.comm_r_last().root);
    comm_c_ = gadget::alloc_num(cs_, first.c_x().inclusion.root);
    auto scope = cs_.scope("comm_r");
    gadget::equal(cs_, comm_r, PoseidonCircuitHasher::hash2(cs_, comm_c_, comm_r_last_));
    probe_(PorepStep::kCommRHash, 0);
  }

  void challenge(const PorepChallengeView& proof, const Shared& shared) {
    const MerkleProofView data = proof.comm_d();
    const Num<CS> data_leaf = gadget::alloc_num(cs_, data.leaf);
    {
      auto scope = cs_.scope("comm_d inclusion");
      gadget::por<Sha256CircuitHasher>(cs_, Root<CS>::var(data_leaf), tree_d_path(data), Root<CS>::var(shared.comm_d),
                                       true);
    }
    probe_(PorepStep::kDataInclusion, 0);
    std::vector<Column> base, expander;
    for (uint32_t m = 0; m < kPorepBaseParents; ++m) {
      auto scope = cs_.scope("drg parent", m);
      base.push_back(parent_column(proof.base_parent(m), shared.comm_c));
      probe_(PorepStep::kBaseParent, m);
    }
    for (uint32_t m = 0; m < kPorepExpanderParents; ++m) {
      auto scope = cs_.scope("exp parent", m);
      expander.push_back(parent_column(proof.expander_parent(m), shared.comm_c));
      probe_(PorepStep::kExpanderParent, m);
    }
    const UInt64<CS> node = UInt64<CS>::alloc(cs_, proof.node());
    node.pack_into_input(cs_);
    probe_(PorepStep::kChallenge, 0);
    Column labels;
    for (uint32_t layer = 1; layer <= shape_.layers; ++layer) {
      labels.rows.push_back(label(shared.rid_bits, layer, base, expander, node));
    }
    const Num<CS> encoded = gadget::add(cs_, labels.rows.back(), data_leaf);
    {
      auto scope = cs_.scope("comm_r_last inclusion");
      include(encoded, proof.comm_r_last(), shared.comm_r_last);
    }
    probe_(PorepStep::kEncoding, 0);
    auto scope = cs_.scope("c_x");
    include(column_hash(labels), proof.c_x().inclusion, shared.comm_c);
    probe_(PorepStep::kColumn, 0);
  }

  // Allocates a parent's labels and proves that its column is in tree C.
  Column parent_column(const ColumnProofView& view, const Num<CS>& comm_c) {
    Column column;
    column.rows.reserve(view.rows.size());
    for (const Fr& row : view.rows) column.rows.push_back(gadget::alloc_num(cs_, row));
    include(column_hash(column), view.inclusion, comm_c);
    return column;
  }

  Num<CS> column_hash(const Column& column) { return gadget::poseidon_hash<CS>(cs_, column.rows); }

  // The challenge's label of one layer, from its parents' labels.
  Num<CS> label(std::span<const Boolean<CS>> rid_bits, uint32_t layer, const std::vector<Column>& base,
                const std::vector<Column>& expander, const UInt64<CS>& node) {
    auto scope = cs_.scope("layer", layer);
    std::array<Bits, kPorepParents> bits;
    uint32_t count = 0;
    for (const Column& parent : base) bits[count++] = number_bits(parent.rows[layer - 1]);
    if (layer > 1) {
      for (const Column& parent : expander) bits[count++] = number_bits(parent.rows[layer - 2]);
    }
    probe_(PorepStep::kParentBits, layer);
    std::array<const Bits*, kPorepHashedParents> parents;
    for (uint32_t i = 0; i < kPorepHashedParents; ++i) parents[i] = &bits[i % count];
    const Num<CS> result = gadget::create_label<CS>(cs_, rid_bits, parents, layer, node);
    probe_(PorepStep::kLabel, layer);
    return result;
  }

  Bits number_bits(const Num<CS>& x) { return gadget::reverse_bit_numbering(gadget::to_bits_le(cs_, x)); }

  // Proves that `leaf` is in tree C or R.
  void include(const Num<CS>& leaf, const MerkleProofView& view, const Num<CS>& root) {
    path_.clear();
    size_t sibling = 0;
    unsigned shift = 0;
    for (uint32_t level = 0; level < shape_.path_levels(); ++level) {
      const uint32_t arity = shape_.path_arity(level);
      path_.push_back({arity, static_cast<uint32_t>(view.leaf_index >> shift) & (arity - 1),
                       view.siblings.subspan(sibling, arity - 1)});
      sibling += arity - 1;
      shift += static_cast<unsigned>(std::countr_zero(arity));
    }
    gadget::por<PoseidonCircuitHasher>(cs_, Root<CS>::var(leaf), path_, Root<CS>::var(root), true);
  }

  std::span<const PathLevel> tree_d_path(const MerkleProofView& view) {
    path_.clear();
    for (uint32_t level = 0; level < shape_.log2_nodes; ++level) {
      path_.push_back({2, static_cast<uint32_t>(view.leaf_index >> level) & 1, view.siblings.subspan(level, 1)});
    }
    return path_;
  }

  CS& cs_;
  const PorepCircuitInput& in_;
  const PorepShape& shape_;
  Probe probe_;
  PorepPartition blank_;
  Bits rid_bits_;
  Num<CS> comm_d_, comm_r_last_, comm_c_;
  std::vector<PathLevel> path_;
};

template <class CS>
void synthesize_porep(CS& cs, const PorepCircuitInput& in) {
  PorepSynthesizer<CS>(cs, in).run();
}

}  // namespace cuzk
