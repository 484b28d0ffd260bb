// The form of a circuit that is evaluated from a packed witness without expanding it: every column of every row says
// where in the packed values its wire is.
//
// Values lie in two arrays: *bits*, one bit per boolean wire in order of allocation (the packed witness as it is), and
// *values*, an Fr per other wire: the inputs, then field and derived wires in order of allocation. So a PoRep
// partition's 130 million wires are 16 MB of bits and 54 MB of values, which a large GPU's L2 cache nearly holds, and
// not 4.2 GB.
//
// circuit/packed_form.hpp makes it of a CompiledCircuit; matrix_cuda.hpp keeps it on a device. Blocks and instances:
// block_matrix.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/host_device.hpp"
#include "field/fr.hpp"

namespace cuzk {

// Where a term finds the value of its wire: the kind in the two high bits, an index in the others.
struct PackedColumn {
  enum class Kind : uint32_t {
    kInput,  // values[0] (ONE) for index 0, values[instance.first_input + index - 1] for others
    kBit,    // bits[instance.first_bit + index]
    kValue,  // values[instance.first_value + index]
    kPort,   // ports[instance.first_port + index] says where
  };
  static constexpr unsigned kIndexBits = 30;
  static constexpr uint32_t kMaxIndex = (uint32_t{1} << kIndexBits) - 1;

  uint32_t raw = 0;

  CUZK_HD static constexpr PackedColumn of(Kind kind, uint32_t index) {
    return {static_cast<uint32_t>(kind) << kIndexBits | index};
  }
  CUZK_HD static constexpr PackedColumn one() { return of(Kind::kInput, 0); }
  CUZK_HD constexpr Kind kind() const { return static_cast<Kind>(raw >> kIndexBits); }
  CUZK_HD constexpr uint32_t index() const { return raw & kMaxIndex; }
};

// A place in the arrays of all values.
struct PackedPlace {
  static constexpr uint32_t kBitFlag = uint32_t{1} << 31;
  uint32_t raw = 0;  // with the flag: an index of bits; without: of values

  CUZK_HD static constexpr PackedPlace bit(uint32_t index) { return {index | kBitFlag}; }
  CUZK_HD static constexpr PackedPlace value(uint32_t index) { return {index}; }
  CUZK_HD constexpr bool is_bit() const { return (raw & kBitFlag) != 0; }
  CUZK_HD constexpr uint32_t index() const { return raw & ~kBitFlag; }
};

struct PackedInstance {
  uint32_t block = 0;
  uint32_t first_row = 0;
  uint32_t first_input = 1, first_bit = 0, first_field = 0;
  uint32_t first_value = 0;  // of its field and derived wires in the array of values
  uint32_t first_port = 0;   // in PackedSystem::ports

  CUZK_HD PackedPlace place(PackedColumn column, const PackedPlace* ports) const {
    const uint32_t index = column.index();
    switch (column.kind()) {
      case PackedColumn::Kind::kInput: return PackedPlace::value(index == 0 ? 0 : first_input + index - 1);
      case PackedColumn::Kind::kBit: return PackedPlace::bit(first_bit + index);
      case PackedColumn::Kind::kValue: return PackedPlace::value(first_value + index);
      case PackedColumn::Kind::kPort: break;
    }
    return ports[first_port + index];
  }
};

// The rows of a block in one matrix, as BlockRows; views of the circuit's arrays except for the columns.
struct PackedRows {
  std::span<const uint32_t> row_start;
  std::vector<PackedColumn> column;
  std::span<const uint16_t> coefficient;

  uint32_t num_rows() const { return row_start.empty() ? 0 : static_cast<uint32_t>(row_start.size() - 1); }
};

// Field wires that follow each other: fields [first_field, first_field + count) of the instance are its values from
// first_value on.
struct PackedFieldRun {
  uint32_t first_field, first_value, count;
};

struct PackedBlock {
  std::array<PackedRows, 3> matrices;      // A, B, C
  std::vector<PackedFieldRun> field_runs;  // ascending
  uint32_t num_rows = 0;
};

// A Poseidon hash: fills the values from first_value on with the variables of its circuit (hash/poseidon.hpp,
// poseidon_trace).
struct PackedHashJob {
  uint32_t first_value;
  uint32_t instance;
  uint32_t first_input;  // its preimage is hash_inputs[first_input .. first_input + arity), columns of the instance
};

// Hashes of one form that do not read each other. Batches run in order.
struct PackedHashBatch {
  uint32_t arity;
  uint64_t tag;
  uint32_t first_job, num_jobs;  // in PackedSystem::jobs
};

// A view of the circuit that it was made of, which must outlive it.
struct PackedSystem {
  uint32_t num_inputs = 1, num_bits = 0, num_fields = 0, num_constraints = 0;
  uint32_t num_values = 1;  // inputs, field and derived wires
  std::span<const Fr> coefficients;
  std::vector<PackedBlock> blocks;
  std::vector<PackedInstance> instances;
  std::vector<PackedPlace> ports;
  std::vector<PackedColumn> hash_inputs;
  std::vector<PackedHashJob> jobs;
  std::vector<PackedHashBatch> batches;

  uint64_t num_terms() const {
    uint64_t total = 0;
    for (const PackedInstance& instance : instances) {
      for (const PackedRows& rows : blocks[instance.block].matrices) total += rows.column.size();
    }
    return total;
  }
};

}  // namespace cuzk
