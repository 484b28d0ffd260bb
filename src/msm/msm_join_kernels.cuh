// Joins the partial sums of runs that many segments share: a list that a kernel shortens until one warp can finish it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "curve/point.hpp"
#include "field/fp2.hpp"
#include "msm/msm_kernels.cuh"

namespace cuzk::msm_detail {

// The value of the lane `delta` above, in groups of `width` lanes.
__device__ __forceinline__ Fp shuffle_down(const Fp& v, unsigned delta, unsigned width) {
  Fp::Limbs out;
#pragma unroll
  for (size_t i = 0; i < Fp::kLimbs; ++i) {
    out[i] = __shfl_down_sync(0xffffffff, static_cast<unsigned long long>(v.montgomery()[i]), delta, width);
  }
  return Fp::from_montgomery(out);
}
__device__ __forceinline__ Fp2 shuffle_down(const Fp2& v, unsigned delta, unsigned width) {
  return {shuffle_down(v.c0, delta, width), shuffle_down(v.c1, delta, width)};
}
template <class Curve>
__device__ __forceinline__ Xyzz<Curve> shuffle_down(const Xyzz<Curve>& v, unsigned delta, unsigned width) {
  return {shuffle_down(v.x, delta, width), shuffle_down(v.y, delta, width), shuffle_down(v.zz, delta, width),
          shuffle_down(v.zzz, delta, width)};
}

// The partial sums keys[0..size), points[0..size), kJoin a warp. Equal keys are adjacent. A run that no other warp has
// part of goes to its bucket; a warp's first and last run, where others may, go to the next list, two a warp. The sums
// of runs are made from lane to lane, so a run of any length passes log2 of it additions one after the other.
template <class Curve>
__global__ void __launch_bounds__(kBlock)
    join_kernel(const uint32_t* keys, const Xyzz<Curve>* points, uint32_t size, uint32_t* out_keys,
                Xyzz<Curve>* out_points, Xyzz<Curve>* buckets) {
  constexpr uint32_t kJoin = msm_cuda_tuning::kJoin;
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x, lane = thread % kJoin, begin = thread - lane;
  if (begin >= size) return;  // of all lanes alike
  const uint32_t end = begin + kJoin < size ? begin + kJoin : size;
  const uint32_t first_key = keys[begin], last_key = keys[end - 1];
  const bool first_shared = begin > 0 && keys[begin - 1] == first_key;
  const bool last_shared = end < size && keys[end] == last_key;
  const bool exists = thread < end;
  const uint32_t key = exists ? keys[thread] : kNoKey;
  Xyzz<Curve> sum = exists ? points[thread] : Xyzz<Curve>::infinity();
#pragma unroll 1
  for (uint32_t delta = 1; delta < kJoin; delta *= 2) {
    const uint32_t other_key = __shfl_down_sync(0xffffffff, key, delta);
    const Xyzz<Curve> other = shuffle_down(sum, delta, kJoin);
    if (lane + delta < kJoin && other_key == key) sum = sum_of<Curve>(sum, other);
  }
  // The first lane of a run has its sum.
  const uint32_t key_before = __shfl_up_sync(0xffffffff, key, 1);
  const bool is_first = lane == 0 || key_before != key;
  const bool shared = (first_shared && key == first_key) || (last_shared && key == last_key);
  const bool to_bucket = exists && is_first && !shared && key != kNoKey && !sum.is_infinity();
  if (to_bucket) buckets[key] = sum_of<Curve>(buckets[key], sum);
  // A run that is the first and the last of the warp is handed on as the first.
  const size_t first_out = 2 * static_cast<size_t>(thread / kJoin);
  const bool hands_on = exists && is_first && shared && key != kNoKey;
  if (lane == 0) {
    out_keys[first_out] = first_key;
    out_points[first_out] = hands_on ? sum : Xyzz<Curve>::infinity();
    out_keys[first_out + 1] = last_key;
    if (first_key == last_key) out_points[first_out + 1] = Xyzz<Curve>::infinity();
  } else if (exists && is_first && key == last_key) {
    out_points[first_out + 1] = hands_on ? sum : Xyzz<Curve>::infinity();
  }
}

}  // namespace cuzk::msm_detail
