// Products of a circuit's sparse matrices with a witness (prover) and with a vector of rows (parameter generation).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "field/fr.hpp"
#include "matrix/block_matrix.hpp"

namespace cuzk {

// A dictionary of coefficients with the ones told apart that need no multiplication. A view: `values` must outlive it.
class Coefficients {
 public:
  enum class Kind : uint8_t { kOne, kMinusOne, kOther };
  explicit Coefficients(std::span<const Fr> values);

  Kind kind(uint32_t index) const { return kinds_[index]; }
  const Fr& value(uint32_t index) const { return values_[index]; }

 private:
  std::span<const Fr> values_;
  std::vector<Kind> kinds_;
};

// The wires of one instance. A view of the values of all.
class InstanceValues {
 public:
  InstanceValues(const BlockInstance& instance, std::span<const uint32_t> ports, std::span<const Fr> inputs,
                 std::span<const Fr> aux)
      : instance_(instance), ports_(ports), inputs_(inputs), aux_(aux) {}
  const Fr& operator[](Column column) const {
    if (column.kind() == Column::Kind::kAux) return aux_[instance_.first_aux + column.index()];
    const uint32_t wire = instance_.wire(column, ports_);
    return wire & kInputWireFlag ? inputs_[wire & ~kInputWireFlag] : aux_[wire];
  }

 private:
  const BlockInstance& instance_;
  std::span<const uint32_t> ports_;
  std::span<const Fr> inputs_, aux_;
};

// <row, witness>. Wires that are 0 cost no arithmetic and those that are 1, like coefficients 1 and -1, no
// multiplication: the rows of a bit-wise circuit are sums of few terms.
Fr row_value(const BlockRows& rows, uint32_t row, const Coefficients& coefficients, const InstanceValues& values);

// out[i] = <row i, witness> for every row of the matrix; out[i] = 0 for what is left of out (the padding to the
// domain), so out.size() >= matrix.num_rows. Parallel.
void multiply(const BlockMatrix& matrix, const Coefficients& coefficients, std::span<const Fr> inputs,
              std::span<const Fr> aux, std::span<Fr> out);

// Puts the input-consistency rows (I_i) * (0) = (0) into a = A*witness at rows first_row + i. In B and C they are
// zero rows, as multiply() leaves them. Source: bellperson src/groth16/prover/native.rs:430.
void put_input_rows(std::span<const Fr> inputs, uint64_t first_row, std::span<Fr> a);

// The lowest row with a*b != c, if there is one; the spans have one length. Parallel; one multiplication a row.
std::optional<uint64_t> first_unsatisfied_row(std::span<const Fr> a, std::span<const Fr> b, std::span<const Fr> c);

// For every wire w: adds to its element the sum over rows j of matrix[j][w] * row_values[j], for inputs and aux
// apart. row_values.size() >= matrix.num_rows. Parallel over instances, and over the aux wires of an instance that has
// more than a thread's share of the terms: every part then scans the whole instance. Sums for wires that several parts
// write (ONE, inputs, ports) are kept apart and added at the end. Scratch memory is cleared: setup's rows are secret.
void multiply_transposed(const BlockMatrix& matrix, const Coefficients& coefficients, std::span<const Fr> row_values,
                         std::span<Fr> inputs, std::span<Fr> aux);

}  // namespace cuzk
