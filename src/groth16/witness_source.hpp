// Witnesses of one circuit that are proved together, asked for one after the other: whoever makes, reads or receives
// them can do so while the one before is worked on, and nobody holds all of them.
#pragma once

#include <span>

#include "base/result.hpp"
#include "circuit/packed_witness.hpp"

namespace cuzk {

class WitnessSource {
 public:
  virtual ~WitnessSource() = default;
  // How many there will be, at least 1.
  virtual unsigned size() const = 0;
  // Number k, after k - 1, which is not used any more; it stays until the next call. nullptr, for k > 0 only: there
  // will be no more of them.
  virtual Result<const PackedWitness*> get(unsigned k) = 0;
};

// Those that are there already.
class WitnessList final : public WitnessSource {
 public:
  explicit WitnessList(std::span<const PackedWitness* const> witnesses) : witnesses_(witnesses) {}
  unsigned size() const override { return static_cast<unsigned>(witnesses_.size()); }
  Result<const PackedWitness*> get(unsigned k) override { return witnesses_[k]; }

 private:
  const std::span<const PackedWitness* const> witnesses_;
};

}  // namespace cuzk
