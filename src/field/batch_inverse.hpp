// Inverses of many elements for the price of one inversion and three multiplications an element (Montgomery's trick).
#pragma once

#include <span>
#include <vector>

#include "base/assert.hpp"

namespace cuzk {

// Replaces every element by its inverse; zeros stay zero. F is any field type here. scratch.size() >= values.size();
// its contents are overwritten. Not constant time: public values only.
template <class F>
constexpr void batch_inverse(std::span<F> values, std::span<F> scratch) {
  CUZK_ASSERT(scratch.size() >= values.size());
  F product = F::one();
  for (size_t i = 0; i < values.size(); ++i) {
    scratch[i] = product;
    if (!values[i].is_zero()) product *= values[i];
  }
  F inverse = product.inverse();
  for (size_t i = values.size(); i-- > 0;) {
    if (values[i].is_zero()) continue;
    const F next = inverse * values[i];
    values[i] = inverse * scratch[i];
    inverse = next;
  }
}

// The same with scratch of its own (values.size() elements).
template <class F>
void batch_inverse(std::span<F> values) {
  std::vector<F> scratch(values.size());
  batch_inverse<F>(values, scratch);
}

}  // namespace cuzk
