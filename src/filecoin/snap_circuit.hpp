// The circuit of one partition of a sector update, for every sector size.
// Source: storage-proofs-update circuit.rs, gadgets.rs; storage-proofs-core gadgets/por.rs, gadgets/insertion.rs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "circuit/block.hpp"
#include "circuit/hasher.hpp"
#include "circuit/insertion.hpp"
#include "circuit/num.hpp"
#include "circuit/packing.hpp"
#include "circuit/por.hpp"
#include "filecoin/snap.hpp"
#include "filecoin/snap_vanilla.hpp"

namespace cuzk {

// The hashes of the circuit; tests put stubs in their place.
struct SnapHashers {
  using TreeR = PoseidonCircuitHasher;
  using TreeD = Sha256CircuitHasher;
  // As snap_randomness_hash.
  template <class CS>
  static Num<CS> randomness(CS& cs, const Num<CS>& x, const Num<CS>& y) {
    const std::array<Num<CS>, 2> both = {x, y};
    return gadget::poseidon_hash<CS>(cs, both, poseidon_custom_tag(1));
  }
};

// What one partition is synthesised from.
struct SnapCircuitInput {
  const SnapShape* shape = nullptr;
  // nullptr: a blank circuit. Otherwise it is one of `shape`, and the rest is set.
  const SnapPartition* partition = nullptr;
  uint32_t k = 0;  // which partition it is
  uint32_t h = 0;  // one of shape->hs
  SnapCommitments commitments;
};

// Places in the synthesis, for tests that compare the running state.
enum class SnapStep : uint8_t { kPartition, kCommitments, kPhi, kCommR, kApex, kChallengeBits, kChallenge };
struct NoSnapProbe {
  void operator()(SnapStep, uint32_t /*number*/) const {}
};

namespace gadget {

// (sum 2^i bit_i) * (ONE) = (x): the bits, allocated already, are those of x; at most 255.
template <class CS>
void enforce_decomposition(CS& cs, std::span<const Boolean<CS>> bits, const Num<CS>& x) {
  cs.enforce(
      [&](auto& lc) {
        for (size_t i = 0; i < bits.size(); ++i) add_boolean(lc, bits[i], static_cast<unsigned>(i));
      },
      [](auto& lc) { lc.add(Wire::one()); }, [&](auto& lc) { lc.add(x.wire); });
}

// The root of the binary tree over `leaves` (a power of two of them), proved to lie under comm_d at the place that
// partition_bits give; `path` are the siblings, lowest first. 45,379 constraints a hash.
template <class Hashers, class CS>
void snap_apex(CS& cs, std::vector<Num<CS>> leaves, std::span<const Boolean<CS>> partition_bits,
               std::span<const Num<CS>> path, const Num<CS>& comm_d) {
  auto scope = cs.scope("apex");
  for (std::vector<Num<CS>> above; leaves.size() > 1; leaves = std::exchange(above, {})) {
    for (size_t i = 0; i < leaves.size(); i += 2) {
      const BlockWires<CS> node =
          block(cs, "apex node", {{leaves[i], leaves[i + 1]}, {}}, [&](const BlockWires<CS>& in) {
            return BlockWires<CS>{{Hashers::TreeD::hash2(cs, in.nums[0], in.nums[1])}, {}};
          });
      above.push_back(node.nums[0]);
    }
  }
  std::vector<std::vector<Num<CS>>> siblings;
  for (const Num<CS>& sibling : path) siblings.push_back({sibling});
  por_no_challenge_input<typename Hashers::TreeD, CS>(cs, partition_bits, leaves[0], siblings, comm_d);
}

// The random bits of every challenge of a partition, challenge_bits() each: cut from digests of comm_r_new and a
// counter. 568 constraints a digest. Bits of a digest need not be the canonical ones to satisfy this, as upstream.
template <class Hashers, class CS>
std::vector<std::vector<Boolean<CS>>> snap_challenge_bits(CS& cs, const SnapShape& shape, const Num<CS>& comm_r_new,
                                                          const Num<CS>& partition) {
  const uint32_t digests = shape.digests(), bits_each = shape.challenge_bits();
  std::vector<std::vector<Boolean<CS>>> out;
  std::vector<Boolean<CS>> bits;
  for (uint32_t j = 0; j < digests; ++j) {
    auto scope = cs.scope("digest", j);
    const Num<CS> index =
        alloc_num(cs, value_of<CS>([&] { return partition.value * Fr::from_u64(digests) + Fr::from_u64(j); }));
    cs.enforce(
        [&](auto& lc) {
          lc.add_shifted_integer(partition.wire, digests, 0);
          lc.add_shifted_integer(Wire::one(), j, 0);
        },
        [](auto& lc) { lc.add(Wire::one()); }, [&](auto& lc) { lc.add(index.wire); });
    const Num<CS> digest = Hashers::randomness(cs, comm_r_new, index);
    Fr::Limbs plain{};
    if constexpr (CS::kHasValues) plain = digest.value.to_plain();
    bits.clear();
    for (size_t i = 0; i < plain.size(); ++i) alloc_bits_le(cs, plain[i], i == 3 ? 63 : 64, bits);
    enforce_decomposition<CS>(cs, bits, digest);
    for (uint32_t s = 0; s < shape.challenges_per_digest() && out.size() < shape.challenges; ++s) {
      const auto first = bits.begin() + std::ptrdiff_t{s} * bits_each;
      out.emplace_back(first, first + static_cast<std::ptrdiff_t>(bits_each));
    }
  }
  return out;
}

// The number of the h highest bits of a node index, for that hs[m] whose h_bits[m] is set. 13 constraints.
template <class CS>
Num<CS> snap_high_bits(CS& cs, const SnapShape& shape, std::span<const Boolean<CS>> index_bits,
                       std::span<const Boolean<CS>> h_bits) {
  auto scope = cs.scope("high bits");
  std::array<Num<CS>, kSnapNumH> selected;
  for (uint32_t m = 0; m < kSnapNumH; ++m) {
    const Num<CS> high = pack_bits<CS>(cs, index_bits.last(shape.hs[m]));
    selected[m] = alloc_num(cs, h_bits[m].value ? high.value : Fr::zero());
    cs.enforce([&](auto& lc) { lc.add(high.wire); }, [&](auto& lc) { add_boolean(lc, h_bits[m]); },
               [&](auto& lc) { lc.add(selected[m].wire); });
  }
  const Num<CS> sum = alloc_num(cs, value_of<CS>([&] {
                                  Fr total = Fr::zero();
                                  for (const Num<CS>& x : selected) total += x.value;
                                  return total;
                                }));
  cs.enforce(
      [&](auto& lc) {
        for (const Num<CS>& x : selected) lc.add(x.wire);
      },
      [](auto& lc) { lc.add(Wire::one()); }, [&](auto& lc) { lc.add(sum.wire); });
  return sum;
}

}  // namespace gadget

// Synthesises one partition into a fresh system. Inputs, variables and constraints are upstream's, in its order.
template <class CS, class Hashers = SnapHashers, class Probe = NoSnapProbe>
class SnapSynthesizer {
 public:
  SnapSynthesizer(CS& cs, const SnapCircuitInput& in, Probe probe = {})
      : cs_(cs),
        shape_(*in.shape),
        commitments_(in.commitments),
        k_(in.k),
        h_(in.h),
        blank_(*in.shape),
        proof_(in.partition ? *in.partition : blank_),
        probe_(probe) {
    CUZK_ASSERT(proof_.challenges() == shape_.challenges && proof_.apex_leaves.size() == shape_.apex_leaves());
  }
  SnapSynthesizer(const SnapSynthesizer&) = delete;
  SnapSynthesizer& operator=(const SnapSynthesizer&) = delete;

  void run() {
    partition_and_h();
    commitments();
    apex();
    const std::vector<Bits> random_bits = gadget::snap_challenge_bits<Hashers>(cs_, shape_, comm_r_new_, partition_);
    probe_(SnapStep::kChallengeBits, 0);
    for (uint32_t i = 0; i < shape_.challenges; ++i) {
      auto scope = cs_.scope("challenge", i);
      gadget::block(cs_, "challenge", challenge_ports(random_bits[i]), [&](const BlockWires<CS>& ports) {
        challenge(i, ports);
        return BlockWires<CS>{};
      });
      probe_(SnapStep::kChallenge, i);
    }
  }

 private:
  using Bits = std::vector<Boolean<CS>>;

  void partition_and_h() {
    auto scope = cs_.scope("partition and h");
    const uint64_t value = k_ | uint64_t{snap_h_select(shape_, h_)} << shape_.partition_bits;
    const Num<CS> packed = gadget::alloc_num(cs_, Fr::from_u64(value));
    gadget::inputize(cs_, packed);
    Bits bits;
    gadget::alloc_bits_le(cs_, value, shape_.partition_bits + kSnapNumH, bits);
    gadget::enforce_decomposition<CS>(cs_, bits, packed);
    const auto first_h = bits.begin() + static_cast<std::ptrdiff_t>(shape_.partition_bits);
    partition_bits_.assign(bits.begin(), first_h);
    h_bits_.assign(first_h, bits.end());
    partition_ = gadget::pack_bits<CS>(cs_, partition_bits_);
    probe_(SnapStep::kPartition, 0);
  }

  void commitments() {
    const auto input = [&](const Fr& value) {
      const Num<CS> num = gadget::alloc_num(cs_, value);
      gadget::inputize(cs_, num);
      return num;
    };
    const Num<CS> comm_r_old = input(commitments_.comm_r_old);
    comm_d_new_ = input(commitments_.comm_d_new);
    comm_r_new_ = input(commitments_.comm_r_new);
    probe_(SnapStep::kCommitments, 0);
    phi_ = Hashers::randomness(cs_, comm_d_new_, comm_r_old);
    probe_(SnapStep::kPhi, 0);
    const Num<CS> comm_c = gadget::alloc_num(cs_, proof_.comm_c);
    root_r_old_ = gadget::alloc_num(cs_, proof_.opening(0, SnapProof::kROld).root);
    root_r_new_ = gadget::alloc_num(cs_, proof_.opening(0, SnapProof::kRNew).root);
    for (const Fr& leaf : proof_.apex_leaves) apex_leaves_.push_back(gadget::alloc_num(cs_, leaf));
    for (const Fr& sibling : proof_.opening(0, SnapProof::kDNew).siblings.last(shape_.partition_bits)) {
      partition_path_.push_back(gadget::alloc_num(cs_, sibling));
    }
    {
      auto scope = cs_.scope("comm_r_old");
      gadget::equal(cs_, Hashers::TreeR::hash2(cs_, comm_c, root_r_old_), comm_r_old);
    }
    auto scope = cs_.scope("comm_r_new");
    gadget::equal(cs_, Hashers::TreeR::hash2(cs_, comm_c, root_r_new_), comm_r_new_);
    probe_(SnapStep::kCommR, 0);
  }

  void apex() {
    gadget::snap_apex<Hashers, CS>(cs_, apex_leaves_, partition_bits_, partition_path_, comm_d_new_);
    probe_(SnapStep::kApex, 0);
  }

  // What a challenge uses of the rest: phi, the roots and the apex leaves; the bits of its index, then those of h.
  BlockWires<CS> challenge_ports(const Bits& random_bits) const {
    BlockWires<CS> out{{phi_, root_r_old_, root_r_new_}, random_bits};
    out.nums.insert(out.nums.end(), apex_leaves_.begin(), apex_leaves_.end());
    out.bits.insert(out.bits.end(), partition_bits_.begin(), partition_bits_.end());
    out.bits.insert(out.bits.end(), h_bits_.begin(), h_bits_.end());
    return out;
  }

  void challenge(uint32_t i, const BlockWires<CS>& ports) {
    const Num<CS>&phi = ports.nums[0], &root_r_old = ports.nums[1], &root_r_new = ports.nums[2];
    const std::span<const Num<CS>> apex_leaves = std::span(ports.nums).subspan(3);
    const std::span<const Boolean<CS>> bits = std::span(ports.bits).first(ports.bits.size() - kSnapNumH);
    const Num<CS> high = gadget::snap_high_bits<CS>(cs_, shape_, bits, std::span(ports.bits).last(kSnapNumH));
    const Num<CS> rho = Hashers::randomness(cs_, phi, high);
    const MerkleProofView data = proof_.opening(i, SnapProof::kDNew);
    const Num<CS> leaf_r_old = gadget::alloc_num(cs_, proof_.opening(i, SnapProof::kROld).leaf);
    const Num<CS> leaf_d_new = gadget::alloc_num(cs_, data.leaf);
    const Num<CS> leaf_r_new = [&] {
      auto scope = cs_.scope("encoding");
      return gadget::add(cs_, leaf_r_old, gadget::mul(cs_, leaf_d_new, rho));
    }();
    {
      auto scope = cs_.scope("tree r old");
      include(leaf_r_old, proof_.opening(i, SnapProof::kROld), bits, root_r_old);
    }
    {
      auto scope = cs_.scope("tree r new");
      include(leaf_r_new, proof_.opening(i, SnapProof::kRNew), bits, root_r_new);
    }
    auto scope = cs_.scope("tree d new");
    const uint32_t levels = shape_.path_levels();
    const Num<CS> apex_leaf = gadget::select<CS>(cs_, apex_leaves, bits.subspan(levels, shape_.apex_bits));
    siblings_.clear();
    for (uint32_t level = 0; level < levels; ++level) {
      siblings_.push_back({gadget::alloc_num(cs_, data.siblings[level])});
    }
    gadget::por_no_challenge_input<typename Hashers::TreeD, CS>(cs_, bits.first(levels), leaf_d_new, siblings_,
                                                                apex_leaf);
  }

  // Proves that `leaf` is in tree R. Its siblings are allocated first, all levels of them.
  void include(const Num<CS>& leaf, const MerkleProofView& view, std::span<const Boolean<CS>> bits,
               const Num<CS>& root) {
    siblings_.clear();
    size_t next = 0;
    for (uint32_t level = 0; level < shape_.tree.levels(); ++level) {
      std::vector<Num<CS>>& of_level = siblings_.emplace_back();
      for (uint32_t m = 1; m < shape_.tree.arity(level); ++m) {
        of_level.push_back(gadget::alloc_num(cs_, view.siblings[next++]));
      }
    }
    gadget::por_no_challenge_input<typename Hashers::TreeR, CS>(cs_, bits, leaf, siblings_, root);
  }

  CS& cs_;
  const SnapShape& shape_;
  SnapCommitments commitments_;
  uint32_t k_, h_;
  SnapPartition blank_;
  const SnapPartition& proof_;
  Probe probe_;
  Bits partition_bits_, h_bits_;
  Num<CS> partition_, comm_d_new_, comm_r_new_, phi_, root_r_old_, root_r_new_;
  std::vector<Num<CS>> apex_leaves_, partition_path_;
  std::vector<std::vector<Num<CS>>> siblings_;
};

template <class CS>
void synthesize_snap(CS& cs, const SnapCircuitInput& in) {
  SnapSynthesizer<CS>(cs, in).run();
}

}  // namespace cuzk
