// A small circuit with everything that the evaluation of compiled circuits distinguishes.
#pragma once

#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "circuit/block.hpp"
#include "circuit/boolean.hpp"
#include "circuit/num.hpp"
#include "circuit/poseidon_gadget.hpp"

namespace cuzk::test {

// Blocks whose ports are inputs, bits, fields and hashes, and ONE; hashes of hashes within a block and from instance to
// instance, of every arity that circuits have; rows from none to hundreds of terms; fields between bits. `variant`: of
// the witness.
template <class CS>
void block_circuit(CS& cs, size_t instances, uint64_t variant = 0) {
  const Num<CS> one = {Wire::one(), Fr::one()}, input = gadget::alloc_input(cs, Fr::from_u64(4));
  std::vector<Num<CS>> numbers;
  std::vector<Boolean<CS>> bits;
  for (size_t i = 0; i < 300; ++i) {
    bits.push_back(gadget::alloc_bit(cs, (i * i + i / (3 + variant)) % 2 == 1));
    if (i % 20 == 0) numbers.push_back(gadget::alloc_num(cs, Fr::from_u64(i * i * 77 + 1 + variant).square()));
  }
  // A row of all of them, with powers of 3 as coefficients.
  Fr total = Fr::zero(), power = Fr::one();
  std::vector<Fr> powers;
  for (size_t i = 0; i < bits.size(); ++i, power *= Fr::from_u64(3)) powers.push_back(power);
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i].value) total += powers[i];
  }
  for (size_t i = 0; i < numbers.size(); ++i) total += powers[i + 1] * numbers[i].value;
  const Num<CS> sum = gadget::alloc_num(cs, total);
  cs.enforce(
      [&](auto& lc) {
        for (size_t i = 0; i < bits.size(); ++i) lc.add(bits[i].wire, powers[i]);
        for (size_t i = 0; i < numbers.size(); ++i) lc.add(numbers[i].wire, powers[i + 1]);
      },
      [](auto& lc) { lc.add(Wire::one()); }, [&](auto& lc) { lc.add(sum.wire); });
  Num<CS> chained = numbers[0];
  for (size_t i = 0; i < instances; ++i) {
    const BlockWires<CS> ports = {{chained, i % 5 == 3 ? one : input, numbers[i % 15]},
                                  {bits[i % 300], !bits[(i + 1) % 300]}};
    const auto out = gadget::block(cs, "chain", ports, [&](const BlockWires<CS>& in) {
      const Num<CS> inner = gadget::mul(cs, in.nums[0], in.nums[2]);
      gadget::inputize(cs, inner);
      gadget::boolean_and(cs, in.bits[0], in.bits[1]);
      const Num<CS> hash = gadget::poseidon_hash<CS>(cs, std::array<Num<CS>, 2>{in.nums[0], inner});
      gadget::boolean_xor(cs, in.bits[0], gadget::alloc_bit(cs, true));
      const Num<CS> again = gadget::poseidon_hash<CS>(cs, std::array<Num<CS>, 2>{hash, in.nums[1]});
      return BlockWires<CS>{{again}, {}};
    });
    chained = out.nums[0];
    if (i % 7 == 2) gadget::alloc_bit(cs, true);  // something between two of them
  }
  numbers[0] = chained;
  for (const size_t arity : {11, 2, 8, 4}) {
    numbers[0] = gadget::poseidon_hash<CS>(cs, std::span<const Num<CS>>(numbers).first(arity));
  }
  gadget::poseidon_hash<CS>(cs, std::span<const Num<CS>>(numbers).first(2), poseidon_custom_tag(1));
  gadget::inputize(cs, chained);
}

}  // namespace cuzk::test
