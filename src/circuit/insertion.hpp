// Insertion of a number among siblings at a position given by bits.
//
// Source: storage-proofs-core gadgets/insertion.rs; sizes 2, 4 and 8 share products, any other power of two is general.
#pragma once

#include <span>
#include <vector>

#include "circuit/boolean.hpp"
#include "circuit/num.hpp"

namespace cuzk::gadget {

namespace detail {

// Names as upstream: A is the element, b, c, d, ... the siblings in order, p_i the result, x and y its partial picks.
template <class CS>
std::vector<Num<CS>> insert_2(CS& cs, const Num<CS>& A, std::span<const Boolean<CS>> bits, std::span<const Num<CS>> s) {
  const Num<CS>& b = s[0];
  const Num<CS> p0 = pick(cs, bits[0], b, A);
  const Num<CS> p1 = pick(cs, bits[0], A, b);
  return {p0, p1};
}

template <class CS>
std::vector<Num<CS>> insert_4(CS& cs, const Num<CS>& A, std::span<const Boolean<CS>> bits, std::span<const Num<CS>> s) {
  const Boolean<CS>&b0 = bits[0], &b1 = bits[1];
  const Num<CS>&b = s[0], &c = s[1], &d = s[2];
  const Num<CS> p0x = pick(cs, b0, b, A);
  const Num<CS> p0 = pick(cs, b1, b, p0x);
  const Num<CS> p1x = pick(cs, b0, A, b);
  const Num<CS> p1 = pick(cs, b1, c, p1x);
  const Num<CS> p2x = pick(cs, b0, d, A);
  const Num<CS> p2 = pick(cs, b1, p2x, c);
  const Num<CS> p3x = pick(cs, b0, A, d);
  const Num<CS> p3 = pick(cs, b1, p3x, d);
  return {p0, p1, p2, p3};
}

template <class CS>
std::vector<Num<CS>> insert_8(CS& cs, const Num<CS>& A, std::span<const Boolean<CS>> bits, std::span<const Num<CS>> s) {
  const Boolean<CS>&b0 = bits[0], &b1 = bits[1], &b2 = bits[2];
  const Num<CS>&b = s[0], &c = s[1], &d = s[2], &e = s[3], &f = s[4], &g = s[5], &h = s[6];
  const Boolean<CS> nor = boolean_and(cs, !b0, !b1);
  const Boolean<CS> both = boolean_and(cs, b0, b1);
  const Num<CS> p0x = pick(cs, nor, A, b);
  const Num<CS> p0 = pick(cs, b2, b, p0x);
  const Num<CS> p1x = pick(cs, b0, A, b);
  const Num<CS> p1y = pick(cs, b1, c, p1x);
  const Num<CS> p1 = pick(cs, b2, c, p1y);
  const Num<CS> p2x = pick(cs, b0, d, A);
  const Num<CS> p2y = pick(cs, b1, p2x, c);
  const Num<CS> p2 = pick(cs, b2, d, p2y);
  const Num<CS> p3x = pick(cs, both, A, d);
  const Num<CS> p3 = pick(cs, b2, e, p3x);
  const Num<CS> p4x = pick(cs, nor, A, f);
  const Num<CS> p4 = pick(cs, b2, p4x, e);
  const Num<CS> p5x = pick(cs, b0, A, f);
  const Num<CS> p5y = pick(cs, b1, g, p5x);
  const Num<CS> p5 = pick(cs, b2, p5y, f);
  const Num<CS> p6x = pick(cs, b0, h, A);
  const Num<CS> p6y = pick(cs, b1, p6x, g);
  const Num<CS> p6 = pick(cs, b2, p6y, g);
  const Num<CS> p7x = pick(cs, both, A, h);
  const Num<CS> p7 = pick(cs, b2, p7x, h);
  return {p0, p1, p2, p3, p4, p5, p6, p7};
}

}  // namespace detail

// from[sum 2^i bits_i]; from.size() == 2^bits.size(). from.size() - 1 constraints.
template <class CS>
Num<CS> select(CS& cs, std::span<const Num<CS>> from, std::span<const Boolean<CS>> bits) {
  CUZK_ASSERT(from.size() == size_t{1} << bits.size());
  std::vector<Num<CS>> state(from.begin(), from.end());
  for (size_t level = bits.size(); level-- > 0;) {
    const size_t half = state.size() / 2;
    std::vector<Num<CS>> next;
    next.reserve(half);
    for (size_t j = 0; j < half; ++j) next.push_back(pick(cs, bits[level], state[half + j], state[j]));
    state = std::move(next);
  }
  return state[0];
}

// `elements` with `element` put in at position sum 2^i bits_i; elements.size() + 1 == 2^bits.size(); the bits are
// allocated and not negated. Constraints: 2, 8, 22 for 2, 4, 8 numbers; size * (size - 1) for others.
template <class CS>
std::vector<Num<CS>> insert(CS& cs, const Num<CS>& element, std::span<const Boolean<CS>> bits,
                            std::span<const Num<CS>> elements) {
  const size_t size = elements.size() + 1;
  CUZK_ASSERT(size == size_t{1} << bits.size());
  if (size == 2) return detail::insert_2(cs, element, bits, elements);
  if (size == 4) return detail::insert_4(cs, element, bits, elements);
  if (size == 8) return detail::insert_8(cs, element, bits, elements);
  std::vector<Num<CS>> result;
  for (size_t position = 0; position < size; ++position) {
    std::vector<Num<CS>> choices;
    for (size_t index = 0; index < size; ++index) {
      choices.push_back(position == index ? element : elements[position < index ? position : position - 1]);
    }
    result.push_back(select<CS>(cs, choices, bits));
  }
  return result;
}

}  // namespace cuzk::gadget
