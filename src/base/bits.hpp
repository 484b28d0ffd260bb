// A growing vector of bits in 64-bit words, least significant bit first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"

namespace cuzk {

class BitVector {
 public:
  BitVector() = default;
  explicit BitVector(size_t size) : words_((size + 63) / 64), size_(size) {}

  size_t size() const { return size_; }
  // The bits beyond size() in the last word are zero.
  std::span<const uint64_t> words() const { return words_; }
  std::span<uint64_t> words() { return words_; }
  bool get(size_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  void set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void reserve(size_t bits) { words_.reserve((bits + 63) / 64 + 1); }
  void push_back(bool bit) { append(bit, 1); }
  // Appends the low `count` bits of `bits`, lowest first; count in 0..64. Bits above count must be zero.
  void append(uint64_t bits, unsigned count) {
    if (count == 0) return;
    const unsigned used = size_ % 64;
    if (used == 0) {
      words_.push_back(bits);
    } else {
      words_.back() |= bits << used;
      if (used + count > 64) words_.push_back(bits >> (64 - used));
    }
    size_ += count;
  }
  size_t count() const {
    size_t total = 0;
    for (const uint64_t w : words_) total += static_cast<size_t>(__builtin_popcountll(w));
    return total;
  }
  friend bool operator==(const BitVector& a, const BitVector& b) = default;

 private:
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

}  // namespace cuzk
