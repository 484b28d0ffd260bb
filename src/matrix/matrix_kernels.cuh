// Kernels of the packed form: matrix_cuda.cu launches them.
#pragma once

#include <cstdint>

#include "field/fr.hpp"
#include "hash/poseidon_kernels.cuh"
#include "matrix/matrix_tuning.hpp"
#include "matrix/packed_access.cuh"
#include "matrix/packed_system.hpp"

namespace cuzk::matrix_cuda {

// The resident arrays that all blocks share.
struct SystemView {
  const PackedInstance* instances;
  const PackedPlace* ports;
  const Fr* coefficients;
  uint32_t one, minus_one;  // ids of these coefficients; ~0 where there is none
};

struct RowsView {
  const uint32_t* row_start;
  const PackedColumn* column;
  const uint16_t* coefficient;
  uint32_t num_rows;
};

// The place of a row among 2^bits rows in bit-reversed order; bits == 0: the natural order.
struct RowPlaces {
  unsigned bits;
  __device__ __forceinline__ uint32_t operator()(uint32_t row) const {
    return bits == 0 ? row : __brev(row) >> (32 - bits);
  }
};

// The packed values of one witness.
struct ValuesView {
  const uint32_t* bits;
  const Fr* values;
};

// sum += term k. Bits and ONE cost an addition, and nothing where the bit is not set; coefficients 1 and -1 no
// multiplication.
__device__ __forceinline__ void add_term(Fr& sum, const SystemView& system, const RowsView& rows,
                                         const PackedInstance& instance, const ValuesView& values, uint32_t k) {
  const PackedColumn column = rows.column[k];
  const uint32_t id = rows.coefficient[k];
  const PackedPlace place = instance.place(column, system.ports);
  if (place.is_bit()) {
    if (bit_at(values.bits, place.index())) sum += load_constant(system.coefficients + id);
    return;
  }
  if (column.raw == PackedColumn::one().raw) {
    sum += load_constant(system.coefficients + id);
    return;
  }
  const Fr value = load_constant(values.values + place.index());
  if (id == system.one) {
    sum += value;
  } else if (id == system.minus_one) {
    sum -= value;
  } else {
    sum += load_constant(system.coefficients + id) * value;
  }
}

// out[places(instance.first_row + row)] = <row, witness> for the rows of a block and all its instances, whose numbers
// are `instances`. Thread blocks with the same rows of different instances follow each other, so that the rows are read
// from memory once. A row a thread; then the warp sums its long rows one after the other.
__global__ void __launch_bounds__(matrix_tuning::kRowThreads)
    rows_kernel(SystemView system, RowsView rows, const uint32_t* instances, uint32_t num_instances, ValuesView values,
                RowPlaces places, Fr* out) {
  const PackedInstance instance = system.instances[instances[blockIdx.x % num_instances]];
  const uint32_t row = blockIdx.x / num_instances * matrix_tuning::kRowThreads + threadIdx.x;
  const bool exists = row < rows.num_rows;
  const uint32_t begin = exists ? rows.row_start[row] : 0, end = exists ? rows.row_start[row + 1] : 0;
  const bool is_long = end - begin > matrix_tuning::kLongRow;
  Fr sum = Fr::zero();
  if (!is_long) {
    for (uint32_t k = begin; k < end; ++k) add_term(sum, system, rows, instance, values, k);
  }
  const unsigned lane = threadIdx.x % 32;
  for (unsigned left = __ballot_sync(0xffffffff, is_long); left != 0; left &= left - 1) {
    const unsigned owner = __ffs(left) - 1;
    const uint32_t first = __shfl_sync(0xffffffff, begin, owner), last = __shfl_sync(0xffffffff, end, owner);
    Fr part = Fr::zero();
    for (uint32_t k = first + lane; k < last; k += 32) add_term(part, system, rows, instance, values, k);
    __syncwarp();
    part = poseidon_cuda::group_sum<32>(part);
    if (lane == owner) sum = part;
  }
  if (exists) store(out + places(instance.first_row + row), sum);
}

// The rows from `first` on: the inputs, or no rows, then zeros.
__global__ void __launch_bounds__(matrix_tuning::kCopyThreads)
    rest_kernel(uint32_t first, uint64_t num_rows, const Fr* inputs, uint32_t num_inputs, RowPlaces places, Fr* out) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * matrix_tuning::kCopyThreads + threadIdx.x;
  if (first + i >= num_rows) return;
  store(out + places(static_cast<uint32_t>(first + i)), i < num_inputs ? load_constant(inputs + i) : Fr::zero());
}

// Field wires of all instances of a block from the packed fields to their values.
__global__ void scatter_fields_kernel(const PackedInstance* all_instances, const uint32_t* instances,
                                      uint32_t num_instances, const PackedFieldRun* runs, uint32_t num_runs,
                                      uint32_t num_fields, const Fr* fields, Fr* values) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<uint64_t>(num_instances) * num_fields) return;
  const PackedInstance& instance = all_instances[instances[i / num_fields]];
  const uint32_t field = static_cast<uint32_t>(i % num_fields);
  uint32_t low = 0, high = num_runs;  // the last run that begins at or before `field` is in [low, high)
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (runs[middle].first_field <= field ? low : high) = middle;
  }
  store(values + instance.first_value + runs[low].first_value + (field - runs[low].first_field),
        load_constant(fields + instance.first_field + field));
}

// The hashes of one batch, a group of lanes each.
template <unsigned kWidth>
__global__ void __launch_bounds__(matrix_tuning::kHashThreads)
    hash_kernel(poseidon_cuda::Constants constants, Fr tag, const PackedInstance* instances, const PackedPlace* ports,
                const PackedColumn* hash_inputs, const PackedHashJob* jobs, uint32_t num_jobs, const uint32_t* bits,
                Fr* values) {
  constexpr unsigned kLanes = poseidon_cuda::group_lanes(kWidth);
  const uint32_t thread = blockIdx.x * matrix_tuning::kHashThreads + threadIdx.x;
  const unsigned lane = thread % kLanes;
  const uint32_t number = thread / kLanes;
  const bool exists = number < num_jobs;
  const PackedHashJob job = jobs[exists ? number : num_jobs - 1];
  Fr x = lane == 0 ? tag : Fr::zero();
  if (lane > 0 && lane < kWidth) {
    const PackedPlace place = instances[job.instance].place(hash_inputs[job.first_input + lane - 1], ports);
    if (!place.is_bit()) {
      x = values[place.index()];
    } else if (bit_at(bits, place.index())) {
      x = Fr::one();
    }
  }
  poseidon_cuda::trace<kWidth>(constants, x, lane, exists ? values + job.first_value : nullptr);
}

// Lowers *first to the lowest row with a*b != c.
__global__ void __launch_bounds__(matrix_tuning::kCopyThreads)
    unsatisfied_kernel(const Fr* a, const Fr* b, const Fr* c, uint64_t num_rows, RowPlaces places,
                       unsigned long long* first) {
  const uint64_t at = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= num_rows) return;
  if (load_constant(a + at) * load_constant(b + at) == load_constant(c + at)) return;
  atomicMin(first, static_cast<unsigned long long>(places(static_cast<uint32_t>(at))));  // its own inverse
}

}  // namespace cuzk::matrix_cuda
