#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "gpu/cuda_check.cuh"
#include "hash/poseidon_constants.hpp"
#include "matrix/matrix_cuda.hpp"
#include "matrix/matrix_kernels.cuh"

namespace cuzk {
namespace {

using gpu::Reservation;
using gpu::Stream;

constexpr uint32_t kArities[] = {2, 4, 8, 11};

unsigned blocks_for(uint64_t threads, unsigned threads_per_block) {
  return static_cast<unsigned>((threads + threads_per_block - 1) / threads_per_block);
}

template <class T>
Status upload_array(std::span<const T> from, Reservation& memory, const Stream& stream, gpu::DeviceBuffer<T>& to) {
  CUZK_ASSIGN(to, memory.allocate<T>(from.size(), stream));
  return gpu::copy_to_device<T>(to.span(), from, stream);
}

std::vector<uint32_t> instances_of(const PackedSystem& system, uint32_t block) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < system.instances.size(); ++i) {
    if (system.instances[i].block == block) out.push_back(i);
  }
  return out;
}

std::set<uint32_t> arities_of(const PackedSystem& system) {
  std::set<uint32_t> out;
  for (const PackedHashBatch& batch : system.batches) out.insert(batch.arity);
  return out;
}

std::vector<Fr> flat_constants(const PoseidonConstants& k) {
  std::vector<Fr> out;
  for (const std::vector<Fr>* part : {&k.compressed, &k.mds, &k.pre_sparse, &k.sparse}) {
    out.insert(out.end(), part->begin(), part->end());
  }
  return out;
}

// rows: a power of two where the order is bit-reversed.
matrix_cuda::RowPlaces places_of(RowOrder order, size_t rows) {
  if (order == RowOrder::kNatural) return {0};
  CUZK_ASSERT(std::has_single_bit(rows) && rows <= size_t{1} << 32);
  return {static_cast<unsigned>(std::countr_zero(rows))};
}

// The views of flat_constants() in device memory.
poseidon_cuda::Constants constants_view(uint32_t arity, const Fr* flat) {
  const uint32_t t = arity + 1, partial_rounds = poseidon_partial_rounds(arity);
  const Fr* const mds = flat + kPoseidonFullRounds * t + partial_rounds;
  return {flat, mds, mds + t * t, mds + 2 * t * t, partial_rounds};
}

}  // namespace

uint64_t DeviceSystem::resident_bytes(const PackedSystem& system) {
  uint64_t total = 0;
  const auto add = [&]<class T>(std::type_identity<T>, size_t size) { total += Reservation::bytes_for<T>(size); };
  for (uint32_t b = 0; b < system.blocks.size(); ++b) {
    const PackedBlock& block = system.blocks[b];
    for (const PackedRows& rows : block.matrices) {
      add(std::type_identity<uint32_t>(), rows.row_start.size());
      add(std::type_identity<PackedColumn>(), rows.column.size());
      add(std::type_identity<uint16_t>(), rows.coefficient.size());
    }
    add(std::type_identity<PackedFieldRun>(), block.field_runs.size());
    add(std::type_identity<uint32_t>(), instances_of(system, b).size());
  }
  for (const uint32_t arity : arities_of(system)) {
    add(std::type_identity<Fr>(), flat_constants(poseidon_constants(arity)).size());
  }
  add(std::type_identity<Fr>(), system.coefficients.size());
  add(std::type_identity<PackedInstance>(), system.instances.size());
  add(std::type_identity<PackedPlace>(), system.ports.size());
  add(std::type_identity<PackedColumn>(), system.hash_inputs.size());
  add(std::type_identity<PackedHashJob>(), system.jobs.size());
  add(std::type_identity<unsigned long long>(), 1);
  // An empty array takes a granule too (ArenaLayout::allocate).
  return total + gpu::ArenaLayout::kGranularityBytes * (11 * system.blocks.size() + 8);
}

Result<DeviceSystem> DeviceSystem::upload(const PackedSystem& system, Reservation& memory, const Stream& stream) {
  for (const uint32_t arity : arities_of(system)) {
    if (std::find(std::begin(kArities), std::end(kArities), arity) == std::end(kArities)) {
      return Error(ErrorClass::kUnsupported, "Poseidon of arity " + std::to_string(arity) + " has no device form");
    }
  }
  DeviceSystem out;
  out.num_inputs_ = system.num_inputs;
  out.num_values_ = system.num_values;
  out.num_fields_ = system.num_fields;
  out.num_constraints_ = system.num_constraints;
  out.num_bits_ = system.num_bits;
  const Fr minus_one = -Fr::one();
  for (uint32_t i = 0; i < system.coefficients.size(); ++i) {
    if (system.coefficients[i].is_one()) out.one_ = i;
    if (system.coefficients[i] == minus_one) out.minus_one_ = i;
  }
  for (uint32_t b = 0; b < system.blocks.size(); ++b) CUZK_TRY(out.upload_block(system, b, memory, stream));
  CUZK_TRY(out.upload_hashes(system, memory, stream));
  CUZK_TRY(upload_array(system.coefficients, memory, stream, out.coefficients_));
  CUZK_TRY(upload_array<PackedInstance>(system.instances, memory, stream, out.instances_));
  CUZK_TRY(upload_array<PackedPlace>(system.ports, memory, stream, out.ports_));
  CUZK_ASSIGN(out.first_unsatisfied_, memory.allocate<unsigned long long>(1, stream));
  CUZK_TRY(stream.synchronize());
  return Result<DeviceSystem>(std::move(out));
}

Status DeviceSystem::upload_block(const PackedSystem& system, uint32_t number, Reservation& memory,
                                  const Stream& stream) {
  const PackedBlock& from = system.blocks[number];
  Block to;
  for (size_t m = 0; m < to.matrices.size(); ++m) {
    CUZK_TRY(upload_array(from.matrices[m].row_start, memory, stream, to.matrices[m].row_start));
    CUZK_TRY(upload_array<PackedColumn>(from.matrices[m].column, memory, stream, to.matrices[m].column));
    CUZK_TRY(upload_array(from.matrices[m].coefficient, memory, stream, to.matrices[m].coefficient));
  }
  CUZK_TRY(upload_array<PackedFieldRun>(from.field_runs, memory, stream, to.field_runs));
  const std::vector<uint32_t> instances = instances_of(system, number);
  CUZK_TRY(upload_array<uint32_t>(instances, memory, stream, to.instances));
  to.num_rows = from.num_rows;
  for (const PackedFieldRun& run : from.field_runs) to.num_fields += run.count;
  blocks_.push_back(std::move(to));
  return {};
}

Status DeviceSystem::upload_hashes(const PackedSystem& system, Reservation& memory, const Stream& stream) {
  for (const uint32_t arity : arities_of(system)) {
    const std::vector<Fr> constants = flat_constants(poseidon_constants(arity));
    Hashes hashes{arity, {}};
    CUZK_TRY(upload_array<Fr>(constants, memory, stream, hashes.constants));
    CUZK_TRY(stream.synchronize());  // `constants` goes away
    hashes_.push_back(std::move(hashes));
  }
  batches_ = system.batches;
  CUZK_TRY(upload_array<PackedColumn>(system.hash_inputs, memory, stream, hash_inputs_));
  return upload_array<PackedHashJob>(system.jobs, memory, stream, jobs_);
}

Status DeviceSystem::expand(std::span<const uint64_t> bits, std::span<const Fr> fields, std::span<Fr> values,
                            const Stream& stream) const {
  CUZK_ASSERT(bits.size() == (uint64_t{num_bits_} + 63) / 64 && fields.size() == num_fields_ &&
              values.size() == num_values_);
  for (const Block& block : blocks_) {
    const uint64_t count = uint64_t{block.num_fields} * block.instances.size();
    if (count == 0) continue;
    constexpr unsigned kThreads = matrix_tuning::kCopyThreads;
    matrix_cuda::scatter_fields_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream.handle()>>>(
        instances_.data(), block.instances.data(), static_cast<uint32_t>(block.instances.size()),
        block.field_runs.data(), static_cast<uint32_t>(block.field_runs.size()), block.num_fields, fields.data(),
        values.data());
    CUZK_CUDA_TRY(cudaGetLastError());
  }
  for (const PackedHashBatch& batch : batches_) CUZK_TRY(run_batch(batch, bits, values, stream));
  return {};
}

Status DeviceSystem::run_batch(const PackedHashBatch& batch, std::span<const uint64_t> bits, std::span<Fr> values,
                               const Stream& stream) const {
  const auto hashes =
      std::find_if(hashes_.begin(), hashes_.end(), [&](const Hashes& h) { return h.arity == batch.arity; });
  CUZK_ASSERT(hashes != hashes_.end());
  const poseidon_cuda::Constants constants = constants_view(batch.arity, hashes->constants.data());
  const auto launch = [&]<unsigned kArity>() {
    constexpr unsigned kWidth = kArity + 1, kLanes = poseidon_cuda::group_lanes(kWidth);
    constexpr unsigned kThreads = matrix_tuning::kHashThreads;
    matrix_cuda::hash_kernel<kWidth>
        <<<blocks_for(uint64_t{batch.num_jobs} * kLanes, kThreads), kThreads, 0, stream.handle()>>>(
            constants, Fr::from_u64(batch.tag), instances_.data(), ports_.data(), hash_inputs_.data(),
            jobs_.data() + batch.first_job, batch.num_jobs, reinterpret_cast<const uint32_t*>(bits.data()),
            values.data());
  };
  switch (batch.arity) {
    case 2: launch.operator()<2>(); break;
    case 4: launch.operator()<4>(); break;
    case 8: launch.operator()<8>(); break;
    default: launch.operator()<11>(); break;
  }
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

Status DeviceSystem::multiply(unsigned matrix, const DeviceWitness& witness, std::span<Fr> out, RowOrder order,
                              const Stream& stream) const {
  CUZK_ASSERT(matrix < 3 && witness.values.size() == num_values_ &&
              out.size() >= uint64_t{num_constraints_} + num_inputs_);
  const matrix_cuda::RowPlaces places = places_of(order, out.size());
  const matrix_cuda::SystemView system{instances_.data(), ports_.data(), coefficients_.data(), one_, minus_one_};
  const matrix_cuda::ValuesView values{reinterpret_cast<const uint32_t*>(witness.bits.data()), witness.values.data()};
  for (const Block& block : blocks_) {
    if (block.num_rows == 0 || block.instances.size() == 0) continue;
    constexpr unsigned kThreads = matrix_tuning::kRowThreads;
    const Rows& rows = block.matrices[matrix];
    const auto instances = static_cast<uint32_t>(block.instances.size());
    matrix_cuda::rows_kernel<<<blocks_for(block.num_rows, kThreads) * instances, kThreads, 0, stream.handle()>>>(
        system, {rows.row_start.data(), rows.column.data(), rows.coefficient.data(), block.num_rows},
        block.instances.data(), instances, values, places, out.data());
    CUZK_CUDA_TRY(cudaGetLastError());
  }
  if (out.size() == num_constraints_) return {};
  constexpr unsigned kThreads = matrix_tuning::kCopyThreads;
  matrix_cuda::rest_kernel<<<blocks_for(out.size() - num_constraints_, kThreads), kThreads, 0, stream.handle()>>>(
      num_constraints_, out.size(), witness.values.data(), matrix == 0 ? num_inputs_ : 0, places, out.data());
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

Result<std::optional<uint64_t>> DeviceSystem::first_unsatisfied_row(std::span<const Fr> a, std::span<const Fr> b,
                                                                    std::span<const Fr> c, RowOrder order,
                                                                    const Stream& stream) const {
  CUZK_ASSERT(a.size() == b.size() && b.size() == c.size());
  CUZK_TRY(gpu::fill_bytes(first_unsatisfied_.data(), 0xff, sizeof(unsigned long long), stream));
  if (!a.empty()) {
    constexpr unsigned kThreads = matrix_tuning::kCopyThreads;
    matrix_cuda::unsatisfied_kernel<<<blocks_for(a.size(), kThreads), kThreads, 0, stream.handle()>>>(
        a.data(), b.data(), c.data(), a.size(), places_of(order, a.size()), first_unsatisfied_.data());
    CUZK_CUDA_TRY(cudaGetLastError());
  }
  unsigned long long first = 0;
  CUZK_TRY(gpu::copy_bytes_to_host(&first, first_unsatisfied_.data(), sizeof(first), stream));
  CUZK_TRY(stream.synchronize());
  if (first == ~0ull) return std::optional<uint64_t>();
  return std::optional<uint64_t>(first);
}

}  // namespace cuzk
