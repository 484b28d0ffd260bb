// A set of small integers whose largest member is not known beforehand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"

namespace cuzk {

class GrowingBits {
 public:
  void insert(size_t i) {
    if (i / 64 >= words_.size()) words_.resize(std::max(i / 64 + 1, words_.size() * 2));
    words_[i / 64] |= uint64_t{1} << (i % 64);
  }
  size_t count() const {
    size_t total = 0;
    for (const uint64_t w : words_) total += static_cast<size_t>(__builtin_popcountll(w));
    return total;
  }
  // Members below `size` as a vector of that length; no member may be larger.
  BitVector to_bit_vector(size_t size) const {
    BitVector out(size);
    std::copy_n(words_.begin(), std::min(words_.size(), out.words().size()), out.words().begin());
    return out;
  }

 private:
  std::vector<uint64_t> words_;
};

// The densities of a circuit under construction: which wires occur in A and in B.
struct Densities {
  GrowingBits a_aux, b_input, b_aux;
};

}  // namespace cuzk
