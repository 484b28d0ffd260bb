#include "circuit/checker.hpp"

namespace cuzk {

Fr Checker::evaluate(const Lc& lc) const {
  Fr sum = Fr::zero();
  for (const uint64_t term : lc.terms()) {
    const Fr& v = value(Lc::wire_of(term));
    if (v.is_zero()) continue;
    const uint32_t id = Lc::id_of(term);
    if (id == CoefficientTable::kOne) {
      sum += v;
    } else if (id == CoefficientTable::kMinusOne) {
      sum -= v;
    } else if (v.is_one()) {
      sum += table_.value(id);
    } else {
      sum += table_.value(id) * v;
    }
  }
  return sum;
}

void Checker::check() {
  const uint64_t number = num_constraints_++;
  if (evaluate(a_) * evaluate(b_) == evaluate(c_)) return;
  ++num_violations_;
  if (violation_) return;
  violation_.emplace();
  violation_->constraint = number;
  for (const PathElement& element : path_) {
    if (!violation_->path.empty()) violation_->path += '/';
    violation_->path += element.name;
    if (element.index) violation_->path += ' ' + std::to_string(*element.index);
  }
}

void Checker::apply_override(uint32_t index) {
  const auto it = overrides_.find(index);
  if (it != overrides_.end()) aux_[index] = it->second;
}

Sha256Digest digest_of_values(std::span<const Fr> values) {
  Sha256 hash;
  for (const Fr& value : values) hash.update(value.to_bytes_le());
  return hash.finish();
}

Sha256Digest Checker::inputs_digest() const { return digest_of_values(inputs_); }
Sha256Digest Checker::aux_digest() const { return digest_of_values(aux_); }

}  // namespace cuzk
