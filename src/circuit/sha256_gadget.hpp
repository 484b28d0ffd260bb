// SHA-256 as a circuit.
//
// Source: FIPS 180-4; the sharing of sums and the order of operations: bellpepper gadgets/sha256.rs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "circuit/uint32.hpp"
#include "hash/sha256.hpp"

namespace cuzk::gadget {

namespace detail {

// A word of the state that may still be a list of summands: each round would otherwise pay for sums of sums.
template <class CS>
struct LazySum {
  std::array<UInt32<CS>, 8> terms;  // the first output word has the most: 7 and the old state
  size_t count = 0;

  void push(const UInt32<CS>& word) { terms[count++] = word; }
  void assign(const UInt32<CS>& word) {
    terms[0] = word;
    count = 1;
  }
  UInt32<CS> compute(MultiEq<CS>& eq) const {
    return count == 1 ? terms[0] : uint32_add_many<CS>(eq, std::span<const UInt32<CS>>(terms.data(), count));
  }
};

template <class CS>
UInt32<CS> xor3(CS& cs, const UInt32<CS>& a, const UInt32<CS>& b, const UInt32<CS>& c) {
  return uint32_xor(cs, uint32_xor(cs, a, b), c);
}

template <class CS>
std::array<UInt32<CS>, 64> sha256_schedule(MultiEq<CS>& eq, const std::array<UInt32<CS>, 16>& block) {
  CS& cs = eq.cs();
  std::array<UInt32<CS>, 64> w;
  for (size_t i = 0; i < 16; ++i) w[i] = block[i];
  for (size_t i = 16; i < 64; ++i) {
    const UInt32<CS> s0 = xor3(cs, w[i - 15].rotr(7), w[i - 15].rotr(18), w[i - 15].shr(3));
    const UInt32<CS> s1 = xor3(cs, w[i - 2].rotr(17), w[i - 2].rotr(19), w[i - 2].shr(10));
    const std::array<UInt32<CS>, 4> operands = {w[i - 16], s0, w[i - 7], s1};
    w[i] = uint32_add_many<CS>(eq, operands);
  }
  return w;
}

}  // namespace detail

// One compression with its own MultiEq. 26,192 constraints and 26,166 variables where every bit is allocated.
template <class CS>
std::array<UInt32<CS>, 8> sha256_compress(CS& cs, const std::array<UInt32<CS>, 16>& block,
                                          const std::array<UInt32<CS>, 8>& state) {
  MultiEq<CS> eq(cs);
  const std::array<UInt32<CS>, 64> w = detail::sha256_schedule(eq, block);
  detail::LazySum<CS> a, e;
  a.assign(state[0]);
  e.assign(state[4]);
  UInt32<CS> b = state[1], c = state[2], d = state[3], f = state[5], g = state[6], h = state[7];
  for (size_t i = 0; i < 64; ++i) {
    const UInt32<CS> new_e = e.compute(eq);
    const UInt32<CS> s1 = detail::xor3(cs, new_e.rotr(6), new_e.rotr(11), new_e.rotr(25));
    const UInt32<CS> ch = uint32_ch(cs, new_e, f, g);
    detail::LazySum<CS> next_e;
    next_e.push(h);
    next_e.push(s1);
    next_e.push(ch);
    next_e.push(UInt32<CS>::constant(kSha256RoundConstants[i]));
    next_e.push(w[i]);
    const UInt32<CS> new_a = a.compute(eq);
    const UInt32<CS> s0 = detail::xor3(cs, new_a.rotr(2), new_a.rotr(13), new_a.rotr(22));
    const UInt32<CS> maj = uint32_maj(cs, new_a, b, c);
    a = next_e;
    a.push(s0);
    a.push(maj);
    next_e.push(d);
    e = next_e;
    h = g;
    g = f;
    f = new_e;
    d = c;
    c = b;
    b = new_a;
  }
  auto sum = [&](const UInt32<CS>& x, const UInt32<CS>& y) {
    const std::array<UInt32<CS>, 2> operands = {x, y};
    return uint32_add_many<CS>(eq, operands);
  };
  std::array<UInt32<CS>, 8> out;
  a.push(state[0]);
  e.push(state[4]);
  out[0] = a.compute(eq);
  out[1] = sum(state[1], b);
  out[2] = sum(state[2], c);
  out[3] = sum(state[3], d);
  out[4] = e.compute(eq);
  out[5] = sum(state[5], f);
  out[6] = sum(state[6], g);
  out[7] = sum(state[7], h);
  return out;
}

// The 256 bits of the digest of `input`; both in SHA order (per byte the most significant bit first). input.size()
// must be a multiple of 8.
template <class CS>
std::vector<Boolean<CS>> sha256(CS& cs, std::span<const Boolean<CS>> input) {
  CUZK_ASSERT(input.size() % 8 == 0);
  std::array<UInt32<CS>, 8> state;
  for (size_t i = 0; i < 8; ++i) state[i] = UInt32<CS>::constant(kSha256InitialState[i]);
  const size_t blocks = (input.size() + 1 + 64 + 511) / 512;
  std::vector<Boolean<CS>> padded(input.begin(), input.end());
  padded.reserve(blocks * 512);
  padded.push_back(Boolean<CS>::constant(true));
  padded.resize(blocks * 512 - 64, Boolean<CS>::constant(false));
  for (unsigned i = 64; i-- > 0;) padded.push_back(Boolean<CS>::constant(uint64_t{input.size()} >> i & 1));
  for (size_t i = 0; i < blocks; ++i) {
    auto scope = cs.scope("sha256 block", i);
    std::array<UInt32<CS>, 16> block;
    for (size_t j = 0; j < 16; ++j) {
      block[j] = UInt32<CS>::from_bits_be(std::span<const Boolean<CS>>(padded).subspan(i * 512 + j * 32, 32));
    }
    state = sha256_compress(cs, block, state);
  }
  std::vector<Boolean<CS>> out;
  out.reserve(256);
  for (const UInt32<CS>& word : state) {
    for (unsigned i = 32; i-- > 0;) out.push_back(word.bit(i));
  }
  return out;
}

}  // namespace cuzk::gadget
