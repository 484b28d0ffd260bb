#include <algorithm>

#include "gpu/cuda_check.cuh"
#include "msm/msm_cuda.hpp"
#include "msm/msm_hybrid_cuda.cuh"
#include "msm/msm_hybrid_kernels.cuh"

namespace cuzk {
namespace msm_detail {
namespace {

constexpr unsigned kWordsInPlace = sizeof(G1Affine) / sizeof(Word);

// `to` may be `from` where its points are kWordsInPlace words apart.
__global__ void __launch_bounds__(128) prepare_kernel(const G1Affine* from, Word* to, size_t count, uint32_t words) {
  const size_t i = static_cast<size_t>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= count) return;
  const G1Affine p = from[i];
  HybridRecord<Word>{to + i * words}.store(p);
}

unsigned blocks_of_128(size_t count) { return static_cast<unsigned>((count + 127) / 128); }

Status prepare(const G1Affine* from, Word* to, size_t count, uint32_t words, cudaStream_t stream) {
  if (count == 0) return {};
  prepare_kernel<<<blocks_of_128(count), 128, 0, stream>>>(from, to, count, words);
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

// Numbers bases and sums as records of one size from the lower one on: a lane then finds what it copies for another
// with one multiplication.
Status number_records(const Word* bases, std::byte* sums, size_t bytes, AccumulateArgs<G1Curve>& a) {
  const auto base_at = reinterpret_cast<uintptr_t>(bases);
  auto sum_at = reinterpret_cast<uintptr_t>(sums);
  // Up to a record more, which lay_out() allows for.
  sum_at += base_at < sum_at ? (bytes - (sum_at - base_at) % bytes) % bytes : (base_at - sum_at) % bytes;
  const uintptr_t first = std::min(base_at, sum_at);
  const size_t most = std::max((base_at - first) / bytes + MsmPlan::kMaxTable,
                               (sum_at - first) / bytes + size_t{a.threads} * (a.max_segment / 2));
  if (most > kNoReference) return Error(ErrorClass::kInternal, "bases and scratch memory of an msm are too far apart");
  a.records = reinterpret_cast<Word*>(first);
  a.record_bytes = static_cast<uint32_t>(bytes);
  a.first_base = static_cast<uint32_t>((base_at - first) / bytes);
  a.first_sum = static_cast<uint32_t>((sum_at - first) / bytes);
  return {};
}

}  // namespace

Status prepare_copy(const MsmPlan& plan, std::span<const G1Affine> bases, std::byte* scratch, cudaStream_t stream) {
  return prepare(bases.data(), reinterpret_cast<Word*>(scratch + plan.scratch().prepared), bases.size(),
                 MsmPlan::kPreparedBytes / sizeof(Word), stream);
}

Status hybrid_rounds_and_walk(const MsmPlan& plan, AccumulateArgs<G1Curve> a, std::byte* scratch, cudaStream_t stream) {
  const MsmScratch& at = plan.scratch();
  const auto* bases = plan.bases_are_prepared() ? reinterpret_cast<const Word*>(a.bases)
                                                : reinterpret_cast<const Word*>(scratch + at.prepared);
  CUZK_TRY(number_records(bases, scratch + at.slots, plan.record_bytes(), a));
  // The buffers that the sorted list is not in.
  const auto words = [&](size_t offset) { return reinterpret_cast<uint32_t*>(scratch + offset); };
  a.pair_refs[0] = words(a.keys == words(at.keys[0]) ? at.keys[1] : at.keys[0]);
  a.pair_refs[1] = words(a.refs == words(at.refs[0]) ? at.refs[1] : at.refs[0]);
  a.pair_counts = words(at.pair_counts);
  const unsigned blocks = plan.threads() / kBlock;
  constexpr int kSharedBytes = Shared::kWords * sizeof(Word) * kHybridBlock;
  static_assert(kSharedBytes == msm_cuda_tuning::kSharedBytesHybrid);
  CUZK_CUDA_TRY(cudaFuncSetAttribute(hybrid_pair_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  for (unsigned round = 0; round < plan.affine_rounds(); ++round) {
    list_kernel<<<blocks, kBlock, 0, stream>>>(a, round == 0);
    CUZK_CUDA_TRY(cudaGetLastError());
    hybrid_pair_kernel<<<plan.threads() / kHybridBlock, kHybridBlock, kSharedBytes, stream>>>(a, round == 0);
    CUZK_CUDA_TRY(cudaGetLastError());
  }
  walk_kernel<G1Curve, HybridPoints><<<blocks, kBlock, 0, stream>>>(a, plan.affine_rounds() > 0);
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

}  // namespace msm_detail

Status msm_prepare(std::span<G1Affine> points, const gpu::Stream& stream) {
  using msm_detail::Word;
  return msm_detail::prepare(points.data(), reinterpret_cast<Word*>(points.data()), points.size(),
                             msm_detail::kWordsInPlace, stream.handle());
}

}  // namespace cuzk
