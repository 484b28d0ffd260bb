// Poseidon as Filecoin's circuits have it: every S-box input is a variable of its own.
//
// Source: neptune circuit.rs:362 (poseidon_hash, the legacy circuit; not circuit2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circuit/num.hpp"
#include "circuit/poseidon_circuit.hpp"
#include "hash/poseidon.hpp"

namespace cuzk::gadget {

namespace detail {

template <class CS>
class PoseidonGadget {
 public:
  PoseidonGadget(CS& cs, const PoseidonCircuit& circuit) : cs_(cs), circuit_(circuit) {}

  Num<CS> run(std::span<const Num<CS>> preimage) {
    basis_.push_back({Wire::one(), Fr::one()});  // carries element 0, which is a constant until the first mix
    for (size_t i = 0; i < preimage.size(); ++i) basis_.push_back(first_sbox(preimage[i], i));
    for (int round = 1; round <= 3; ++round) full_round();
    for (unsigned round = 0; round < circuit_.partial_rounds; ++round) {
      basis_.push_back(sbox(materialise()));
    }
    for (int round = 0; round < 4; ++round) full_round();
    return materialise();
  }

 private:
  Num<CS> derived(const Fr& value) { return {cs_.alloc_derived(value), value}; }

  // The next linear combination over the basis as a variable: (l) * (ONE) = (v).
  Num<CS> materialise() {
    const uint32_t start = circuit_.lc_start[next_lc_++];
    const size_t size = circuit_.lc_start[next_lc_] - start;
    CUZK_ASSERT(size <= basis_.size());
    const Num<CS> v = derived(value_of<CS>([&] {
      Fr sum = Fr::zero();
      for (size_t i = 0; i < size; ++i) sum += circuit_.lc_values[start + i] * basis_[i].value;
      return sum;
    }));
    cs_.enforce(
        [&](auto& lc) {
          for (size_t i = 0; i < size; ++i) lc.add_id(basis_[i].wire, circuit_.lc_ids[start + i]);
        },
        [](auto& lc) { lc.add(Wire::one()); }, [&](auto& lc) { lc.add(v.wire); });
    return v;
  }

  Num<CS> squared(const Num<CS>& x) {
    const Num<CS> y = derived(value_of<CS>([&] { return x.value.square(); }));
    cs_.enforce([&](auto& lc) { lc.add(x.wire); }, [&](auto& lc) { lc.add(x.wire); },
                [&](auto& lc) { lc.add(y.wire); });
    return y;
  }

  // x^5 + post; the constant is added inside the last constraint.
  Num<CS> sbox(const Num<CS>& x) {
    const Num<CS> x4 = squared(squared(x));
    return fifth_power([&](auto& lc) { lc.add(x.wire); }, x.value, x4);
  }

  // (x + pre)^5 + post.
  Num<CS> first_sbox(const Num<CS>& x, size_t i) {
    auto shifted = [&](auto& lc) {
      lc.add(x.wire);
      lc.add_id(Wire::one(), circuit_.pre_ids[i]);
    };
    const Fr value = value_of<CS>([&] { return x.value + circuit_.pre[i]; });
    const Num<CS> x2 = derived(value_of<CS>([&] { return value.square(); }));
    cs_.enforce(shifted, shifted, [&](auto& lc) { lc.add(x2.wire); });
    return fifth_power(shifted, value, squared(x2));
  }

  template <class X>
  Num<CS> fifth_power(X&& x, const Fr& x_value, const Num<CS>& x4) {
    const size_t k = next_sbox_++;
    const Num<CS> x5 = derived(value_of<CS>([&] { return x4.value * x_value + circuit_.post[k]; }));
    cs_.enforce(
        x, [&](auto& lc) { lc.add(x4.wire); },
        [&](auto& lc) {
          lc.add(x5.wire);
          lc.add_id(Wire::one(), circuit_.minus_post_ids[k]);
        });
    return x5;
  }

  void full_round() {
    std::vector<Num<CS>> next;
    next.reserve(circuit_.width + circuit_.partial_rounds);
    for (unsigned i = 0; i < circuit_.width; ++i) next.push_back(sbox(materialise()));
    basis_ = std::move(next);
  }

  CS& cs_;
  const PoseidonCircuit& circuit_;
  std::vector<Num<CS>> basis_;
  size_t next_lc_ = 0, next_sbox_ = 0;
};

}  // namespace detail

// The Poseidon hash of allocated numbers, in order; arity = preimage.size(), one of 2, 4, 8, 11, 16, 24, 36.
template <class CS>
Num<CS> poseidon_hash(CS& cs, std::span<const Num<CS>> preimage, uint64_t tag) {
  const unsigned arity = static_cast<unsigned>(preimage.size());
  if constexpr (CS::kPacked) {
    std::array<Fr, kPoseidonMaxArity> values;
    CUZK_ASSERT(arity <= values.size());
    for (size_t i = 0; i < arity; ++i) values[i] = preimage[i].value;
    return {Wire{}, cuzk::poseidon_hash(std::span<const Fr>(values.data(), arity), tag)};
  } else {
    auto scope = cs.scope("poseidon", arity);
    std::vector<Wire> wires;
    for (const Num<CS>& x : preimage) wires.push_back(x.wire);
    cs.begin_derived(arity, tag, wires);
    const Num<CS> out = detail::PoseidonGadget<CS>(cs, cs.poseidon_circuits().get(arity, tag)).run(preimage);
    cs.end_derived();
    return out;
  }
}

// With the tag of Merkle trees, 2^arity - 1.
template <class CS>
Num<CS> poseidon_hash(CS& cs, std::span<const Num<CS>> preimage) {
  return poseidon_hash(cs, preimage, poseidon_merkle_tag(static_cast<unsigned>(preimage.size())));
}

}  // namespace cuzk::gadget
