#include "circuit/digester.hpp"

namespace cuzk {

void Digester::extend_bytes() {
  for (size_t id = bytes_.size(); id < table_.size(); ++id) {
    bytes_.push_back(table_.value(static_cast<uint32_t>(id)).to_bytes_le());
  }
}

void Digester::write() {
  stream_.begin_lc(static_cast<uint32_t>(lc_.terms().size()));
  for (const uint64_t term : lc_.terms()) stream_.term(Lc::wire_of(term), coefficient_bytes(Lc::id_of(term)));
}

void Digester::put_a() {
  lc_.normalize();
  counts_.a_terms += lc_.terms().size();
  for (const uint64_t term : lc_.terms()) {
    const Wire w = Lc::wire_of(term);
    if (!w.is_input()) densities_.a_aux.insert(w.index());
  }
  write();
}

void Digester::put_b() {
  lc_.normalize();
  counts_.b_terms += lc_.terms().size();
  for (const uint64_t term : lc_.terms()) {
    const Wire w = Lc::wire_of(term);
    (w.is_input() ? densities_.b_input : densities_.b_aux).insert(w.index());
  }
  write();
}

void Digester::put_c() {
  lc_.normalize();
  counts_.c_terms += lc_.terms().size();
  write();
}

CircuitSummary Digester::summary() {
  CircuitSummary out = counts_;
  out.num_inputs = num_inputs_;
  out.num_aux = num_aux_;
  out.a_aux_density = densities_.a_aux.count();
  out.b_input_density = densities_.b_input.count();
  out.b_aux_density = densities_.b_aux.count();
  out.r1cs_digest = stream_.digest(out.num_inputs, out.num_aux, out.num_constraints);
  return out;
}

}  // namespace cuzk
