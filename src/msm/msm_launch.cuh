// The order of the kernels; msm_g1_cuda.cu and msm_g2_cuda.cu instantiate it.
#pragma once

#include <string>

#include "gpu/cuda_check.cuh"
#include "msm/msm_cuda.hpp"
#include "msm/msm_kernels.cuh"
#include "msm/msm_reduce_kernels.cuh"

namespace cuzk::msm_detail {

template <class T>
T* at_offset(std::byte* scratch, size_t offset) {
  return reinterpret_cast<T*>(scratch + offset);
}
inline unsigned blocks_for(size_t threads, unsigned block) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

// Adds the partial sums of a task to its buckets.
template <class Curve>
Status join_partials(const MsmPlan& plan, Xyzz<Curve>* buckets, std::byte* scratch, cudaStream_t stream) {
  const MsmScratch& at = plan.scratch();
  meet_kernel<Curve><<<blocks_for(plan.threads(), kBlock), kBlock, 0, stream>>>(
      at_offset<const uint32_t>(scratch, at.partial_keys[0]), at_offset<Xyzz<Curve>>(scratch, at.partial_points[0]),
      plan.threads(), buckets);
  CUZK_CUDA_TRY(cudaGetLastError());
  uint32_t size = 2 * plan.threads();
  for (unsigned from = 0; size > 0; from = 1 - from) {
    const uint32_t threads = blocks_for(size, msm_cuda_tuning::kJoin);
    join_kernel<Curve><<<blocks_for(threads, kBlock), kBlock, 0, stream>>>(
        at_offset<const uint32_t>(scratch, at.partial_keys[from]),
        at_offset<const Xyzz<Curve>>(scratch, at.partial_points[from]), size,
        at_offset<uint32_t>(scratch, at.partial_keys[1 - from]),
        at_offset<Xyzz<Curve>>(scratch, at.partial_points[1 - from]), buckets);
    CUZK_CUDA_TRY(cudaGetLastError());
    size = threads > 1 ? 2 * threads : 0;
  }
  return {};
}

template <class Curve>
Status add_task(const MsmPlan& plan, const MsmTask& task, const Affine<Curve>* bases, const EntrySource& source,
                std::byte* scratch, const gpu::Stream& stream) {
  const MsmScratch& at = plan.scratch();
  AccumulateArgs<Curve> a{};
  CUZK_TRY(sorted_entries(plan, task, source, scratch, &a.keys, &a.refs, stream));
  a.bases = bases;
  a.count = at_offset<uint32_t>(scratch, at.count);
  a.begin = at_offset<uint32_t>(scratch, at.begin);
  a.threads = plan.threads();
  a.max_segment = plan.max_segment();
  a.products = at_offset<Word>(scratch, at.products);
  a.slots = at_offset<Word>(scratch, at.slots);
  a.partial_keys = at_offset<uint32_t>(scratch, at.partial_keys[0]);
  a.partial_points = at_offset<Xyzz<Curve>>(scratch, at.partial_points[0]);
  a.buckets = at_offset<Xyzz<Curve>>(scratch, at.buckets) + (size_t{task.first_set} << plan.bucket_bits());
  const unsigned blocks = plan.threads() / kBlock;
  const unsigned rounds = a.max_segment > 1 ? plan.affine_rounds() : 0;
  for (unsigned round = 0; round < rounds; ++round) {
    if (round == 0) {
      pair_kernel<Curve, true><<<blocks, kBlock, 0, stream.handle()>>>(a);
    } else {
      pair_kernel<Curve, false><<<blocks, kBlock, 0, stream.handle()>>>(a);
    }
    CUZK_CUDA_TRY(cudaGetLastError());
  }
  walk_kernel<Curve><<<blocks, kBlock, 0, stream.handle()>>>(a, rounds > 0);
  CUZK_CUDA_TRY(cudaGetLastError());
  return join_partials<Curve>(plan, a.buckets, scratch, stream.handle());
}

template <class Curve>
Status reduce_buckets(const MsmPlan& plan, Xyzz<Curve>* sums, std::byte* scratch, cudaStream_t stream) {
  const MsmScratch& at = plan.scratch();
  LineArgs a{plan.sets(), plan.row_bits(), plan.column_bits(), 1};
  const size_t lines = plan.sets() * plan.lines_of_set();
  while (a.lanes < 32 && lines * a.lanes < msm_cuda_tuning::kLineThreads &&
         (size_t{2} * a.lanes << 1) <= (size_t{1} << plan.row_bits())) {
    a.lanes *= 2;
  }
  auto* sums_of_lines = at_offset<Xyzz<Curve>>(scratch, at.lines);
  line_kernel<Curve><<<blocks_for(lines * a.lanes, 64), 64, 0, stream>>>(
      a, at_offset<const Xyzz<Curve>>(scratch, at.buckets), sums_of_lines);
  CUZK_CUDA_TRY(cudaGetLastError());
  bit_kernel<Curve><<<static_cast<unsigned>(plan.sums()), 128, 0, stream>>>(a, sums_of_lines, sums);
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

template <class Curve>
Status check_sizes(const MsmPlan& plan, size_t points, const char* name) {
  if (static_cast<size_t>(plan.group()) != sizeof(typename Curve::Field)) {
    return Error(ErrorClass::kUsage, "the msm plan is for the other group");
  }
  if (points != plan.table_points()) {
    return Error(ErrorClass::kUsage,
                 std::to_string(points) + " points where the msm plan has " + std::to_string(plan.table_points()))
        .at_field(name);
  }
  return {};
}

template <class Curve>
Status enqueue(const MsmPlan& plan, std::span<const Affine<Curve>> bases, const EntrySource& source,
               std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, const gpu::Stream& stream) {
  CUZK_TRY(check_sizes<Curve>(plan, bases.size(), "bases"));
  if (sums.size() != plan.sums()) return Error(ErrorClass::kUsage, "wrong number of sums").at_field("sums");
  if (scratch.size() < plan.scratch_bytes() || reinterpret_cast<uintptr_t>(scratch.data()) % 256 != 0) {
    return Error(ErrorClass::kUsage, "the scratch memory of an msm is too small or not aligned").at_field("scratch");
  }
  if (plan.bases() == 0) {
    CUZK_CUDA_TRY(cudaMemsetAsync(sums.data(), 0, sums.size_bytes(), stream.handle()));  // infinities
    return {};
  }
  CUZK_CUDA_TRY(cudaMemsetAsync(scratch.data() + plan.scratch().buckets, 0, plan.buckets() * sizeof(Xyzz<Curve>),
                                stream.handle()));
  for (const MsmTask& task : plan.tasks()) {
    CUZK_TRY(add_task<Curve>(plan, task, bases.data(), source, scratch.data(), stream));
  }
  return reduce_buckets<Curve>(plan, sums.data(), scratch.data(), stream.handle());
}

}  // namespace cuzk::msm_detail

namespace cuzk {

template <class Curve>
Status msm_enqueue(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const Fr> scalars,
                   std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, const gpu::Stream& stream) {
  if (plan.is_selection() || scalars.size() != plan.bases()) {
    return Error(ErrorClass::kUsage, "the msm plan is for something else").at_field("scalars");
  }
  return msm_detail::enqueue<Curve>(plan, bases, {scalars.data(), nullptr}, sums, scratch, stream);
}

template <class Curve>
Status selection_enqueue(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const uint64_t> bits,
                         std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, const gpu::Stream& stream) {
  if (!plan.is_selection() || bits.size() != plan.witnesses() * plan.words_of_bits()) {
    return Error(ErrorClass::kUsage, "the plan of the selection is for something else").at_field("bits");
  }
  return msm_detail::enqueue<Curve>(plan, bases, {nullptr, bits.data()}, sums, scratch, stream);
}

template <class Curve>
Status msm_make_table(const MsmPlan& plan, std::span<Affine<Curve>> table, const gpu::Stream& stream) {
  CUZK_TRY(msm_detail::check_sizes<Curve>(plan, table.size(), "table"));
  const size_t n = plan.bases();
  for (unsigned j = 1; n > 0 && j < plan.table_multiples(); ++j) {
    msm_detail::multiply_kernel<Curve><<<msm_detail::blocks_for(n, 128), 128, 0, stream.handle()>>>(
        table.data() + (j - 1) * n, table.data() + j * n, n, plan.table_shift());
    CUZK_CUDA_TRY(cudaGetLastError());
  }
  return {};
}

}  // namespace cuzk
