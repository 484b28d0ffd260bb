// Boolean: a constant, an allocated bit or its negation, with the rules by which operations on constants and
// negations cost nothing.
//
// Source: bellpepper-core gadgets/boolean.rs; the order of the rules decides what is allocated.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "circuit/constraint_system.hpp"
#include "circuit/wire.hpp"

namespace cuzk {

enum class BooleanKind : uint8_t { kConstant, kIs, kNot };

template <class CS>
struct Boolean {
  Wire wire;  // where not constant
  BooleanKind kind = BooleanKind::kConstant;
  bool value = false;  // of the Boolean itself, negation included; of a constant in every mode

  static constexpr Boolean constant(bool v) { return {Wire{}, BooleanKind::kConstant, v}; }
  static constexpr Boolean is(Wire w, bool v) { return {w, BooleanKind::kIs, v}; }

  constexpr bool is_constant() const { return kind == BooleanKind::kConstant; }
  constexpr bool is_constant(bool v) const { return is_constant() && value == v; }
  constexpr bool is_negated() const { return kind == BooleanKind::kNot; }
  // Value of the underlying wire.
  constexpr bool wire_value() const { return value != is_negated(); }
  constexpr Boolean operator!() const {
    if (is_constant()) return constant(!value);
    return {wire, kind == BooleanKind::kIs ? BooleanKind::kNot : BooleanKind::kIs, !value};
  }
};

// lc += 2^k * b.
template <class CS, class Lc>
void add_boolean(Lc& lc, const Boolean<CS>& b, unsigned k = 0) {
  if (b.is_constant()) {
    if (b.value) lc.add_shifted(Wire::one(), k);
  } else if (b.is_negated()) {
    lc.add_shifted(Wire::one(), k);
    lc.sub_shifted(b.wire, k);
  } else {
    lc.add_shifted(b.wire, k);
  }
}

// lc -= 2^k * b.
template <class CS, class Lc>
void sub_boolean(Lc& lc, const Boolean<CS>& b, unsigned k = 0) {
  if (b.is_constant()) {
    if (b.value) lc.sub_shifted(Wire::one(), k);
  } else if (b.is_negated()) {
    lc.sub_shifted(Wire::one(), k);
    lc.add_shifted(b.wire, k);
  } else {
    lc.sub_shifted(b.wire, k);
  }
}

namespace gadget {

// One boolean variable and (ONE - b) * (b) = (0).
template <class CS>
Boolean<CS> alloc_bit(CS& cs, bool value) {
  const Wire b = cs.alloc_boolean(value);
  cs.enforce(
      [&](auto& lc) {
        lc.add(Wire::one());
        lc.sub(b);
      },
      [&](auto& lc) { lc.add(b); }, [](auto&) {});
  return Boolean<CS>::is(b, value);
}

// A bit that must be false where `must_be_false` is true: (ONE - f - b) * (b) = (0).
template <class CS>
Boolean<CS> alloc_bit_conditionally(CS& cs, bool value, Wire must_be_false) {
  const Wire b = cs.alloc_boolean(value);
  cs.enforce(
      [&](auto& lc) {
        lc.add(Wire::one());
        lc.sub(must_be_false);
        lc.sub(b);
      },
      [&](auto& lc) { lc.add(b); }, [](auto&) {});
  return Boolean<CS>::is(b, value);
}

// The operations on two allocated bits, ignoring their negation: x and y are wires with their values.
// (2 x) * (y) = (x + y - c)
template <class CS>
Boolean<CS> xor_wires(CS& cs, Wire x, Wire y, bool value) {
  const Wire c = cs.alloc_boolean(value);
  cs.enforce([&](auto& lc) { lc.add_shifted(x, 1); }, [&](auto& lc) { lc.add(y); },
             [&](auto& lc) {
               lc.add(x);
               lc.add(y);
               lc.sub(c);
             });
  return Boolean<CS>::is(c, value);
}

// (x or ONE - x) * (y or ONE - y) = (c), negated as said.
template <class CS>
Boolean<CS> and_wires(CS& cs, Wire x, bool negate_x, Wire y, bool negate_y, bool value) {
  const Wire c = cs.alloc_boolean(value);
  auto factor = [](auto& lc, Wire w, bool negate) {
    if (negate) {
      lc.add(Wire::one());
      lc.sub(w);
    } else {
      lc.add(w);
    }
  };
  cs.enforce([&](auto& lc) { factor(lc, x, negate_x); }, [&](auto& lc) { factor(lc, y, negate_y); },
             [&](auto& lc) { lc.add(c); });
  return Boolean<CS>::is(c, value);
}

template <class CS>
Boolean<CS> boolean_xor(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  if (a.is_constant(false)) return b;
  if (b.is_constant(false)) return a;
  if (a.is_constant(true)) return !b;
  if (b.is_constant(true)) return !a;
  const bool value = a.wire_value() != b.wire_value();
  if (a.is_negated() == b.is_negated()) return xor_wires(cs, a.wire, b.wire, value);
  // The operand that is not negated comes first.
  return a.is_negated() ? !xor_wires(cs, b.wire, a.wire, value) : !xor_wires(cs, a.wire, b.wire, value);
}

template <class CS>
Boolean<CS> boolean_and(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  if (a.is_constant(false) || b.is_constant(false)) return Boolean<CS>::constant(false);
  if (a.is_constant(true)) return b;
  if (b.is_constant(true)) return a;
  const bool value = a.value && b.value;
  // Where one is negated, the other comes first.
  if (a.is_negated() && !b.is_negated()) return and_wires(cs, b.wire, false, a.wire, true, value);
  return and_wires(cs, a.wire, a.is_negated(), b.wire, b.is_negated(), value);
}

template <class CS>
Boolean<CS> boolean_or(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  return !boolean_and(cs, !a, !b);
}

// (a and b) xor (not a and c).
template <class CS>
Boolean<CS> boolean_ch(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b, const Boolean<CS>& c) {
  const bool value = a.value ? b.value : c.value;
  if (a.is_constant() && b.is_constant() && c.is_constant()) return Boolean<CS>::constant(value);
  if (a.is_constant(false)) return c;
  if (b.is_constant(false)) return boolean_and(cs, !a, c);
  if (c.is_constant(false)) return boolean_and(cs, a, b);
  if (c.is_constant(true)) return !boolean_and(cs, a, !b);
  if (b.is_constant(true)) return !boolean_and(cs, !a, !c);
  const Wire ch = cs.alloc_boolean(value);
  cs.enforce(
      [&](auto& lc) {
        add_boolean(lc, b);
        sub_boolean(lc, c);
      },
      [&](auto& lc) { add_boolean(lc, a); },
      [&](auto& lc) {
        lc.add(ch);
        sub_boolean(lc, c);
      });
  return Boolean<CS>::is(ch, value);
}

// The majority of three.
template <class CS>
Boolean<CS> boolean_maj(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b, const Boolean<CS>& c) {
  const bool value = (a.value && b.value) || (a.value && c.value) || (b.value && c.value);
  if (a.is_constant() && b.is_constant() && c.is_constant()) return Boolean<CS>::constant(value);
  if (a.is_constant(false)) return boolean_and(cs, b, c);
  if (b.is_constant(false)) return boolean_and(cs, a, c);
  if (c.is_constant(false)) return boolean_and(cs, a, b);
  if (c.is_constant(true)) return !boolean_and(cs, !a, !b);
  if (b.is_constant(true)) return !boolean_and(cs, !a, !c);
  if (a.is_constant(true)) return !boolean_and(cs, !b, !c);
  const Wire maj = cs.alloc_boolean(value);  // before the product, unlike its constraint
  const Boolean<CS> bc = boolean_and(cs, b, c);
  cs.enforce(
      [&](auto& lc) {
        add_boolean(lc, bc, 1);
        sub_boolean(lc, b);
        sub_boolean(lc, c);
      },
      [&](auto& lc) { add_boolean(lc, a); },
      [&](auto& lc) {
        add_boolean(lc, bc);
        lc.sub(maj);
      });
  return Boolean<CS>::is(maj, value);
}

// No variable; no constraint between equal constants. Two different constants give an unsatisfiable constraint.
template <class CS>
void enforce_booleans_equal(CS& cs, const Boolean<CS>& a, const Boolean<CS>& b) {
  if (a.is_constant() && b.is_constant() && a.value == b.value) return;
  cs.enforce([](auto&) {}, [](auto&) {},
             [&](auto& lc) {
               const bool swap = a.is_constant(false) || b.is_constant(true);
               add_boolean(lc, swap ? b : a);
               sub_boolean(lc, swap ? a : b);
             });
}

}  // namespace gadget
}  // namespace cuzk
