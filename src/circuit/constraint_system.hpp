// The concept that a circuit is written against, and what its modes share.
//
// A circuit is one C++ template over a constraint system CS. Modes: Recorder (-> CompiledCircuit), PackedWriter
// (-> PackedWitness), Checker (values and constraints), Digester (check values without storage). A fresh system
// holds the input ONE. Numbers of variables and constraints follow the order of the calls.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "circuit/linear_combination.hpp"
#include "circuit/wire.hpp"
#include "field/fr.hpp"

namespace cuzk {

// What scope() returns where names are not kept. The destructor only silences warnings about unused variables.
struct NoScope {
  NoScope() = default;
  NoScope(const NoScope&) = delete;
  NoScope& operator=(const NoScope&) = delete;
  ~NoScope() {}
};

// CS::Lc is LinearCombination where kHasConstraints, NoLinearCombination otherwise.
// Values given to alloc_* are ignored where !kHasValues ("blank"): pass anything.
// enforce(a, b, c) takes three callables that add terms to a CS::Lc&; they are not run where !kHasConstraints.
// A variable is allocated before it is used in a constraint.
// begin_derived(arity, tag, preimage) .. alloc_derived(v) * .. end_derived() bracket the aux wires of one Poseidon
// hash; between them only alloc_derived and enforce may be called. kPacked systems call skip_derived instead.
template <class CS>
concept ConstraintSystem = requires(CS cs, const Fr& value, bool bit, std::span<const Wire> wires) {
  { CS::kHasValues } -> std::convertible_to<bool>;
  { CS::kHasConstraints } -> std::convertible_to<bool>;
  { CS::kPacked } -> std::convertible_to<bool>;
  typename CS::Lc;
  { cs.alloc_boolean(bit) } -> std::same_as<Wire>;
  { cs.alloc_field(value) } -> std::same_as<Wire>;
  { cs.alloc_input(value) } -> std::same_as<Wire>;
  { cs.make_lc() } -> std::same_as<typename CS::Lc>;
  cs.enforce([](auto&) {}, [](auto&) {}, [](auto&) {});
  cs.scope("name");
  cs.scope("name", uint64_t{0});
};

}  // namespace cuzk
