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
    words_.reserve(expected_bits / 64 + 1);
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
  // `count` boolean variables at once, 1 <= count <= 64, lowest bit first; bits above count must be zero.
  void append_bits(uint64_t bits, unsigned count) {
    pending_ |= bits << used_;
    used_ += count;
    if (used_ >= 64) {
      words_.push_back(pending_);
      used_ -= 64;
      // used_ bits of `bits` are left, at its top; none where it just fitted (a shift by 64 is undefined).
      pending_ = used_ == 0 ? 0 : bits >> (count - used_);
    }
  }

  template <class A, class B, class C>
  void enforce(A&&, B&&, C&&) {}
  NoScope scope(const char*) { return {}; }
  NoScope scope(const char*, uint64_t) { return {}; }
  Lc make_lc() { return {}; }

  // The witness; the writer must not be used again.
  PackedWitness finish() {
    PackedWitness out;
    const size_t size = words_.size() * 64 + used_;
    if (used_ > 0) words_.push_back(pending_);
    out.bits = BitVector(size);
    std::copy(words_.begin(), words_.end(), out.bits.words().begin());
    out.inputs = std::move(inputs_);
    out.fields = std::move(fields_);
    return out;
  }

 private:
  std::vector<Fr> inputs_ = {Fr::one()};
  std::vector<Fr> fields_;
  std::vector<uint64_t> words_;
  uint64_t pending_ = 0;
  unsigned used_ = 0;  // bits in pending_, below 64
};

static_assert(ConstraintSystem<PackedWriter>);

}  // namespace cuzk
