// Bits into field elements, orders of bits, and 64-bit numbers.
//
// Source: bellpepper gadgets/multipack.rs; storage-proofs-core util.rs:136, gadgets/{uint64,xor}.rs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "circuit/boolean.hpp"
#include "circuit/num.hpp"

namespace cuzk {

inline constexpr size_t kPackedBits = 254;  // bits that every field element can hold

namespace gadget {

// sum 2^i bit_i as a field element; at most 254 bits.
template <class CS>
Fr bits_value(std::span<const Boolean<CS>> bits) {
  return value_of<CS>([&] {
    Fr::Limbs plain{};
    for (size_t i = 0; i < bits.size(); ++i) plain[i / 64] |= uint64_t{bits[i].value} << (i % 64);
    return Fr::from_plain(plain);
  });
}

namespace detail {
// (sum 2^i bit_i) * (ONE) = (x)
template <class CS>
void enforce_packed(CS& cs, std::span<const Boolean<CS>> bits, Wire x) {
  cs.enforce(
      [&](auto& lc) {
        for (size_t i = 0; i < bits.size(); ++i) add_boolean(lc, bits[i], static_cast<unsigned>(i));
      },
      [](auto& lc) { lc.add(Wire::one()); }, [&](auto& lc) { lc.add(x); });
}
}  // namespace detail

// The first 254 bits (or all, where fewer), least significant first, as one number. One variable, one constraint.
template <class CS>
Num<CS> pack_bits(CS& cs, std::span<const Boolean<CS>> bits) {
  bits = bits.first(std::min(bits.size(), kPackedBits));
  const Num<CS> x = alloc_num(cs, bits_value<CS>(bits));
  detail::enforce_packed(cs, bits, x.wire);
  return x;
}

// One input and one constraint for every 254 bits begun, least significant first.
template <class CS>
void pack_into_inputs(CS& cs, std::span<const Boolean<CS>> bits) {
  while (!bits.empty()) {
    const auto chunk = bits.first(std::min(bits.size(), kPackedBits));
    const Wire x = cs.alloc_input(bits_value<CS>(chunk));
    detail::enforce_packed(cs, chunk, x);
    bits = bits.subspan(chunk.size());
  }
}

// Pads with constant false to whole bytes and reverses the order in every byte: the little-endian bits of a number
// become its little-endian bytes in SHA order, and the other way round.
template <class CS>
std::vector<Boolean<CS>> reverse_bit_numbering(std::vector<Boolean<CS>> bits) {
  bits.resize((bits.size() + 7) / 8 * 8, Boolean<CS>::constant(false));
  for (size_t i = 0; i < bits.size(); i += 8) {
    std::reverse(bits.begin() + static_cast<std::ptrdiff_t>(i), bits.begin() + static_cast<std::ptrdiff_t>(i + 8));
  }
  return bits;
}

// input_i xor key_(i mod 256).
template <class CS>
std::vector<Boolean<CS>> xor_with_key(CS& cs, std::span<const Boolean<CS>> key, std::span<const Boolean<CS>> input) {
  CUZK_ASSERT(key.size() == 256);
  std::vector<Boolean<CS>> out;
  out.reserve(input.size());
  for (size_t i = 0; i < input.size(); ++i) out.push_back(boolean_xor(cs, input[i], key[i % 256]));
  return out;
}

}  // namespace gadget

// 64 Booleans, least significant first.
template <class CS>
struct UInt64 {
  std::vector<Boolean<CS>> bits;

  static UInt64 alloc(CS& cs, uint64_t value) {
    UInt64 out;
    out.bits.reserve(64);
    gadget::alloc_bits_le(cs, value, 64, out.bits);
    return out;
  }
  static UInt64 constant(uint64_t value) {
    UInt64 out;
    for (unsigned i = 0; i < 64; ++i) out.bits.push_back(Boolean<CS>::constant(value >> i & 1));
    return out;
  }
  std::vector<Boolean<CS>> to_bits_be() const { return {bits.rbegin(), bits.rend()}; }
  // One input with the number's value, one constraint.
  void pack_into_input(CS& cs) const { gadget::pack_into_inputs<CS>(cs, bits); }
};

}  // namespace cuzk
