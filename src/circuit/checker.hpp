// Checker: runs a circuit with values and tests every constraint as it is added.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "circuit/constraint_system.hpp"
#include "circuit/poseidon_circuit.hpp"
#include "hash/sha256.hpp"

namespace cuzk {

struct ConstraintViolation {
  uint64_t constraint = 0;  // its number
  std::string path;         // the scopes it was added in, "challenge 0/path level 3/sha256 block 1"
};

class Checker {
 public:
  static constexpr bool kHasValues = true;
  static constexpr bool kHasConstraints = true;
  static constexpr bool kPacked = false;
  using Lc = LinearCombination;

  using Violation = ConstraintViolation;

  Checker() = default;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // Before the circuit runs: aux variable `index` will hold `value` and not what the circuit computes. Everything
  // computed from the original value stays, so exactly one wire is wrong.
  void override_aux(uint32_t index, const Fr& value) { overrides_[index] = value; }

  Wire alloc_boolean(bool bit) { return alloc_field(bit ? Fr::one() : Fr::zero()); }
  Wire alloc_field(const Fr& value) {
    const uint32_t index = static_cast<uint32_t>(aux_.size());
    aux_.push_back(value);
    if (!overrides_.empty()) apply_override(index);
    return Wire::aux(index);
  }
  Wire alloc_input(const Fr& value) {
    inputs_.push_back(value);
    return Wire::input(static_cast<uint32_t>(inputs_.size() - 1));
  }
  Wire alloc_derived(const Fr& value) { return alloc_field(value); }
  void begin_derived(unsigned, uint64_t, std::span<const Wire>) {}
  void end_derived() {}

  template <class A, class B, class C>
  void enforce(A&& a, B&& b, C&& c) {
    a_.clear();
    a(a_);
    b_.clear();
    b(b_);
    c_.clear();
    c(c_);
    check();
  }

  // Names the constraints that are added while it lives.
  class Scope {
   public:
    Scope(Checker& checker, const char* name, std::optional<uint64_t> index) : checker_(checker) {
      checker_.path_.push_back({name, index});
    }
    ~Scope() { checker_.path_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Checker& checker_;
  };
  // `name` must outlive the scope.
  Scope scope(const char* name) { return Scope(*this, name, std::nullopt); }
  Scope scope(const char* name, uint64_t index) { return Scope(*this, name, index); }
  Lc make_lc() { return Lc(table_); }
  PoseidonCircuitCache& poseidon_circuits() { return poseidon_; }

  bool satisfied() const { return !violation_.has_value(); }
  // The first constraint that does not hold.
  const std::optional<Violation>& first_violation() const { return violation_; }
  uint64_t num_constraints() const { return num_constraints_; }
  uint64_t num_violations() const { return num_violations_; }
  const std::vector<Fr>& inputs() const { return inputs_; }  // ONE first
  const std::vector<Fr>& aux() const { return aux_; }
  // SHA-256 of the values, 32 little-endian bytes each.
  Sha256Digest inputs_digest() const;
  Sha256Digest aux_digest() const;

 private:
  struct PathElement {
    const char* name;
    std::optional<uint64_t> index;
  };
  const Fr& value(Wire w) const { return w.is_input() ? inputs_[w.index()] : aux_[w.index()]; }
  Fr evaluate(const Lc& lc) const;
  void check();
  void apply_override(uint32_t index);

  CoefficientTable table_;
  PoseidonCircuitCache poseidon_{table_};
  Lc a_{table_}, b_{table_}, c_{table_};
  std::vector<Fr> inputs_ = {Fr::one()};
  std::vector<Fr> aux_;
  std::vector<PathElement> path_;
  std::map<uint32_t, Fr> overrides_;
  std::optional<Violation> violation_;
  uint64_t num_constraints_ = 0, num_violations_ = 0;
};

static_assert(ConstraintSystem<Checker>);

// SHA-256 of the concatenated 32-byte little-endian values.
Sha256Digest digest_of_values(std::span<const Fr> values);

}  // namespace cuzk
