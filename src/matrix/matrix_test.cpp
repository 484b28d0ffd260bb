// Against dense matrices multiplied entry by entry.
#include "matrix/matrix.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

Fr random_fr(std::mt19937_64& rng) {
  Fr::Limbs limbs{rng(), rng(), rng(), rng() >> 2};
  while (!limbs::less(limbs, Fr::kModulus)) limbs[3] >>= 1;
  return Fr::from_plain(limbs);
}

// The owned form of a block.
struct BlockData {
  std::vector<uint32_t> row_start{0};
  std::vector<Column> column;
  std::vector<uint16_t> coefficient;
  uint32_t num_inputs = 0, num_aux = 0, num_ports = 0;
};

struct Case {
  std::vector<Fr> coefficients, inputs = {Fr::one()}, aux;
  std::vector<BlockData> blocks;
  std::vector<BlockInstance> instances;
  std::vector<uint32_t> ports;
  uint64_t rows = 0;

  BlockMatrix view() const {
    BlockMatrix out{{}, instances, ports, rows};
    for (const BlockData& b : blocks) out.blocks.push_back({b.row_start, b.column, b.coefficient});
    return out;
  }
};

// Rows of 0 to 6 terms in ascending columns.
BlockData random_block(std::mt19937_64& rng, size_t rows, uint32_t num_inputs, uint32_t num_aux, uint32_t num_ports,
                       size_t num_coefficients) {
  BlockData out;
  out.num_inputs = num_inputs;
  out.num_aux = num_aux;
  out.num_ports = num_ports;
  for (size_t row = 0; row < rows; ++row) {
    std::set<uint32_t> columns;
    for (uint64_t k = rng() % 7; k > 0; --k) {
      const auto any = [&](uint32_t count, auto make) {
        columns.insert(count == 0 ? Column::one().raw : make(static_cast<uint32_t>(rng() % count)).raw);
      };
      switch (rng() % 6) {
        case 0: columns.insert(Column::one().raw); break;
        case 1: any(num_inputs, Column::input); break;
        case 2: any(num_ports, Column::port); break;
        default: any(num_aux, Column::aux);
      }
    }
    for (const uint32_t column : columns) {
      out.column.push_back({column});
      out.coefficient.push_back(static_cast<uint16_t>(rng() % num_coefficients));
    }
    out.row_start.push_back(static_cast<uint32_t>(out.column.size()));
  }
  return out;
}

// How many blocks there are and instances of them in random order, and a block's size at most.
struct Shape {
  size_t blocks, instances, rows;
  uint32_t inputs, aux, ports;
};

// Ones, minus ones, powers of two and others as coefficients, and bits and others as values. The ports of an instance
// are any wires before it.
Case random_case(uint64_t seed, const Shape& shape) {
  std::mt19937_64 rng(seed);
  Case out;
  out.coefficients = {Fr::one(),      -Fr::one(),    Fr::from_u64(2), -Fr::from_u64(1ull << 40),
                      random_fr(rng), random_fr(rng)};
  for (size_t i = 0; i < shape.blocks; ++i) {
    const auto up_to = [&](uint32_t most) { return i == 0 ? most : static_cast<uint32_t>(rng() % (most + 1)); };
    out.blocks.push_back(random_block(rng, i == 0 ? shape.rows : rng() % (shape.rows + 1), up_to(shape.inputs),
                                      up_to(shape.aux), i == 0 ? 0 : up_to(shape.ports), out.coefficients.size()));
  }
  for (size_t i = 0; i < shape.instances; ++i) {
    const auto b = static_cast<uint32_t>(i == 0 ? 0 : rng() % shape.blocks);
    const BlockData& block = out.blocks[b];
    BlockInstance instance;
    instance.block = b;
    instance.first_row = static_cast<uint32_t>(out.rows);
    instance.first_input = static_cast<uint32_t>(out.inputs.size());
    instance.first_aux = static_cast<uint32_t>(out.aux.size());
    instance.first_port = static_cast<uint32_t>(out.ports.size());
    for (uint32_t k = 0; k < block.num_ports; ++k) {
      const bool input = out.aux.empty() || rng() % 3 == 0;
      out.ports.push_back(
          static_cast<uint32_t>(input ? kInputWireFlag | rng() % out.inputs.size() : rng() % out.aux.size()));
    }
    for (uint32_t k = 0; k < block.num_inputs; ++k) out.inputs.push_back(random_fr(rng));
    for (uint32_t k = 0; k < block.num_aux; ++k) {
      out.aux.push_back(rng() % 4 != 0 ? Fr::from_u64(rng() % 2) : random_fr(rng));
    }
    out.rows += block.row_start.size() - 1;
    out.instances.push_back(instance);
  }
  return out;
}

// Entry [row][wire] of the dense matrix, inputs first; columns looked up by their definition.
std::vector<std::vector<Fr>> dense(const Case& c) {
  std::vector<std::vector<Fr>> out;
  for (const BlockInstance& instance : c.instances) {
    const BlockData& block = c.blocks[instance.block];
    for (size_t row = 0; row + 1 < block.row_start.size(); ++row) {
      auto& entries = out.emplace_back(c.inputs.size() + c.aux.size());
      for (uint32_t k = block.row_start[row]; k < block.row_start[row + 1]; ++k) {
        const uint32_t index = block.column[k].raw & 0x3fffffff;
        size_t wire = 0;
        switch (block.column[k].raw >> 30) {
          case 0: break;
          case 1: wire = instance.first_input + index; break;
          case 2: wire = c.inputs.size() + instance.first_aux + index; break;
          default: {
            const uint32_t raw = c.ports[instance.first_port + index];
            wire = raw >> 31 ? raw & 0x7fffffff : c.inputs.size() + raw;
          }
        }
        entries[wire] += c.coefficients[block.coefficient[k]];
      }
    }
  }
  return out;
}

class MatrixShapes : public testing::TestWithParam<Shape> {};

TEST_P(MatrixShapes, MultiplyEqualsTheDenseProduct) {
  const Case c = random_case(1, GetParam());
  const auto d = dense(c);
  const size_t rows = d.size(), num_inputs = c.inputs.size();
  ASSERT_EQ(rows, c.rows);
  for (const size_t padding : {size_t{0}, size_t{5}}) {
    std::vector<Fr> out(rows + padding, Fr::from_u64(99));  // what is there before must not matter
    multiply(c.view(), Coefficients(c.coefficients), c.inputs, c.aux, out);
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
  const Case c = random_case(2, GetParam());
  const auto d = dense(c);
  const size_t rows = d.size(), num_inputs = c.inputs.size();
  std::mt19937_64 rng(3);
  std::vector<Fr> row_values(rows + 3);
  for (Fr& x : row_values) x = random_fr(rng);
  std::vector<Fr> start(num_inputs + c.aux.size());
  for (Fr& x : start) x = random_fr(rng);  // the product is added to what is there
  for (const size_t threads : {size_t{1}, size_t{2}, size_t{5}}) {
    const size_t before = parallel_threads();
    set_parallel_threads(threads);
    std::vector<Fr> inputs(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(num_inputs));
    std::vector<Fr> aux(start.begin() + static_cast<std::ptrdiff_t>(num_inputs), start.end());
    multiply_transposed(c.view(), Coefficients(c.coefficients), row_values, inputs, aux);
    set_parallel_threads(before);
    for (size_t w = 0; w < start.size(); ++w) {
      Fr expected = start[w];
      for (size_t row = 0; row < rows; ++row) expected += d[row][w] * row_values[row];
      ASSERT_EQ(w < num_inputs ? inputs[w] : aux[w - num_inputs], expected) << "wire " << w;
    }
  }
}

TEST_P(MatrixShapes, TermsAreVisitedOnce) {
  const Case c = random_case(4, GetParam());
  std::vector<std::vector<Fr>> seen(c.rows, std::vector<Fr>(c.inputs.size() + c.aux.size()));
  uint64_t count = 0;
  c.view().for_each_term([&](uint64_t row, uint32_t raw, uint32_t coefficient) {
    ++count;
    seen[row][raw >> 31 ? raw & 0x7fffffff : c.inputs.size() + raw] += c.coefficients[coefficient];
  });
  EXPECT_EQ(seen, dense(c));
  EXPECT_EQ(count, c.view().num_terms());
}

// Every cut of the rows falls apart into instances the same way.
TEST_P(MatrixShapes, PartsCoverARange) {
  const Case c = random_case(5, GetParam());
  for (uint64_t begin = 0; begin < c.rows; ++begin) {
    for (uint64_t end = begin; end <= c.rows; end += 1 + end % 7) {
      uint64_t at = begin;
      for_each_part(c.instances, &BlockInstance::first_row, c.rows, begin, end,
                    [&](const BlockInstance& instance, uint32_t from, uint32_t to) {
                      ASSERT_LT(from, to);
                      ASSERT_EQ(instance.first_row + from, at);
                      ASSERT_LT(to, c.blocks[instance.block].row_start.size());
                      at = instance.first_row + to;
                    });
      ASSERT_EQ(at, end);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatrixShapes,
                         testing::Values(Shape{1, 1, 0, 0, 0, 0}, Shape{1, 1, 1, 0, 0, 0}, Shape{1, 1, 1, 0, 1, 0},
                                         Shape{1, 1, 37, 2, 20, 0}, Shape{1, 1, 200, 9, 7, 0}, Shape{1, 9, 11, 2, 5, 0},
                                         Shape{2, 12, 9, 3, 6, 4}, Shape{4, 30, 5, 2, 4, 9}));

TEST(Matrix, ManyRowsInParallel) {
  // More rows than a task's grain; every row is 3*aux[i] - aux[i+1].
  constexpr size_t kRows = 20000;
  std::mt19937_64 rng(4);
  std::vector<Fr> aux(kRows + 1);
  for (Fr& x : aux) x = random_fr(rng);
  const std::vector<Fr> coefficients = {Fr::from_u64(3), -Fr::one()};
  BlockData block;
  for (uint32_t i = 0; i < kRows; ++i) {
    block.column.insert(block.column.end(), {Column::aux(i), Column::aux(i + 1)});
    block.coefficient.insert(block.coefficient.end(), {0, 1});
    block.row_start.push_back(static_cast<uint32_t>(block.column.size()));
  }
  const std::vector<BlockInstance> instances(1);
  const BlockMatrix matrix{{{block.row_start, block.column, block.coefficient}}, instances, {}, kRows};
  std::vector<Fr> out(kRows);
  multiply(matrix, Coefficients(coefficients), {}, aux, out);
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
