#include "base/assert.hpp"
#include "curve/decode_words.hpp"
#include "curve/subgroup.hpp"
#include "gpu/cuda_check.cuh"
#include "msm/decode_points_cuda.hpp"

namespace cuzk {
namespace {

constexpr unsigned kThreads = 128;

template <class Curve>
__device__ __noinline__ bool is_member(Affine<Curve> p) {
  return subgroup_detail::contains(p);
}

// Without `first`, nothing is stored.
template <class Curve>
__global__ void __launch_bounds__(kThreads)
    decode_kernel(PointCheck check, const uint64_t* words, uint32_t count, const uint32_t* places, Affine<Curve>* first,
                  Affine<Curve>* second, uint64_t base, unsigned long long* first_bad) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  Affine<Curve> point;
  const PointError wrong = read_uncompressed_words(words + size_t{i} * kUncompressedWords<Curve>, point);
  if (wrong != PointError::kNone || point.is_infinity() ||
      (check == PointCheck::kSubgroup && !is_member<Curve>(point))) {
    atomicMin(first_bad, static_cast<unsigned long long>(base + i));
    return;
  }
  if (first == nullptr) return;
  const uint32_t place = places == nullptr ? i : places[i];
  constexpr uint32_t kSecond = PointTargets<Curve>::kSecond;
  if ((place & kSecond) == 0) {
    first[place] = point;
  } else {
    second[place & ~kSecond] = point;
  }
}

}  // namespace

template <class Curve>
Status decode_points(std::span<const uint8_t> bytes, std::span<const uint32_t> places,
                     const PointTargets<Curve>& targets, PointCheck check, uint64_t base, unsigned long long* first_bad,
                     const gpu::Stream& stream) {
  constexpr size_t kBytes = kUncompressedWords<Curve> * sizeof(uint64_t);
  const size_t count = bytes.size() / kBytes;
  CUZK_ASSERT(bytes.size() % kBytes == 0 && count < PointTargets<Curve>::kSecond);
  CUZK_ASSERT(places.size() == count ||
              (places.empty() && (targets.first.data() == nullptr || targets.first.size() >= count)));
  if (count == 0) return {};
  decode_kernel<Curve><<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, stream.handle()>>>(
      check, reinterpret_cast<const uint64_t*>(bytes.data()), static_cast<uint32_t>(count),
      places.empty() ? nullptr : places.data(), targets.first.data(), targets.second.data(), base, first_bad);
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

template Status decode_points<G1Curve>(std::span<const uint8_t>, std::span<const uint32_t>,
                                       const PointTargets<G1Curve>&, PointCheck, uint64_t, unsigned long long*,
                                       const gpu::Stream&);
template Status decode_points<G2Curve>(std::span<const uint8_t>, std::span<const uint32_t>,
                                       const PointTargets<G2Curve>&, PointCheck, uint64_t, unsigned long long*,
                                       const gpu::Stream&);

}  // namespace cuzk
