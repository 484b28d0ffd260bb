#include "matrix/matrix.hpp"

#include <algorithm>
#include <atomic>

#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

constexpr uint32_t kInputFlag = uint32_t{1} << 31;
// Rows a task evaluates: about 20,000 terms, long against the cost of handing out a task.
constexpr size_t kRowGrain = 4096;
constexpr size_t kCheckGrain = 8192;

}  // namespace

Coefficients::Coefficients(std::span<const Fr> values) : values_(values), kinds_(values.size(), Kind::kOther) {
  const Fr minus_one = -Fr::one();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_one()) kinds_[i] = Kind::kOne;
    if (values[i] == minus_one) kinds_[i] = Kind::kMinusOne;
  }
}

void multiply(const MatrixView& matrix, const Coefficients& coefficients, std::span<const Fr> inputs,
              std::span<const Fr> aux, std::span<Fr> out) {
  const uint64_t rows = matrix.num_rows();
  CUZK_ASSERT(out.size() >= rows);
  const auto row = [&](uint64_t i) {
    Fr sum = Fr::zero();
    for (uint64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const uint32_t wire = matrix.wire[k];
      const Fr& value = wire & kInputFlag ? inputs[wire & ~kInputFlag] : aux[wire];
      if (value.is_zero()) continue;
      const uint32_t c = matrix.coefficient[k];
      switch (coefficients.kind(c)) {
        case Coefficients::Kind::kOne: sum += value; break;
        case Coefficients::Kind::kMinusOne: sum -= value; break;
        case Coefficients::Kind::kOther:
          sum += value.is_one() ? coefficients.value(c) : coefficients.value(c) * value;
          break;
      }
    }
    return sum;
  };
  parallel_for(out.size(), kRowGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) out[i] = i < rows ? row(i) : Fr::zero();
  });
}

void put_input_rows(std::span<const Fr> inputs, uint64_t first_row, std::span<Fr> a) {
  CUZK_ASSERT(first_row <= a.size() && inputs.size() <= a.size() - first_row);
  std::copy(inputs.begin(), inputs.end(), a.begin() + static_cast<std::ptrdiff_t>(first_row));
}

std::optional<uint64_t> first_unsatisfied_row(std::span<const Fr> a, std::span<const Fr> b, std::span<const Fr> c) {
  CUZK_ASSERT(a.size() == b.size() && b.size() == c.size());
  std::atomic<uint64_t> first{a.size()};
  parallel_for(a.size(), kCheckGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end && i < first.load(std::memory_order_relaxed); ++i) {
      if (a[i] * b[i] == c[i]) continue;
      uint64_t seen = first.load(std::memory_order_relaxed);
      while (i < seen && !first.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
      }
      return;
    }
  });
  if (first.load() == a.size()) return std::nullopt;
  return first.load();
}

void multiply_transposed(const MatrixView& matrix, const Coefficients& coefficients, std::span<const Fr> row_values,
                         std::span<Fr> inputs, std::span<Fr> aux) {
  const uint64_t rows = matrix.num_rows();
  CUZK_ASSERT(row_values.size() >= rows);
  const auto accumulate = [&](uint64_t row, uint32_t c, Fr& sum) {
    switch (coefficients.kind(c)) {
      case Coefficients::Kind::kOne: sum += row_values[row]; break;
      case Coefficients::Kind::kMinusOne: sum -= row_values[row]; break;
      case Coefficients::Kind::kOther: sum += coefficients.value(c) * row_values[row]; break;
    }
  };
  // Part 0 owns the inputs (ONE alone is in about every second row); the others share out the aux wires evenly.
  const size_t aux_parts = std::max<size_t>(1, std::min(parallel_threads(), aux.size()));
  parallel_for(aux_parts + 1, 1, [&](size_t begin, size_t end) {
    for (size_t part = begin; part < end; ++part) {
      const bool owns_inputs = part == 0;
      const uint64_t low = owns_inputs ? 0 : aux.size() * (part - 1) / aux_parts;
      const uint64_t high = owns_inputs ? 0 : aux.size() * part / aux_parts;
      for (uint64_t row = 0; row < rows; ++row) {
        for (uint64_t k = matrix.row_start[row]; k < matrix.row_start[row + 1]; ++k) {
          const uint32_t wire = matrix.wire[k];
          if (wire & kInputFlag) {
            if (owns_inputs) accumulate(row, matrix.coefficient[k], inputs[wire & ~kInputFlag]);
          } else if (wire >= low && wire < high) {
            accumulate(row, matrix.coefficient[k], aux[wire]);
          }
        }
      }
    }
  });
}

}  // namespace cuzk
