#include "circuit/linear_combination.hpp"

namespace cuzk {

void LinearCombination::sort_and_merge() {
  if (terms_.size() <= 16) {  // most are two or three terms, nearly in order
    for (size_t i = 1; i < terms_.size(); ++i) {
      const uint64_t term = terms_[i];
      size_t j = i;
      for (; j > 0 && terms_[j - 1] > term; --j) terms_[j] = terms_[j - 1];
      terms_[j] = term;
    }
  } else {
    std::sort(terms_.begin(), terms_.end());
  }
  size_t out = 0;
  for (size_t i = 0; i < terms_.size();) {
    uint64_t term = terms_[i++];
    if (i < terms_.size() && terms_[i] >> 32 == term >> 32) {
      uint32_t id = id_of(term);
      for (; i < terms_.size() && terms_[i] >> 32 == term >> 32; ++i) id = table_->add(id, id_of(terms_[i]));
      if (id == CoefficientTable::kZero) continue;
      term = term >> 32 << 32 | id;
    }
    terms_[out++] = term;
  }
  terms_.resize(out);
  sorted_ = true;
}

}  // namespace cuzk
