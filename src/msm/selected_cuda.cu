#include "gpu/cuda_check.cuh"
#include "msm/selected_cuda.hpp"
#include "msm/selected_kernels.cuh"

namespace cuzk {
namespace {

// Thread blocks a multiprocessor: what the registers of a thread (about 170 in G1, 255 in G2) leave room for.
template <class Curve>
constexpr unsigned kBlocksPerMultiprocessor = sizeof(typename Curve::Field) == sizeof(Fp) ? 3 : 2;

}  // namespace

template <class Curve>
size_t selected_sums(unsigned multiprocessors) {
  return size_t{multiprocessors} * kBlocksPerMultiprocessor<Curve>;
}

template <class Curve>
Status selected_enqueue(std::span<const Affine<Curve>> bases, std::span<const uint32_t> bits,
                        std::span<Xyzz<Curve>> sums, const gpu::Stream& stream) {
  if (bits.size() != (bases.size() + 31) / 32 || bits.size() > UINT32_MAX || sums.empty()) {
    return Error(ErrorClass::kUsage, "selected sums: the sizes do not fit together");
  }
  msm_detail::select_kernel<Curve>
      <<<static_cast<unsigned>(sums.size()), msm_detail::kSelectThreads, 0, stream.handle()>>>(
          bases.data(), bits.data(), static_cast<uint32_t>(bits.size()), sums.data());
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

template size_t selected_sums<G1Curve>(unsigned);
template size_t selected_sums<G2Curve>(unsigned);
template Status selected_enqueue<G1Curve>(std::span<const G1Affine>, std::span<const uint32_t>, std::span<G1Xyzz>,
                                          const gpu::Stream&);
template Status selected_enqueue<G2Curve>(std::span<const G2Affine>, std::span<const uint32_t>, std::span<G2Xyzz>,
                                          const gpu::Stream&);

}  // namespace cuzk
