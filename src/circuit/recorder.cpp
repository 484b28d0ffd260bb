#include "circuit/recorder.hpp"

#include <utility>

namespace cuzk {

Recorder::Recorder() {
  for (CsrMatrix* m : {&ma_, &mb_, &mc_}) m->row_start.push_back(0);
}

void Recorder::begin_derived(unsigned arity, uint64_t tag, std::span<const Wire> preimage) {
  CUZK_ASSERT(!in_derived_ && preimage.size() == arity);
  in_derived_ = true;
  derived_.push_back({arity, num_aux_, 0, static_cast<uint32_t>(derived_inputs_.size()), tag});
  for (const Wire w : preimage) derived_inputs_.push_back(w.raw);
}

void Recorder::end_derived() {
  CUZK_ASSERT(in_derived_);
  in_derived_ = false;
  DerivedInstance& instance = derived_.back();
  instance.num_aux = num_aux_ - instance.first_aux;
  CUZK_ASSERT(instance.num_aux == poseidon_num_aux(instance.arity));
}

void Recorder::append(CsrMatrix& matrix, const LinearCombination& lc) {
  for (const uint64_t term : lc.terms()) {
    matrix.wire.push_back(LinearCombination::wire_of(term).raw);
    matrix.coefficient.push_back(LinearCombination::id_of(term));
  }
  matrix.row_start.push_back(matrix.wire.size());
}

void Recorder::record() {
  for (Lc* lc : {&a_, &b_, &c_}) lc->normalize();
  for (const uint64_t term : a_.terms()) {
    const Wire w = Lc::wire_of(term);
    if (!w.is_input()) densities_.a_aux.insert(w.index());
  }
  for (const uint64_t term : b_.terms()) {
    const Wire w = Lc::wire_of(term);
    (w.is_input() ? densities_.b_input : densities_.b_aux).insert(w.index());
  }
  append(ma_, a_);
  append(mb_, b_);
  append(mc_, c_);
  ++num_constraints_;
}

// The table also holds sums that were merged further and constants of no constraint; keep what is used, in the
// table's order.
void Recorder::compact_coefficients(CompiledCircuit& out) const {
  constexpr uint32_t kUnused = 0xffffffff;
  std::vector<uint32_t> new_id(table_.size(), kUnused);
  for (const CsrMatrix* m : {&out.a, &out.b, &out.c}) {
    for (const uint32_t id : m->coefficient) new_id[id] = 0;
  }
  for (uint32_t id = 0; id < new_id.size(); ++id) {
    if (new_id[id] == kUnused) continue;
    new_id[id] = static_cast<uint32_t>(out.coefficients.size());
    out.coefficients.push_back(table_.value(id));
  }
  for (CsrMatrix* m : {&out.a, &out.b, &out.c}) {
    for (uint32_t& id : m->coefficient) id = new_id[id];
  }
}

CompiledCircuit Recorder::finish() {
  CUZK_ASSERT(!in_derived_);
  CompiledCircuit out;
  out.num_inputs = num_inputs_;
  out.num_aux = num_aux_;
  out.num_constraints = num_constraints_;
  out.a = std::move(ma_);
  out.b = std::move(mb_);
  out.c = std::move(mc_);
  for (CsrMatrix* m : {&out.a, &out.b, &out.c}) {
    m->wire.shrink_to_fit();
    m->coefficient.shrink_to_fit();
    m->row_start.shrink_to_fit();
  }
  compact_coefficients(out);
  out.kinds = std::move(kinds_);
  out.derived = std::move(derived_);
  out.derived_inputs = std::move(derived_inputs_);
  out.a_aux_density = densities_.a_aux.to_bit_vector(num_aux_);
  out.b_input_density = densities_.b_input.to_bit_vector(num_inputs_);
  out.b_aux_density = densities_.b_aux.to_bit_vector(num_aux_);
  return out;
}

}  // namespace cuzk
