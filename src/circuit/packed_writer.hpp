// PackedWriter: runs a circuit with values and writes nothing but the packed witness.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "circuit/constraint_system.hpp"
#include "circuit/packed_witness.hpp"

namespace cuzk {

// Wires that it returns say nothing: no constraint is built, so nothing needs them.
class PackedWriter {
 public:
  static constexpr bool kHasValues = true;
  static constexpr bool kHasConstraints = false;
  static constexpr bool kPacked = true;
  using Lc = NoLinearCombination;

  // `expected_bits` and `expected_fields` save copies while the witness grows; 0 where unknown.
  explicit PackedWriter(size_t expected_bits = 0, size_t expected_fields = 0) {
    words_.resize(expected_bits / 64 + 64);
    fields_.reserve(expected_fields);
  }
  PackedWriter(const PackedWriter&) = delete;
  PackedWriter& operator=(const PackedWriter&) = delete;

  Wire alloc_boolean(bool bit) {
    append_bits(bit, 1);
    return {};
  }
  Wire alloc_field(const Fr& value) {
    fields_.push_back(value);
    return {};
  }
  Wire alloc_input(const Fr& value) {
    inputs_.push_back(value);
    return {};
  }
  // `count` boolean variables at once, 0 <= count <= 64, lowest bit first; bits above count must be zero.
  //
  // Without a branch on whether a word fills up: the lengths of SHA-256's sums make that unpredictable, and a
  // mispredicted branch costs as much as five appends.
  [[gnu::always_inline]] void append_bits(uint64_t bits, unsigned count) {
    pending_ |= bits << used_;
    words_[full_words_] = pending_;
    const uint64_t rest = bits >> (63 - used_) >> 1;  // what did not fit, should the word be full
    const unsigned total = used_ + count;
    pending_ = total >= 64 ? rest : pending_;
    full_words_ += total / 64;
    used_ = total % 64;
    if (full_words_ == words_.size()) [[unlikely]]
      words_.resize(2 * words_.size());
  }

  template <class A, class B, class C>
  void enforce(A&&, B&&, C&&) {}
  NoScope scope(const char*) { return {}; }
  NoScope scope(const char*, uint64_t) { return {}; }
  Lc make_lc() { return {}; }

  // The witness; the writer must not be used again.
  PackedWitness finish() {
    PackedWitness out;
    words_[full_words_] = pending_;
    out.bits = BitVector(full_words_ * 64 + used_);
    std::copy_n(words_.begin(), out.bits.words().size(), out.bits.words().begin());
    out.inputs = std::move(inputs_);
    out.fields = std::move(fields_);
    return out;
  }

 private:
  std::vector<Fr> inputs_ = {Fr::one()};
  std::vector<Fr> fields_;
  std::vector<uint64_t> words_;  // room for at least one word more than is full
  size_t full_words_ = 0;
  uint64_t pending_ = 0;  // the word after those
  unsigned used_ = 0;     // bits in pending_, below 64
};

static_assert(ConstraintSystem<PackedWriter>);

}  // namespace cuzk
