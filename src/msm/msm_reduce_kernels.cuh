// Kernels from buckets to the sums that msm_finish takes, and the one that makes tables.
//
// sum_b (b + 1)*bucket_b of a set: with b = row*columns + column it is the sum of all buckets, plus columns times the
// sum of row*(row's sum), plus the sum of column*(column's sum). line_kernel makes the sums of rows and columns, two
// additions a bucket with all of the chip at work; bit_kernel makes, of those few, for each bit of the row or column
// number the sum of the lines that have it. The doublings are left to the host: a chain of 255 takes the device
// milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "curve/point.hpp"
#include "field/fp2.hpp"
#include "msm/msm_join_kernels.cuh"
#include "msm/msm_kernels.cuh"

namespace cuzk::msm_detail {

struct LineArgs {
  unsigned sets, row_bits, column_bits;
  unsigned lanes;  // that share a line; a power of two up to 32
};

// lines[set][rows, then columns]. `lanes` threads a line; all threads of a warp take part in the shuffles.
template <class Curve>
__global__ void __launch_bounds__(64) line_kernel(LineArgs a, const Xyzz<Curve>* buckets, Xyzz<Curve>* lines) {
  const uint32_t thread = blockIdx.x * 64 + threadIdx.x;
  const uint32_t line = thread / a.lanes, lane = thread % a.lanes;
  const uint32_t rows = 1u << a.row_bits, columns = 1u << a.column_bits, lines_of_set = rows + columns;
  Xyzz<Curve> sum = Xyzz<Curve>::infinity();
  if (line < a.sets * lines_of_set) {
    const uint32_t set = line / lines_of_set, number = line % lines_of_set;
    const bool is_row = number < rows;
    const Xyzz<Curve>* at = buckets + (static_cast<size_t>(set) << (a.row_bits + a.column_bits)) +
                            (is_row ? static_cast<size_t>(number) << a.column_bits : number - rows);
    const uint32_t length = is_row ? columns : rows;
    const size_t stride = is_row ? 1 : columns;
    for (uint32_t k = lane; k < length; k += a.lanes) sum.add(at[k * stride]);
  }
#pragma unroll 1
  for (unsigned delta = a.lanes / 2; delta > 0; delta /= 2) sum = sum_of<Curve>(sum, shuffle_down(sum, delta, a.lanes));
  if (lane == 0 && line < a.sets * lines_of_set) lines[line] = sum;
}

// A block a sum: sums[set][0] is the sum of all buckets, sums[set][1 + bit] that of the buckets whose number has the
// bit.
template <class Curve>
__global__ void __launch_bounds__(128) bit_kernel(LineArgs a, const Xyzz<Curve>* lines, Xyzz<Curve>* sums) {
  __shared__ alignas(16) unsigned char shared_bytes[4 * sizeof(Xyzz<Curve>)];
  Xyzz<Curve>* shared = reinterpret_cast<Xyzz<Curve>*>(shared_bytes);
  const unsigned sums_of_set = 1 + a.row_bits + a.column_bits;
  const unsigned set = blockIdx.x / sums_of_set, which = blockIdx.x % sums_of_set;
  const uint32_t rows = 1u << a.row_bits, columns = 1u << a.column_bits;
  const bool of_columns = which > 0 && which <= a.column_bits;
  const Xyzz<Curve>* at = lines + static_cast<size_t>(set) * (rows + columns) + (of_columns ? rows : 0);
  const uint32_t length = of_columns ? columns : rows;
  const unsigned bit = of_columns ? which - 1 : which - 1 - a.column_bits;
  Xyzz<Curve> sum = Xyzz<Curve>::infinity();
  if (which == 0) {
    for (uint32_t k = threadIdx.x; k < length; k += 128) sum = sum_of<Curve>(sum, at[k]);
  } else {
    // The k-th number that has the bit.
    for (uint32_t k = threadIdx.x; k < length / 2; k += 128) {
      const uint32_t low = k & ((1u << bit) - 1);
      sum = sum_of<Curve>(sum, at[(k - low) << 1 | 1u << bit | low]);
    }
  }
#pragma unroll 1
  for (unsigned delta = 16; delta > 0; delta /= 2) sum = sum_of<Curve>(sum, shuffle_down(sum, delta, 32));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (unsigned w = 1; w < 4; ++w) sum = sum_of<Curve>(sum, shared[w]);
    sums[blockIdx.x] = sum;
  }
}

// to[i] = 2^shift * from[i].
template <class Curve>
__global__ void __launch_bounds__(128)
    multiply_kernel(const Affine<Curve>* from, Affine<Curve>* to, size_t count, unsigned shift) {
  const size_t i = static_cast<size_t>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= count) return;
  Xyzz<Curve> p = Xyzz<Curve>::from_affine(from[i]);
#pragma unroll 1
  for (unsigned k = 0; k < shift; ++k) p = p.dbl();
  to[i] = p.to_affine();
}

}  // namespace cuzk::msm_detail
