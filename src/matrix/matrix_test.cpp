// Against dense matrices multiplied entry by entry.
#include "matrix/matrix.hpp"

#include <gtest/gtest.h>

#include <random>

#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

constexpr uint32_t kInput = uint32_t{1} << 31;

Fr random_fr(std::mt19937_64& rng) {
  Fr::Limbs limbs{rng(), rng(), rng(), rng() >> 2};
  while (!limbs::less(limbs, Fr::kModulus)) limbs[3] >>= 1;
  return Fr::from_plain(limbs);
}

struct SparseMatrix {
  std::vector<uint64_t> row_start{0};
  std::vector<uint32_t> wire, coefficient;
  MatrixView view() const { return {row_start, wire, coefficient}; }
};

struct Case {
  std::vector<Fr> coefficients, inputs, aux;
  SparseMatrix matrix;
};

// Rows of 0 to 6 terms, with ones, minus ones, powers of two and others as coefficients, and bits and others as values.
Case random_case(uint64_t seed, size_t rows, size_t num_inputs, size_t num_aux) {
  std::mt19937_64 rng(seed);
  Case out;
  out.coefficients = {Fr::one(), -Fr::one(), Fr::from_u64(2), -Fr::from_u64(1ull << 40), random_fr(rng), Fr::zero()};
  for (size_t i = 0; i < num_inputs; ++i) out.inputs.push_back(i == 0 ? Fr::one() : random_fr(rng));
  for (size_t i = 0; i < num_aux; ++i) out.aux.push_back(rng() % 4 != 0 ? Fr::from_u64(rng() % 2) : random_fr(rng));
  for (size_t row = 0; row < rows; ++row) {
    for (uint64_t k = rng() % 7; k > 0; --k) {
      const bool input = num_aux == 0 || rng() % 3 == 0;
      out.matrix.wire.push_back(static_cast<uint32_t>(input ? kInput | rng() % num_inputs : rng() % num_aux));
      out.matrix.coefficient.push_back(static_cast<uint32_t>(rng() % out.coefficients.size()));
    }
    out.matrix.row_start.push_back(out.matrix.wire.size());
  }
  return out;
}

// Entry [row][wire] of the dense matrix, inputs first.
std::vector<std::vector<Fr>> dense(const Case& c) {
  const size_t rows = c.matrix.view().num_rows();
  std::vector<std::vector<Fr>> out(rows, std::vector<Fr>(c.inputs.size() + c.aux.size()));
  for (size_t row = 0; row < rows; ++row) {
    for (uint64_t k = c.matrix.row_start[row]; k < c.matrix.row_start[row + 1]; ++k) {
      const uint32_t w = c.matrix.wire[k];
      out[row][w & kInput ? w & ~kInput : c.inputs.size() + w] += c.coefficients[c.matrix.coefficient[k]];
    }
  }
  return out;
}

class MatrixShapes : public testing::TestWithParam<std::array<size_t, 3>> {};

TEST_P(MatrixShapes, MultiplyEqualsTheDenseProduct) {
  const auto [rows, num_inputs, num_aux] = GetParam();
  const Case c = random_case(rows + 1, rows, num_inputs, num_aux);
  const auto d = dense(c);
  for (const size_t padding : {size_t{0}, size_t{5}}) {
    std::vector<Fr> out(rows + padding, Fr::from_u64(99));  // what is there before must not matter
    multiply(c.matrix.view(), Coefficients(c.coefficients), c.inputs, c.aux, out);
    for (size_t i = 0; i < out.size(); ++i) {
      Fr expected = Fr::zero();
      if (i < rows) {
        for (size_t w = 0; w < d[i].size(); ++w) {
          expected += d[i][w] * (w < num_inputs ? c.inputs[w] : c.aux[w - num_inputs]);
        }
      }
      ASSERT_EQ(out[i], expected) << "row " << i;
    }
  }
}

TEST_P(MatrixShapes, TransposedEqualsTheDenseProduct) {
  const auto [rows, num_inputs, num_aux] = GetParam();
  const Case c = random_case(rows + 2, rows, num_inputs, num_aux);
  const auto d = dense(c);
  std::mt19937_64 rng(3);
  std::vector<Fr> row_values(rows + 3);
  for (Fr& x : row_values) x = random_fr(rng);
  std::vector<Fr> start(num_inputs + num_aux);
  for (Fr& x : start) x = random_fr(rng);  // the product is added to what is there
  for (const size_t threads : {size_t{1}, size_t{2}, size_t{5}}) {
    const size_t before = parallel_threads();
    set_parallel_threads(threads);
    std::vector<Fr> inputs(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(num_inputs));
    std::vector<Fr> aux(start.begin() + static_cast<std::ptrdiff_t>(num_inputs), start.end());
    multiply_transposed(c.matrix.view(), Coefficients(c.coefficients), row_values, inputs, aux);
    set_parallel_threads(before);
    for (size_t w = 0; w < start.size(); ++w) {
      Fr expected = start[w];
      for (size_t row = 0; row < rows; ++row) expected += d[row][w] * row_values[row];
      ASSERT_EQ(w < num_inputs ? inputs[w] : aux[w - num_inputs], expected) << "wire " << w;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatrixShapes,
                         testing::Values(std::array<size_t, 3>{0, 1, 0}, std::array<size_t, 3>{1, 1, 0},
                                         std::array<size_t, 3>{1, 1, 1}, std::array<size_t, 3>{37, 3, 20},
                                         std::array<size_t, 3>{300, 10, 7}));

TEST(Matrix, ManyRowsInParallel) {
  // More rows than a task's grain; every row is 3*aux[i] - aux[i+1].
  constexpr size_t kRows = 20000;
  std::mt19937_64 rng(4);
  std::vector<Fr> aux(kRows + 1);
  for (Fr& x : aux) x = random_fr(rng);
  const std::vector<Fr> coefficients = {Fr::from_u64(3), -Fr::one()};
  SparseMatrix matrix;
  for (uint32_t i = 0; i < kRows; ++i) {
    matrix.wire.insert(matrix.wire.end(), {i, i + 1});
    matrix.coefficient.insert(matrix.coefficient.end(), {0, 1});
    matrix.row_start.push_back(matrix.wire.size());
  }
  std::vector<Fr> out(kRows);
  multiply(matrix.view(), Coefficients(coefficients), {}, aux, out);
  for (size_t i = 0; i < kRows; ++i) ASSERT_EQ(out[i], aux[i] + aux[i] + aux[i] - aux[i + 1]);
}

TEST(Matrix, InputRows) {
  const std::vector<Fr> inputs = {Fr::one(), Fr::from_u64(7), Fr::from_u64(9)};
  std::vector<Fr> a(6, Fr::from_u64(5));
  put_input_rows(inputs, 2, a);
  const std::vector<Fr> expected = {Fr::from_u64(5), Fr::from_u64(5), Fr::one(),
                                    Fr::from_u64(7), Fr::from_u64(9), Fr::from_u64(5)};
  EXPECT_EQ(a, expected);
  put_input_rows(inputs, 3, a);  // exactly to the end
  EXPECT_EQ(a[5], Fr::from_u64(9));
}

TEST(Matrix, FirstUnsatisfiedRowIsTheLowest) {
  constexpr size_t kRows = 50000;
  std::mt19937_64 rng(5);
  std::vector<Fr> a(kRows), b(kRows), c(kRows);
  for (size_t i = 0; i < kRows; ++i) {
    a[i] = random_fr(rng);
    b[i] = random_fr(rng);
    c[i] = a[i] * b[i];
  }
  EXPECT_EQ(first_unsatisfied_row(a, b, c), std::nullopt);
  for (const size_t bad : {kRows - 1, size_t{40000}, size_t{12345}, size_t{8192}, size_t{8191}, size_t{0}}) {
    c[bad] += Fr::one();  // the later ones stay wrong
    EXPECT_EQ(first_unsatisfied_row(a, b, c), bad);
  }
  EXPECT_EQ(first_unsatisfied_row({}, {}, {}), std::nullopt);
}

}  // namespace
}  // namespace cuzk
