// A sparse matrix whose equal parts are stored once.
//
// A circuit is mostly one sub-circuit many times. A *block* holds rows whose columns do not name wires but say how to
// find them; an *instance* of the block says where its wires and rows begin. The three matrices of a circuit have the
// same instances. A matrix without repetition is one block with one instance.
//
// This layer is below circuit/, so a wire is a number: bit 31 set for inputs, the index in the low bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "field/fr.hpp"

namespace cuzk {

inline constexpr uint32_t kInputWireFlag = uint32_t{1} << 31;
inline constexpr uint32_t kOneWire = kInputWireFlag;  // input 0

// Where the term of a block finds its wire: the kind in the two high bits, an index in the others.
struct Column {
  enum class Kind : uint32_t {
    kOne,    // input 0; the index is 0
    kInput,  // input first_input + index
    kAux,    // aux wire first_aux + index
    kPort,   // ports[first_port + index]: a wire from before the instance
  };
  static constexpr unsigned kIndexBits = 30;
  static constexpr uint32_t kMaxIndex = (uint32_t{1} << kIndexBits) - 1;

  uint32_t raw = 0;

  static constexpr Column of(Kind kind, uint32_t index) { return {static_cast<uint32_t>(kind) << kIndexBits | index}; }
  static constexpr Column one() { return of(Kind::kOne, 0); }
  static constexpr Column input(uint32_t index) { return of(Kind::kInput, index); }
  static constexpr Column aux(uint32_t index) { return of(Kind::kAux, index); }
  static constexpr Column port(uint32_t index) { return of(Kind::kPort, index); }
  constexpr Kind kind() const { return static_cast<Kind>(raw >> kIndexBits); }
  constexpr uint32_t index() const { return raw & kMaxIndex; }
  friend constexpr bool operator==(const Column&, const Column&) = default;
};

// The rows of a block in one matrix. Row i owns entries row_start[i] .. row_start[i+1]; in a row the raw columns
// ascend strictly. `coefficient` is an index into a dictionary.
struct BlockRows {
  std::span<const uint32_t> row_start;  // one element more than there are rows
  std::span<const Column> column;
  std::span<const uint16_t> coefficient;

  uint32_t num_rows() const { return row_start.empty() ? 0 : static_cast<uint32_t>(row_start.size() - 1); }
  uint64_t num_terms() const { return column.size(); }
  bool has_port(uint32_t row) const {
    return row_start[row] < row_start[row + 1] && column[row_start[row + 1] - 1].kind() == Column::Kind::kPort;
  }
};

// One use of a block. Everything but `block` is the sum over the instances before it.
struct BlockInstance {
  uint32_t block = 0;
  uint32_t first_row = 0;
  uint32_t first_input = 1;  // ONE belongs to no instance
  uint32_t first_aux = 0;
  uint32_t first_port = 0;
  uint32_t first_bit = 0, first_field = 0;  // of the packed witness

  // The wire of a column, as a raw number. `ports` are those of all instances.
  uint32_t wire(Column column, std::span<const uint32_t> ports) const {
    switch (column.kind()) {
      case Column::Kind::kOne: return kOneWire;
      case Column::Kind::kInput: return kInputWireFlag | (first_input + column.index());
      case Column::Kind::kAux: return first_aux + column.index();
      case Column::Kind::kPort: break;
    }
    return ports[first_port + column.index()];
  }
};

// A view; what it shows must outlive it. Indices are in range and ports lie before their instance: who makes a circuit
// guarantees it.
struct BlockMatrix {
  std::vector<BlockRows> blocks;
  std::span<const BlockInstance> instances;
  std::span<const uint32_t> ports;
  uint64_t num_rows = 0;

  const BlockRows& rows(const BlockInstance& instance) const { return blocks[instance.block]; }
  // Counted once for every instance.
  uint64_t num_terms() const {
    uint64_t total = 0;
    for (const BlockInstance& instance : instances) total += rows(instance).num_terms();
    return total;
  }
  // visit(row, raw wire, coefficient index) for every term in order of rows; wires in no particular order.
  template <class Visit>
  void for_each_term(Visit&& visit) const {
    for (const BlockInstance& instance : instances) {
      const BlockRows& m = rows(instance);
      for (uint32_t row = 0; row < m.num_rows(); ++row) {
        for (uint32_t k = m.row_start[row]; k < m.row_start[row + 1]; ++k) {
          visit(uint64_t{instance.first_row} + row, instance.wire(m.column[k], ports), m.coefficient[k]);
        }
      }
    }
  }
};

// The last instance that begins at or before position `at` of the sequence that `first` counts (rows, aux wires, ...):
// it is the one that holds the position, if any does. at >= the first instance's.
inline size_t instance_at(std::span<const BlockInstance> instances, uint32_t BlockInstance::*first, uint64_t at) {
  const auto it = std::upper_bound(instances.begin(), instances.end(), at,
                                   [first](uint64_t position, const BlockInstance& i) { return position < i.*first; });
  return static_cast<size_t>(it - instances.begin()) - 1;
}

// Cuts [begin, end) of a sequence of `total` positions into the parts of single instances:
// body(instance, begin, end), relative to the instance's first.
template <class Body>
void for_each_part(std::span<const BlockInstance> instances, uint32_t BlockInstance::*first, uint64_t total,
                   uint64_t begin, uint64_t end, Body&& body) {
  if (begin >= end) return;
  for (size_t i = instance_at(instances, first, begin); i < instances.size() && instances[i].*first < end; ++i) {
    const uint64_t base = instances[i].*first;
    const uint64_t stop = std::min(end, i + 1 < instances.size() ? instances[i + 1].*first : total);
    const uint64_t start = std::max(begin, base);
    if (start < stop) body(instances[i], static_cast<uint32_t>(start - base), static_cast<uint32_t>(stop - base));
  }
}

}  // namespace cuzk
