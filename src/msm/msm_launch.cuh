// The order of the kernels; msm_g1_cuda.cu and msm_g2_cuda.cu instantiate it.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "gpu/cuda_check.cuh"
#include "gpu/memory.hpp"
#include "msm/msm_cuda.hpp"
#include "msm/msm_hybrid_cuda.cuh"
#include "msm/msm_join_kernels.cuh"
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
    const uint32_t warps = blocks_for(size, msm_cuda_tuning::kJoin);
    join_kernel<Curve><<<blocks_for(size, kBlock), kBlock, 0, stream>>>(
        at_offset<const uint32_t>(scratch, at.partial_keys[from]),
        at_offset<const Xyzz<Curve>>(scratch, at.partial_points[from]), size,
        at_offset<uint32_t>(scratch, at.partial_keys[1 - from]),
        at_offset<Xyzz<Curve>>(scratch, at.partial_points[1 - from]), buckets);
    CUZK_CUDA_TRY(cudaGetLastError());
    size = warps > 1 ? 2 * warps : 0;
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
  const unsigned rounds = plan.affine_rounds();
  if constexpr (std::is_same_v<Curve, G1Curve>) {
    if (plan.multiplier() == MsmMultiplier::kHybrid) {
      CUZK_TRY(hybrid_rounds_and_walk(plan, a, scratch, stream.handle()));
      return join_partials<Curve>(plan, a.buckets, scratch, stream.handle());
    }
  }
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

inline Error wrong_size(const char* field, size_t size, size_t expected) {
  return Error(ErrorClass::kUsage, std::to_string(size) + " where the msm plan has " + std::to_string(expected))
      .at_field(field);
}

template <class Curve>
Status check_plan(const MsmPlan& plan, std::span<std::byte> scratch) {
  if (static_cast<size_t>(plan.group()) != sizeof(typename Curve::Field)) {
    return Error(ErrorClass::kUsage, "the msm plan is for the other group");
  }
  if (scratch.size() < plan.scratch_bytes()) return wrong_size("scratch", scratch.size(), plan.scratch_bytes());
  if (reinterpret_cast<uintptr_t>(scratch.data()) % 256 != 0) {
    return Error(ErrorClass::kUsage, "the scratch memory of an msm is not aligned").at_field("scratch");
  }
  return {};
}

template <class Curve>
Status add_part(const MsmPlan& plan, std::span<const Affine<Curve>> bases, size_t count, const EntrySource& source,
                std::span<std::byte> scratch, const gpu::Stream& stream) {
  CUZK_TRY(check_plan<Curve>(plan, scratch));
  if constexpr (std::is_same_v<Curve, G1Curve>) {
    if (plan.multiplier() == MsmMultiplier::kHybrid && !plan.bases_are_prepared()) {
      CUZK_TRY(prepare_copy(plan, bases, scratch.data(), stream.handle()));
    }
  }
  for (const MsmTask& task : plan.tasks(count)) {
    CUZK_TRY(add_task<Curve>(plan, task, bases.data(), source, scratch.data(), stream));
  }
  return {};
}

}  // namespace cuzk::msm_detail

namespace cuzk {

template <class Curve>
Status msm_clear(const MsmPlan& plan, std::span<std::byte> scratch, const gpu::Stream& stream) {
  CUZK_TRY(msm_detail::check_plan<Curve>(plan, scratch));
  CUZK_CUDA_TRY(cudaMemsetAsync(scratch.data() + plan.scratch().buckets, 0, plan.buckets() * sizeof(Xyzz<Curve>),
                                stream.handle()));  // infinities
  return {};
}

template <class Curve>
Status msm_add(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const Fr> scalars,
               std::span<std::byte> scratch, const gpu::Stream& stream) {
  if (plan.is_selection() || plan.table_multiples() != 1) {
    return Error(ErrorClass::kUsage, "an msm in parts is one of scalars, without a table");
  }
  if (bases.size() > plan.bases()) return msm_detail::wrong_size("bases", bases.size(), plan.bases());
  if (scalars.size() != bases.size()) return msm_detail::wrong_size("scalars", scalars.size(), bases.size());
  return msm_detail::add_part<Curve>(plan, bases, bases.size(), {scalars.data(), nullptr}, scratch, stream);
}

template <class Curve>
Status msm_reduce(const MsmPlan& plan, std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch,
                  const gpu::Stream& stream) {
  CUZK_TRY(msm_detail::check_plan<Curve>(plan, scratch));
  if (sums.size() != plan.sums()) return msm_detail::wrong_size("sums", sums.size(), plan.sums());
  return msm_detail::reduce_buckets<Curve>(plan, sums.data(), scratch.data(), stream.handle());
}

template <class Curve>
Status msm_enqueue(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const Fr> scalars,
                   std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, const gpu::Stream& stream) {
  if (plan.is_selection()) return Error(ErrorClass::kUsage, "the plan is one of a selection");
  if (bases.size() != plan.table_points()) return msm_detail::wrong_size("bases", bases.size(), plan.table_points());
  if (scalars.size() != plan.bases()) return msm_detail::wrong_size("scalars", scalars.size(), plan.bases());
  CUZK_TRY(msm_clear<Curve>(plan, scratch, stream));
  CUZK_TRY(msm_detail::add_part<Curve>(plan, bases, plan.bases(), {scalars.data(), nullptr}, scratch, stream));
  return msm_reduce<Curve>(plan, sums, scratch, stream);
}

template <class Curve>
Status msm_enqueue_streamed(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const Fr> scalars,
                            std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, MsmStaging<Curve>& staging,
                            const gpu::Stream& stream) {
  if (scalars.size() != bases.size()) return msm_detail::wrong_size("scalars", scalars.size(), bases.size());
  for (const auto& buffer : staging.buffers) {
    if (buffer.size() != plan.bases()) return msm_detail::wrong_size("staging", buffer.size(), plan.bases());
  }
  CUZK_TRY(msm_clear<Curve>(plan, scratch, stream));
  for (size_t at = 0, part = 0; at < bases.size(); at += plan.bases(), ++part) {
    const size_t count = std::min(plan.bases(), bases.size() - at), which = part % 2;
    const auto buffer = staging.buffers[which].first(count);
    if (part >= 2) CUZK_TRY(staging.copies.wait(staging.used[which]));
    CUZK_TRY(gpu::copy_to_device<Affine<Curve>>(buffer, bases.subspan(at, count), staging.copies));
    CUZK_TRY(staging.copied[which].record(staging.copies));
    CUZK_TRY(stream.wait(staging.copied[which]));
    CUZK_TRY(msm_add<Curve>(plan, buffer, scalars.subspan(at, count), scratch, stream));
    CUZK_TRY(staging.used[which].record(stream));
  }
  return msm_reduce<Curve>(plan, sums, scratch, stream);
}

template <class Curve>
Status selection_enqueue(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const uint64_t> bits,
                         std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, const gpu::Stream& stream) {
  if (!plan.is_selection()) return Error(ErrorClass::kUsage, "the plan is not one of a selection");
  if (bases.size() != plan.bases()) return msm_detail::wrong_size("bases", bases.size(), plan.bases());
  const size_t words = plan.witnesses() * plan.words_of_bits();
  if (bits.size() != words) return msm_detail::wrong_size("bits", bits.size(), words);
  CUZK_TRY(msm_clear<Curve>(plan, scratch, stream));
  CUZK_TRY(msm_detail::add_part<Curve>(plan, bases, plan.bases(), {nullptr, bits.data()}, scratch, stream));
  return msm_reduce<Curve>(plan, sums, scratch, stream);
}

template <class Curve>
Status msm_make_table(const MsmPlan& plan, std::span<Affine<Curve>> table, const gpu::Stream& stream) {
  if (table.size() != plan.table_points()) return msm_detail::wrong_size("table", table.size(), plan.table_points());
  const size_t n = plan.bases();
  for (unsigned j = 1; n > 0 && j < plan.table_multiples(); ++j) {
    msm_detail::multiply_kernel<Curve><<<msm_detail::blocks_for(n, 128), 128, 0, stream.handle()>>>(
        table.data() + (j - 1) * n, table.data() + j * n, n, plan.table_shift());
    CUZK_CUDA_TRY(cudaGetLastError());
  }
  return {};
}

}  // namespace cuzk
