// Num: one variable that holds a field element, with the arithmetic gadgets on it.
//
// Source: bellpepper-core gadgets/num.rs, storage-proofs-core gadgets/{constraint,encode}.rs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "circuit/boolean.hpp"
#include "circuit/constraint_system.hpp"
#include "circuit/wire.hpp"
#include "field/fr.hpp"

namespace cuzk {

template <class CS>
struct Num {
  Wire wire;
  Fr value;  // where CS::kHasValues; unspecified otherwise
};

namespace gadget {

// compute() where the mode has values, zero otherwise: blank circuits never touch a witness.
template <class CS, class F>
Fr value_of(F&& compute) {
  if constexpr (CS::kHasValues) return compute();
  return Fr::zero();
}

template <class CS>
Num<CS> alloc_num(CS& cs, const Fr& value) {
  return {cs.alloc_field(value), value};
}

template <class CS>
Num<CS> alloc_input(CS& cs, const Fr& value) {
  return {cs.alloc_input(value), value};
}

// A new input equal to x: (i) * (ONE) = (x).
template <class CS>
void inputize(CS& cs, const Num<CS>& x) {
  const Wire input = cs.alloc_input(x.value);
  cs.enforce([&](auto& lc) { lc.add(input); }, [](auto& lc) { lc.add(Wire::one()); },
             [&](auto& lc) { lc.add(x.wire); });
}

// (a) * (ONE) = (b); no variable.
template <class CS>
void equal(CS& cs, const Num<CS>& a, const Num<CS>& b) {
  cs.enforce([&](auto& lc) { lc.add(a.wire); }, [](auto& lc) { lc.add(Wire::one()); },
             [&](auto& lc) { lc.add(b.wire); });
}

// (a + b) * (ONE) = (s); no variable.
template <class CS>
void enforce_sum(CS& cs, const Num<CS>& a, const Num<CS>& b, const Num<CS>& s) {
  cs.enforce(
      [&](auto& lc) {
        lc.add(a.wire);
        lc.add(b.wire);
      },
      [](auto& lc) { lc.add(Wire::one()); }, [&](auto& lc) { lc.add(s.wire); });
}

template <class CS>
Num<CS> add(CS& cs, const Num<CS>& a, const Num<CS>& b) {
  const Num<CS> s = alloc_num(cs, value_of<CS>([&] { return a.value + b.value; }));
  enforce_sum(cs, a, b, s);
  return s;
}

// d := a - b; (d + b) * (ONE) = (a).
template <class CS>
Num<CS> sub(CS& cs, const Num<CS>& a, const Num<CS>& b) {
  const Num<CS> d = alloc_num(cs, value_of<CS>([&] { return a.value - b.value; }));
  enforce_sum(cs, d, b, a);
  return d;
}

template <class CS>
Num<CS> mul(CS& cs, const Num<CS>& a, const Num<CS>& b) {
  const Num<CS> p = alloc_num(cs, value_of<CS>([&] { return a.value * b.value; }));
  cs.enforce([&](auto& lc) { lc.add(a.wire); }, [&](auto& lc) { lc.add(b.wire); }, [&](auto& lc) { lc.add(p.wire); });
  return p;
}

template <class CS>
Num<CS> square(CS& cs, const Num<CS>& a) {
  return mul(cs, a, a);
}

// (a) * (t) = (ONE) with t := 1/a. Unsatisfiable where a = 0.
template <class CS>
void assert_nonzero(CS& cs, const Num<CS>& a) {
  const Wire t = cs.alloc_field(value_of<CS>([&] { return a.value.inverse(); }));
  cs.enforce([&](auto& lc) { lc.add(a.wire); }, [&](auto& lc) { lc.add(t); }, [](auto& lc) { lc.add(Wire::one()); });
}

// cond ? first : second, as c with (second - first) * (cond) = (second - c).
template <class CS>
Num<CS> pick(CS& cs, const Boolean<CS>& cond, const Num<CS>& first, const Num<CS>& second) {
  const Num<CS> c = alloc_num(cs, value_of<CS>([&] { return cond.value ? first.value : second.value; }));
  cs.enforce(
      [&](auto& lc) {
        lc.add(second.wire);
        lc.sub(first.wire);
      },
      [&](auto& lc) { add_boolean(lc, cond); },
      [&](auto& lc) {
        lc.add(second.wire);
        lc.sub(c.wire);
      });
  return c;
}

// (a, b), or (b, a) where cond is true. Two variables, two constraints.
template <class CS>
std::pair<Num<CS>, Num<CS>> conditionally_reverse(CS& cs, const Num<CS>& a, const Num<CS>& b, const Boolean<CS>& cond) {
  const Num<CS> c = pick(cs, cond, b, a);
  const Num<CS> d = pick(cs, cond, a, b);
  return {c, d};
}

// The low `count` (<= 64) bits of `value`, least significant first, each with its boolean constraint.
template <class CS>
void alloc_bits_le(CS& cs, uint64_t value, unsigned count, std::vector<Boolean<CS>>& out) {
  if constexpr (CS::kPacked) {
    cs.append_bits(count == 64 ? value : value & ((uint64_t{1} << count) - 1), count);
    for (unsigned i = 0; i < count; ++i) out.push_back(Boolean<CS>::is(Wire{}, value >> i & 1));
  } else {
    for (unsigned i = 0; i < count; ++i) out.push_back(alloc_bit(cs, value >> i & 1));
  }
}

// (0) * (0) = (sum 2^i bit_i - x), the bits allocated and not negated.
template <class CS>
void enforce_unpacking(CS& cs, const std::vector<Boolean<CS>>& bits, const Num<CS>& x) {
  cs.enforce([](auto&) {}, [](auto&) {},
             [&](auto& lc) {
               for (size_t i = 0; i < bits.size(); ++i) lc.add_shifted(bits[i].wire, static_cast<unsigned>(i));
               lc.sub(x.wire);
             });
}

// The 255 bits of x, least significant first; not canonical (x + r fits too for small x). 255 variables, 256
// constraints.
template <class CS>
std::vector<Boolean<CS>> to_bits_le(CS& cs, const Num<CS>& x) {
  std::vector<Boolean<CS>> bits;
  bits.reserve(256);
  Fr::Limbs plain{};
  if constexpr (CS::kHasValues) plain = x.value.to_plain();
  for (size_t i = 0; i < 4; ++i) alloc_bits_le(cs, plain[i], i == 3 ? 63 : 64, bits);
  enforce_unpacking(cs, bits, x);
  return bits;
}

// The 255 bits of x, least significant first, of the canonical value: 387 variables, 388 constraints. No circuit of
// Filecoin uses it.
template <class CS>
std::vector<Boolean<CS>> to_bits_le_strict(CS& cs, const Num<CS>& x) {
  Fr::Limbs plain{};
  if constexpr (CS::kHasValues) plain = x.value.to_plain();
  Fr::Limbs bound = Fr::kModulus;
  bound[0] -= 1;  // r - 1; r is odd
  std::vector<Boolean<CS>> bits(255), run;
  Boolean<CS> last_run;
  bool has_last_run = false;
  for (size_t i = 255; i-- > 0;) {
    const bool bit = plain[i / 64] >> (i % 64) & 1;
    if (bound[i / 64] >> (i % 64) & 1) {
      bits[i] = alloc_bit(cs, bit);
      run.push_back(bits[i]);
      continue;
    }
    if (!run.empty()) {
      if (has_last_run) run.push_back(last_run);
      last_run = run[0];
      for (size_t j = 1; j < run.size(); ++j) last_run = boolean_and(cs, last_run, run[j]);
      has_last_run = true;
      run.clear();
    }
    bits[i] = alloc_bit_conditionally(cs, bit, last_run.wire);  // r - 1 begins with a one, so last_run exists
  }
  enforce_unpacking(cs, bits, x);
  return bits;
}

}  // namespace gadget
}  // namespace cuzk
