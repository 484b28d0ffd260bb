// A circuit resident on a device, and what it computes there from a packed witness.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "field/fr.hpp"
#include "gpu/memory.hpp"
#include "gpu/stream.hpp"
#include "matrix/packed_system.hpp"

namespace cuzk {

// The values of one witness in device memory; the layout is PackedSystem's.
struct DeviceWitness {
  std::span<const uint64_t> bits;  // (num_bits + 63) / 64 words
  std::span<const Fr> values;      // num_values
};

// Where row i is in a vector of rows: at i, or, of 2^k rows, at i with its k bits reversed, as transforms take values.
enum class RowOrder : uint8_t { kNatural, kBitReversed };

// The matrices, hashes and instances of a PackedSystem in device memory.
class DeviceSystem {
 public:
  // Device memory that upload() takes of its reservation.
  static uint64_t resident_bytes(const PackedSystem& system);

  // Copies the system, which is not needed afterwards. Waits for the copies. Errors: kUnsupported where a hash has an
  // arity other than 2, 4, 8, 11; kResource.
  static Result<DeviceSystem> upload(const PackedSystem& system, gpu::Reservation& memory, const gpu::Stream& stream);

  uint32_t num_inputs() const { return num_inputs_; }
  uint32_t num_values() const { return num_values_; }
  uint32_t num_fields() const { return num_fields_; }
  uint32_t num_constraints() const { return num_constraints_; }
  uint64_t num_bits() const { return num_bits_; }

  // Completes the values: `values` (num_values()) must hold the inputs at its beginning; field wires are copied there
  // from `fields` (num_fields()) and all variables of the Poseidon hashes are computed. Asynchronous; one kernel a
  // block with fields and a batch of hashes. About 0.1 ms a batch, 10^7 hashes of arity 8 a second.
  Status expand(std::span<const uint64_t> bits, std::span<const Fr> fields, std::span<Fr> values,
                const gpu::Stream& stream) const;

  // out[place(i)] = <row i of matrix 0 (A), 1 (B) or 2 (C), witness>, then zeros; in A the input rows (I_i) * (0) = (0)
  // follow the constraints. out.size() >= num_constraints() + num_inputs(). Exactly multiply() and put_input_rows() of
  // matrix.hpp. Asynchronous.
  Status multiply(unsigned matrix, const DeviceWitness& witness, std::span<Fr> out, RowOrder order,
                  const gpu::Stream& stream) const;

  // The lowest row with a*b != c. Waits for the stream.
  Result<std::optional<uint64_t>> first_unsatisfied_row(std::span<const Fr> a, std::span<const Fr> b,
                                                        std::span<const Fr> c, RowOrder order,
                                                        const gpu::Stream& stream) const;

 private:
  struct Rows {
    gpu::DeviceBuffer<uint32_t> row_start;
    gpu::DeviceBuffer<PackedColumn> column;
    gpu::DeviceBuffer<uint16_t> coefficient;
  };
  struct Block {
    std::array<Rows, 3> matrices;
    gpu::DeviceBuffer<PackedFieldRun> field_runs;
    gpu::DeviceBuffer<uint32_t> instances;  // their numbers
    uint32_t num_rows = 0, num_fields = 0;
  };
  // Of one arity; the arrays of PoseidonConstants one after the other.
  struct Hashes {
    uint32_t arity;
    gpu::DeviceBuffer<Fr> constants;
  };

  DeviceSystem() = default;
  Status upload_block(const PackedSystem& system, uint32_t number, gpu::Reservation& memory, const gpu::Stream& stream);
  Status upload_hashes(const PackedSystem& system, gpu::Reservation& memory, const gpu::Stream& stream);
  Status run_batch(const PackedHashBatch& batch, std::span<const uint64_t> bits, std::span<Fr> values,
                   const gpu::Stream& stream) const;

  uint32_t num_inputs_ = 0, num_values_ = 0, num_fields_ = 0, num_constraints_ = 0, num_bits_ = 0;
  uint32_t one_ = ~uint32_t{0}, minus_one_ = ~uint32_t{0};  // coefficients
  std::vector<Block> blocks_;
  std::vector<Hashes> hashes_;
  std::vector<PackedHashBatch> batches_;
  gpu::DeviceBuffer<Fr> coefficients_;
  gpu::DeviceBuffer<PackedInstance> instances_;
  gpu::DeviceBuffer<PackedPlace> ports_;
  gpu::DeviceBuffer<PackedColumn> hash_inputs_;
  gpu::DeviceBuffer<PackedHashJob> jobs_;
  gpu::DeviceBuffer<unsigned long long> first_unsatisfied_;
};

}  // namespace cuzk
