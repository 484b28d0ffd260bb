// Circuits and trapdoors for tests, made by hand so that they do not depend on the circuit compiler.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/hex.hpp"
#include "circuit/circuit_arrays.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/packed_witness.hpp"
#include "groth16/toxic_waste.hpp"

namespace cuzk::test {

inline Fr random_fr(std::mt19937_64& rng) {
  Fr::Limbs limbs{rng(), rng(), rng(), rng() >> 2};
  while (!limbs::less(limbs, Fr::kModulus)) limbs[3] >>= 1;
  return Fr::from_plain(limbs);
}

// alpha = 3, beta = 5, gamma = 7, delta = 11, tau = 13 over the standard generators, as in groth16.md, section 11.
inline ToxicWaste small_toxic_waste() {
  ToxicWaste out;
  out.alpha = Secret(Fr::from_u64(3));
  out.beta = Secret(Fr::from_u64(5));
  out.gamma = Secret(Fr::from_u64(7));
  out.delta = Secret(Fr::from_u64(11));
  out.tau = Secret(Fr::from_u64(13));
  return out;
}

inline ToxicWaste random_toxic(std::mt19937_64& rng) {
  ToxicWaste out;
  for (Secret<Fr>* scalar : {&out.tau, &out.alpha, &out.beta, &out.gamma, &out.delta}) *scalar = Secret(random_fr(rng));
  out.g1 = G1Jacobian::from_affine(G1Curve::generator()).mul(random_fr(rng)).to_affine();
  out.g2 = G2Jacobian::from_affine(G2Curve::generator()).mul(random_fr(rng)).to_affine();
  return out;
}

struct Term {
  Wire wire;
  Fr coefficient;
};
using Terms = std::vector<Term>;

struct Instance {
  CompiledCircuit circuit;
  PackedWitness witness;
};

// Appends wires and rows one by one, keeping values and kinds: a circuit of one block.
class InstanceBuilder {
 public:
  InstanceBuilder() { witness_.inputs.push_back(Fr::one()); }

  Wire input(const Fr& value) {
    witness_.inputs.push_back(value);
    return Wire::input(++block_.num_inputs);
  }
  Wire field(const Fr& value) {
    witness_.fields.push_back(value);
    return aux(value, WireKind::kField);
  }
  Wire bit(bool value) {
    witness_.bits.push_back(value);
    return aux(Fr::from_u64(value), WireKind::kBoolean);
  }
  // (a) * (b) = (c); wires in each ascending (inputs first), coefficients nonzero.
  void row(const Terms& a, const Terms& b, const Terms& c) {
    add(block_.a, a);
    add(block_.b, b);
    add(block_.c, c);
  }
  Fr value(Wire w) const { return w.is_input() ? witness_.inputs[w.index()] : aux_[w.index()]; }
  Fr value(const Terms& terms) const {
    Fr sum = Fr::zero();
    for (const Term& term : terms) sum += term.coefficient * value(term.wire);
    return sum;
  }
  uint32_t num_inputs() const { return 1 + block_.num_inputs; }
  uint32_t num_aux() const { return static_cast<uint32_t>(aux_.size()); }

  Instance finish() {
    CircuitArrays arrays{coefficients_, {std::move(block_)}, {0}, {}};
    return {std::move(make_circuit(std::move(arrays))).value(), std::move(witness_)};
  }

 private:
  Wire aux(const Fr& value, WireKind kind) {
    block_.add_wire(kind);
    aux_.push_back(value);
    return Wire::aux(num_aux() - 1);
  }
  void add(BlockArrays::Rows& rows, const Terms& terms) {
    for (const Term& term : terms) {
      const auto at = std::find(coefficients_.begin(), coefficients_.end(), term.coefficient);
      const auto id = static_cast<uint16_t>(at - coefficients_.begin());
      if (at == coefficients_.end()) coefficients_.push_back(term.coefficient);
      const uint32_t index = term.wire.index();
      rows.push(term.wire == Wire::one() ? Column::one()
                : term.wire.is_input()   ? Column::input(index - 1)
                                         : Column::aux(index),
                id);
    }
    rows.end_row();
  }

  BlockArrays block_;
  std::vector<Fr> coefficients_;
  PackedWitness witness_;
  std::vector<Fr> aux_;
};

// Circuit "mul" of groth16.md: aux a, b; input c := a*b; (a) * (b) = (c).
inline Instance mul_instance(uint64_t a_value, uint64_t b_value) {
  InstanceBuilder builder;
  const Wire a = builder.field(Fr::from_u64(a_value));
  const Wire b = builder.field(Fr::from_u64(b_value));
  const Wire c = builder.input(Fr::from_u64(a_value * b_value));
  builder.row({{a, Fr::one()}}, {{b, Fr::one()}}, {{c, Fr::one()}});
  return builder.finish();
}

// Random rows over bits, fields and inputs; every aux wire is in some row. Satisfied by its witness.
inline Instance random_instance(std::mt19937_64& rng, size_t num_rows) {
  InstanceBuilder builder;
  const Terms one = {{Wire::one(), Fr::one()}};
  for (size_t i = rng() % 4; i > 0; --i) builder.input(random_fr(rng));
  const auto random_terms = [&](size_t count) {
    std::map<uint32_t, Term> terms;  // by position in the order of a linear combination
    for (size_t i = 0; i < count; ++i) {
      const bool input = builder.num_aux() == 0 || rng() % 5 == 0;
      const Wire w = input ? Wire::input(static_cast<uint32_t>(rng() % builder.num_inputs()))
                           : Wire::aux(static_cast<uint32_t>(rng() % builder.num_aux()));
      const Fr coefficient = rng() % 2 ? Fr::one() : rng() % 2 ? -Fr::one() : random_fr(rng);
      terms.insert({w.order_key(), {w, coefficient}});
    }
    Terms out;
    for (const auto& [key, term] : terms) out.push_back(term);
    return out;
  };
  for (size_t i = 0; i < num_rows; ++i) {
    if (rng() % 2) {
      const Wire b = builder.bit(rng() % 2);
      builder.row({{Wire::one(), Fr::one()}, {b, -Fr::one()}}, {{b, Fr::one()}}, {});
      continue;
    }
    const Terms a = random_terms(1 + rng() % 4), b = rng() % 3 ? random_terms(1 + rng() % 3) : one;
    const Fr product = builder.value(a) * builder.value(b);
    const bool input = rng() % 8 == 0;
    const Wire c = input ? builder.input(product) : builder.field(product);
    builder.row(a, b, {{c, Fr::one()}});
  }
  return builder.finish();
}

}  // namespace cuzk::test
