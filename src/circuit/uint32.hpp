// UInt32: a word of 32 Booleans, least significant first.
//
// Two forms behind one set of functions: 32 Booleans, and, for systems that only write a witness (CS::kPacked), a
// machine word with masks. Both allocate the same bits in the same order. Source: bellpepper gadgets/uint32.rs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "circuit/boolean.hpp"
#include "circuit/multieq.hpp"

namespace cuzk {

template <class CS, bool kPacked = CS::kPacked>
struct UInt32 {
  std::array<Boolean<CS>, 32> bits;

  static UInt32 constant(uint32_t value) {
    UInt32 out;
    for (unsigned i = 0; i < 32; ++i) out.bits[i] = Boolean<CS>::constant(value >> i & 1);
    return out;
  }
  // 32 Booleans, most significant first.
  static UInt32 from_bits_be(std::span<const Boolean<CS>> be) {
    UInt32 out;
    for (unsigned i = 0; i < 32; ++i) out.bits[i] = be[31 - i];
    return out;
  }
  Boolean<CS> bit(unsigned i) const { return bits[i]; }
  UInt32 rotr(unsigned k) const {
    UInt32 out;
    for (unsigned i = 0; i < 32; ++i) out.bits[i] = bits[(i + k) % 32];
    return out;
  }
  UInt32 shr(unsigned k) const {
    UInt32 out;
    for (unsigned i = 0; i < 32; ++i) out.bits[i] = i + k < 32 ? bits[i + k] : Boolean<CS>::constant(false);
    return out;
  }
  bool is_constant() const {
    for (const auto& b : bits) {
      if (!b.is_constant()) return false;
    }
    return true;
  }
  uint32_t value() const {
    uint32_t v = 0;
    for (unsigned i = 0; i < 32; ++i) v |= uint32_t{bits[i].value} << i;
    return v;
  }
};

// A bit is constant, allocated or allocated and negated; wires are not kept, since a packed system has no constraints.
template <class CS>
struct UInt32<CS, true> {
  uint32_t word = 0;  // values of the Booleans, negation included
  uint32_t constant_mask = 0xffffffff;
  uint32_t negated_mask = 0;  // subset of ~constant_mask

  static UInt32 constant(uint32_t value) { return {value, 0xffffffff, 0}; }
  static UInt32 from_bits_be(std::span<const Boolean<CS>> be) {
    UInt32 out{0, 0, 0};
    for (unsigned i = 0; i < 32; ++i) {
      const Boolean<CS>& b = be[i];
      out.word = out.word << 1 | b.value;
      out.constant_mask = out.constant_mask << 1 | (b.kind == BooleanKind::kConstant);
      out.negated_mask = out.negated_mask << 1 | (b.kind == BooleanKind::kNot);
    }
    return out;
  }
  Boolean<CS> bit(unsigned i) const {
    const auto kind = constant_mask >> i & 1  ? BooleanKind::kConstant
                      : negated_mask >> i & 1 ? BooleanKind::kNot
                                              : BooleanKind::kIs;
    return {Wire{}, kind, (word >> i & 1) != 0};
  }
  UInt32 rotr(unsigned k) const {
    const int n = static_cast<int>(k);
    return {std::rotr(word, n), std::rotr(constant_mask, n), std::rotr(negated_mask, n)};
  }
  UInt32 shr(unsigned k) const {  // 0 < k < 32
    return {word >> k, constant_mask >> k | ~(0xffffffff >> k), negated_mask >> k};
  }
  bool is_constant() const { return constant_mask == 0xffffffff; }
  uint32_t value() const { return word; }
};

namespace gadget {
namespace detail {

// Bit i of x at position 2i.
inline uint64_t spread_bits(uint32_t x) {
  uint64_t v = x;
  v = (v | v << 16) & 0x0000ffff0000ffff;
  v = (v | v << 8) & 0x00ff00ff00ff00ff;
  v = (v | v << 4) & 0x0f0f0f0f0f0f0f0f;
  v = (v | v << 2) & 0x3333333333333333;
  return (v | v << 1) & 0x5555555555555555;
}

// Appends the bits that `mask` selects, in order. Masks are few runs, mostly one from bit 0, so runs are found one by
// one; counting bits would be a call of a library on processors without an instruction for it.
template <class CS>
void append_masked(CS& cs, uint32_t bits, uint32_t mask) {
  if (mask == 0xffffffff) {
    cs.append_bits(bits, 32);
    return;
  }
  uint32_t compact = 0;
  unsigned count = 0;
  while (mask != 0) {
    const unsigned start = static_cast<unsigned>(std::countr_zero(mask));
    const unsigned length = static_cast<unsigned>(std::countr_one(mask >> start));
    const uint32_t run = (uint32_t{1} << length) - 1;  // length < 32: the full mask is handled above
    compact |= (bits >> start & run) << count;
    count += length;
    mask &= ~(run << start);
  }
  cs.append_bits(compact, count);
}

// Applies a gadget on three Booleans bit by bit; the form that needs no case analysis of its own.
template <class CS, class F>
UInt32<CS> by_bits(F&& f) {
  std::array<Boolean<CS>, 32> bits;
  for (unsigned i = 0; i < 32; ++i) bits[31 - i] = f(i);
  return UInt32<CS>::from_bits_be(bits);
}

}  // namespace detail

template <class CS>
UInt32<CS> uint32_alloc(CS& cs, uint32_t value) {
  std::vector<Boolean<CS>> bits;
  for (unsigned i = 0; i < 32; ++i) bits.push_back(alloc_bit(cs, value >> i & 1));
  return detail::by_bits<CS>([&](unsigned i) { return bits[i]; });
}

template <class CS>
UInt32<CS> uint32_xor(CS& cs, const UInt32<CS>& a, const UInt32<CS>& b) {
  if constexpr (CS::kPacked) {
    if ((a.constant_mask | b.constant_mask) == 0) {
      const UInt32<CS> out = {a.word ^ b.word, 0, a.negated_mask ^ b.negated_mask};
      cs.append_bits(out.word ^ out.negated_mask, 32);
      return out;
    }
    UInt32<CS> out;
    out.word = a.word ^ b.word;
    out.constant_mask = a.constant_mask & b.constant_mask;
    // A constant operand passes the other through, negated where the constant is true.
    out.negated_mask = ~out.constant_mask &
                       (a.negated_mask ^ b.negated_mask ^ (a.constant_mask & a.word) ^ (b.constant_mask & b.word));
    detail::append_masked(cs, out.word ^ out.negated_mask, ~(a.constant_mask | b.constant_mask));
    return out;
  } else {
    return detail::by_bits<CS>([&](unsigned i) { return boolean_xor(cs, a.bits[i], b.bits[i]); });
  }
}

template <class CS>
UInt32<CS> uint32_ch(CS& cs, const UInt32<CS>& a, const UInt32<CS>& b, const UInt32<CS>& c) {
  if constexpr (CS::kPacked) {
    if ((b.constant_mask | c.constant_mask | (a.constant_mask & ~a.word)) == 0) {
      const uint32_t ch = (a.word & b.word) | (~a.word & c.word);
      cs.append_bits(ch, 32);
      return {ch, 0, 0};
    }
  }
  return detail::by_bits<CS>([&](unsigned i) { return boolean_ch(cs, a.bit(i), b.bit(i), c.bit(i)); });
}

template <class CS>
UInt32<CS> uint32_maj(CS& cs, const UInt32<CS>& a, const UInt32<CS>& b, const UInt32<CS>& c) {
  if constexpr (CS::kPacked) {
    if ((a.constant_mask | b.constant_mask | c.constant_mask) == 0) {
      const uint32_t bc = b.word & c.word;
      const uint32_t maj = bc | (a.word & (b.word | c.word));
      cs.append_bits(detail::spread_bits(maj) | detail::spread_bits(bc) << 1, 64);
      return {maj, 0, 0};
    }
  }
  return detail::by_bits<CS>([&](unsigned i) { return boolean_maj(cs, a.bit(i), b.bit(i), c.bit(i)); });
}

// The sum modulo 2^32 of 2 to 10 words. All bits of the integer sum are allocated, the carries too.
template <class CS>
UInt32<CS> uint32_add_many(MultiEq<CS>& eq, std::span<const UInt32<CS>> operands) {
  CUZK_ASSERT(operands.size() >= 2 && operands.size() <= 10);
  uint64_t sum = 0;
  bool all_constant = true;
  for (const UInt32<CS>& op : operands) {
    sum += op.value();
    all_constant &= op.is_constant();
  }
  if (all_constant) return UInt32<CS>::constant(static_cast<uint32_t>(sum));
  const unsigned n = static_cast<unsigned>(std::bit_width(operands.size() * uint64_t{0xffffffff}));
  CS& cs = eq.cs();
  if constexpr (CS::kPacked) {
    cs.append_bits(sum, n);
    return {static_cast<uint32_t>(sum), 0, 0};
  } else {
    std::array<Boolean<CS>, 36> bits;
    for (unsigned i = 0; i < n; ++i) bits[i] = alloc_bit(cs, sum >> i & 1);
    eq.enforce_equal(
        n,
        [&](auto& lc, unsigned shift) {
          uint64_t constant = 0;
          for (const UInt32<CS>& op : operands) {
            for (unsigned i = 0; i < 32; ++i) {
              const Boolean<CS>& b = op.bits[i];
              if (b.is_constant()) {
                constant += uint64_t{b.value} << i;
              } else if (b.is_negated()) {
                constant += uint64_t{1} << i;
                lc.sub_shifted(b.wire, shift + i);
              } else {
                lc.add_shifted(b.wire, shift + i);
              }
            }
          }
          if (constant != 0) lc.add_shifted_integer(Wire::one(), constant, shift);
        },
        [&](auto& lc, unsigned shift) {
          for (unsigned i = 0; i < n; ++i) lc.add_shifted(bits[i].wire, shift + i);
        });
    return detail::by_bits<CS>([&](unsigned i) { return bits[i]; });
  }
}

}  // namespace gadget
}  // namespace cuzk
