#include "circuit/coefficient_table.hpp"

#include "base/assert.hpp"

namespace cuzk {

CoefficientTable::CoefficientTable() : slots_(1 << 12, kEmpty), mask_(slots_.size() - 1) {
  intern(Fr::zero());
  Fr power = Fr::one();
  for (unsigned k = 0; k <= kMaxPower; ++k, power = power.dbl()) {
    const uint32_t id = intern(power);
    CUZK_ASSERT(id == power_of_two(k));
  }
  for (unsigned k = 0; k <= kMaxPower; ++k) {
    const uint32_t id = intern(-values_[power_of_two(k)]);
    CUZK_ASSERT(id == negative_power_of_two(k));
  }
}

uint32_t CoefficientTable::insert(const Fr& value, size_t slot) {
  const uint32_t id = static_cast<uint32_t>(values_.size());
  values_.push_back(value);
  slots_[slot] = id;
  if (values_.size() * 2 > slots_.size()) grow();
  return id;
}

void CoefficientTable::grow() {
  slots_.assign(slots_.size() * 2, kEmpty);
  mask_ = slots_.size() - 1;
  for (uint32_t id = 0; id < values_.size(); ++id) {
    size_t slot = hash(values_[id]) & mask_;
    while (slots_[slot] != kEmpty) slot = (slot + 1) & mask_;
    slots_[slot] = id;
  }
}

}  // namespace cuzk
