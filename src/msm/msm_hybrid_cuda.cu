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
__global__ void __launch_bounds__(128) unprepare_kernel(G1Affine* points, size_t count) {
  const size_t i = static_cast<size_t>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= count) return;
  points[i] = HybridRecord<Word>{reinterpret_cast<Word*>(points + i)}.load(false);
}

unsigned blocks_of_128(size_t count) { return static_cast<unsigned>((count + 127) / 128); }

Status prepare(const G1Affine* from, Word* to, size_t count, uint32_t words, cudaStream_t stream) {
  if (count == 0) return {};
  prepare_kernel<<<blocks_of_128(count), 128, 0, stream>>>(from, to, count, words);
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

template <bool kFirst>
Status add_pairs(const AccumulateArgs<G1Curve>& a, unsigned blocks, cudaStream_t stream) {
  constexpr int kSharedBytes = Shared::kWords * sizeof(Word) * kHybridBlock;
  static_assert(kSharedBytes == msm_cuda_tuning::kSharedBytesHybrid);
  CUZK_CUDA_TRY(
      cudaFuncSetAttribute(hybrid_pair_kernel<kFirst>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  list_kernel<kFirst><<<blocks, kBlock, 0, stream>>>(a);
  CUZK_CUDA_TRY(cudaGetLastError());
  hybrid_pair_kernel<kFirst><<<blocks, kHybridBlock, kSharedBytes, stream>>>(a);
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

}  // namespace

Status prepare_copy(const MsmPlan& plan, std::span<const G1Affine> bases, std::byte* scratch, cudaStream_t stream) {
  return prepare(bases.data(), reinterpret_cast<Word*>(scratch + plan.scratch().prepared), bases.size(),
                 MsmPlan::kPreparedBytes / sizeof(Word), stream);
}

Status hybrid_rounds_and_walk(const MsmPlan& plan, AccumulateArgs<G1Curve> a, std::byte* scratch, cudaStream_t stream) {
  if (plan.bases_are_prepared()) {
    a.prepared = reinterpret_cast<const Word*>(a.bases);
    a.prepared_words = kWordsInPlace;
  } else {
    a.prepared = reinterpret_cast<const Word*>(scratch + plan.scratch().prepared);
    a.prepared_words = MsmPlan::kPreparedBytes / sizeof(Word);
  }
  // The buffers that the sorted list is not in.
  const MsmScratch& at = plan.scratch();
  const auto words = [&](size_t offset) { return reinterpret_cast<uint32_t*>(scratch + offset); };
  a.pair_refs[0] = words(a.keys == words(at.keys[0]) ? at.keys[1] : at.keys[0]);
  a.pair_refs[1] = words(a.refs == words(at.refs[0]) ? at.refs[1] : at.refs[0]);
  a.pair_counts = words(at.pair_counts);
  const unsigned blocks = plan.threads() / kBlock;
  for (unsigned round = 0; round < plan.affine_rounds(); ++round) {
    CUZK_TRY(round == 0 ? add_pairs<true>(a, blocks, stream) : add_pairs<false>(a, blocks, stream));
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

Status msm_unprepare(std::span<G1Affine> points, const gpu::Stream& stream) {
  if (points.empty()) return {};
  msm_detail::unprepare_kernel<<<msm_detail::blocks_of_128(points.size()), 128, 0, stream.handle()>>>(points.data(),
                                                                                                      points.size());
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

}  // namespace cuzk
