// The kernel of selected_cuda.cu.
#pragma once

#include <cstdint>

#include "curve/point.hpp"

namespace cuzk::msm_detail {

inline constexpr unsigned kSelectThreads = 128;
// Bases whose bits a thread block puts in a list at a time.
inline constexpr unsigned kSelectChunk = 32 * kSelectThreads;

// The threads of a block share the set bits of a chunk evenly: each reads a word, their counts are summed up, the
// positions of set bits are listed in shared memory, and the threads add the listed bases in turn. A sum a block.
template <class Curve>
__global__ void __launch_bounds__(kSelectThreads)
    select_kernel(const Affine<Curve>* bases, const uint32_t* bits, uint32_t num_words, Xyzz<Curve>* sums) {
  union Shared {
    struct {
      uint16_t list[kSelectChunk];
      uint32_t warp_counts[kSelectThreads / 32];
    } chunk;
    uint64_t points[kSelectThreads / 2 * sizeof(Xyzz<Curve>) / 8];
  };
  __shared__ alignas(16) unsigned char memory[sizeof(Shared)];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  Xyzz<Curve> sum = Xyzz<Curve>::infinity();
  for (uint32_t first = blockIdx.x * kSelectThreads; first < num_words; first += gridDim.x * kSelectThreads) {
    const uint32_t number = first + threadIdx.x;
    uint32_t word = number < num_words ? bits[number] : 0;
    const uint32_t own = __popc(word);
    uint32_t upto = own;  // bits of the lanes up to this one
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const uint32_t other = __shfl_up_sync(0xffffffff, upto, distance);
      if (lane >= distance) upto += other;
    }
    __syncthreads();  // the list of the chunk before has been read
    if (lane == 31) shared.chunk.warp_counts[warp] = upto;
    __syncthreads();
    uint32_t at = upto - own, count = 0;
    for (unsigned w = 0; w < kSelectThreads / 32; ++w) {
      if (w < warp) at += shared.chunk.warp_counts[w];
      count += shared.chunk.warp_counts[w];
    }
    for (; word != 0; word &= word - 1) {
      shared.chunk.list[at++] = static_cast<uint16_t>(32 * threadIdx.x + __ffs(word) - 1);
    }
    __syncthreads();
    const Affine<Curve>* const chunk = bases + static_cast<uint64_t>(first) * 32;
    for (uint32_t i = threadIdx.x; i < count; i += kSelectThreads) {
      const Affine<Curve> base = chunk[shared.chunk.list[i]];
      sum.add(base);
    }
  }
  Xyzz<Curve>* const points = reinterpret_cast<Xyzz<Curve>*>(shared.points);
#pragma unroll 1
  for (unsigned half = kSelectThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half && threadIdx.x < 2 * half) points[threadIdx.x - half] = sum;
    __syncthreads();
    if (threadIdx.x < half) sum.add(points[threadIdx.x]);
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

}  // namespace cuzk::msm_detail
