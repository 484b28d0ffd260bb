#include "circuit/poseidon_circuit.hpp"

#include "base/assert.hpp"
#include "hash/poseidon.hpp"

namespace cuzk {
namespace {

// The state of the circuit as linear combinations over the basis: combination j, coefficient i.
using Combinations = std::vector<std::vector<Fr>>;

class Builder {
 public:
  Builder(const PoseidonConstants& k, PoseidonCircuit& out) : k_(k), out_(out) { out_.lc_start.push_back(0); }

  void record(const std::vector<Fr>& lc) {
    out_.lc_values.insert(out_.lc_values.end(), lc.begin(), lc.end());
    out_.lc_start.push_back(static_cast<uint32_t>(out_.lc_values.size()));
  }

  // After a layer of S-boxes the basis is the state itself, so that a mix is the matrix, column by column; element 0
  // of the first round is the constant `first` times ONE.
  Combinations mix(const std::vector<Fr>& matrix, const Fr& first) const {
    const size_t t = k_.width;
    Combinations state(t, std::vector<Fr>(t));
    for (size_t j = 0; j < t; ++j) {
      for (size_t i = 0; i < t; ++i) state[j][i] = i == 0 ? matrix[j] * first : matrix[i * t + j];
    }
    return state;
  }

  // Element 0 has become the new last basis wire.
  Combinations mix_sparse(const Combinations& state, unsigned round) const {
    const size_t t = k_.width;
    const Fr* w_hat = k_.sparse.data() + round * (2 * t - 1);
    const Fr* v_rest = w_hat + t;
    const size_t basis = state[1].size();
    Combinations next = state;
    next[0].assign(basis + 1, Fr::zero());
    next[0][basis] = w_hat[0];
    for (size_t j = 1; j < t; ++j) {
      for (size_t i = 0; i < basis; ++i) next[0][i] += w_hat[j] * state[j][i];
      next[j].push_back(v_rest[j - 1]);
    }
    return next;
  }

 private:
  const PoseidonConstants& k_;
  PoseidonCircuit& out_;
};

}  // namespace

uint32_t PoseidonCircuit::num_aux() const { return poseidon_trace_size(arity); }

uint32_t poseidon_num_aux(unsigned arity) { return poseidon_trace_size(arity); }

PoseidonCircuit make_poseidon_circuit(unsigned arity, uint64_t tag, CoefficientTable& table) {
  const PoseidonConstants& k = poseidon_constants(arity);
  const size_t t = k.width;
  PoseidonCircuit out;
  out.arity = arity;
  out.width = k.width;
  out.partial_rounds = k.partial_rounds;
  Builder builder(k, out);
  const auto& c = k.compressed;
  const Fr element_0 = (Fr::from_u64(tag) + c[0]).pow(5) + c[t];
  Combinations state = builder.mix(k.mds, element_0);
  for (int round = 1; round <= 3; ++round) {
    for (const auto& lc : state) builder.record(lc);
    state = builder.mix(round < 3 ? k.mds : k.pre_sparse, Fr::one());
  }
  for (unsigned round = 0; round < k.partial_rounds; ++round) {
    builder.record(state[0]);
    state = builder.mix_sparse(state, round);
  }
  for (int round = 0; round < 4; ++round) {
    for (const auto& lc : state) builder.record(lc);
    state = builder.mix(k.mds, Fr::one());
  }
  builder.record(state[1]);

  out.pre.assign(c.begin() + 1, c.begin() + static_cast<std::ptrdiff_t>(t));
  out.post.assign(c.begin() + static_cast<std::ptrdiff_t>(t) + 1, c.end());
  out.post.resize(out.post.size() + t, Fr::zero());  // none in the last round
  for (const Fr& value : out.lc_values) out.lc_ids.push_back(table.intern(value));
  for (const Fr& value : out.pre) out.pre_ids.push_back(table.intern(value));
  for (const Fr& value : out.post) out.minus_post_ids.push_back(table.intern(-value));
  return out;
}

const PoseidonCircuit& PoseidonCircuitCache::get(unsigned arity, uint64_t tag) {
  auto& circuit = circuits_[{arity, tag}];
  if (circuit == nullptr) circuit = std::make_unique<PoseidonCircuit>(make_poseidon_circuit(arity, tag, table_));
  return *circuit;
}

}  // namespace cuzk
