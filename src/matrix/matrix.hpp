// Products of a circuit's sparse matrices with a witness (prover) and with a vector of rows (parameter generation).
//
// This layer is below circuit/, so it sees a matrix as the three arrays of its compressed rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "field/fr.hpp"

namespace cuzk {

// Row i owns entries row_start[i] .. row_start[i+1]; row_start has one element more than there are rows. `wire` has
// bit 31 set for inputs and the index in the low bits; `coefficient` is an index into a dictionary of coefficients.
// Indices must be in range: the compiler of the circuit guarantees it.
struct MatrixView {
  std::span<const uint64_t> row_start;
  std::span<const uint32_t> wire;
  std::span<const uint32_t> coefficient;

  uint64_t num_rows() const { return row_start.empty() ? 0 : row_start.size() - 1; }
};

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

// out[i] = <row i, witness> for every row of the matrix; out[i] = 0 for what is left of out (the padding to the
// domain), so out.size() >= matrix.num_rows(). Parallel. Wires that are 0 cost no arithmetic and those that are 1,
// like coefficients 1 and -1, no multiplication: the rows of a bit-wise circuit are sums of few terms.
void multiply(const MatrixView& matrix, const Coefficients& coefficients, std::span<const Fr> inputs,
              std::span<const Fr> aux, std::span<Fr> out);

// Puts the input-consistency rows (I_i) * (0) = (0) into a = A*witness at rows first_row + i. In B and C they are
// zero rows, as multiply() leaves them. Source: bellperson src/groth16/prover/native.rs:430.
void put_input_rows(std::span<const Fr> inputs, uint64_t first_row, std::span<Fr> a);

// The lowest row with a*b != c, if there is one; the spans have one length. Parallel; one multiplication a row.
std::optional<uint64_t> first_unsatisfied_row(std::span<const Fr> a, std::span<const Fr> b, std::span<const Fr> c);

// For every wire w: adds to its element the sum over rows j of matrix[j][w] * row_values[j], for inputs and aux
// apart. row_values.size() >= matrix.num_rows(). Parallel and deterministic: every thread owns a range of wires and
// scans the whole matrix.
void multiply_transposed(const MatrixView& matrix, const Coefficients& coefficients, std::span<const Fr> row_values,
                         std::span<Fr> inputs, std::span<Fr> aux);

}  // namespace cuzk
