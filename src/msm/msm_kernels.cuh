// Kernels that sum the entries of each bucket. Entries are sorted by key; a run is the entries of one key. The list is
// cut into equal segments, one a thread, wherever runs begin and end, so that the work is the same for every
// distribution of the scalars.
//
//   pair_kernel   one round within each segment: neighbours of a run are added two by two, as affine points whose
//                 differences are inverted together (Montgomery's trick), 5 multiplications and a squaring an addition.
//                 The list shrinks in place towards the end of the segment.
//   walk_kernel   sums what is left of each run in extended coordinates. A run within the segment goes to its bucket;
//   the
//                 first and the last run of a segment, which others may share, become partial sums.
//   join_kernel   the same for the list of partial sums, until it is short.
#pragma once

#include <cstddef>
#include <cstdint>

#include "curve/point.hpp"
#include "field/fp.hpp"
#include "msm/msm_cuda_tuning.hpp"
#include "msm/msm_keys.hpp"

namespace cuzk::msm_detail {

inline constexpr unsigned kBlock = msm_cuda_tuning::kBlock;

template <class Curve>
struct AccumulateArgs {
  using Field = typename Curve::Field;
  const Affine<Curve>* bases;
  uint32_t *keys, *refs;
  const uint32_t* count;  // of entries
  uint32_t* begin;        // of what is left of each segment, once a round has run
  uint32_t threads, max_pairs;
  Field* products;       // max_pairs a thread, those of a warp interleaved
  Affine<Curve>* slots;  // max_pairs a thread
  uint32_t* partial_keys;
  Xyzz<Curve>* partial_points;  // two a thread
  Xyzz<Curve>* buckets;         // of the task's first set
};

// Blocks that the registers of a multiprocessor shall hold.
template <class Curve>
inline constexpr unsigned kBlocksPerSm = (sizeof(typename Curve::Field) == sizeof(Fp)
                                              ? msm_cuda_tuning::kThreadsPerSmG1
                                              : msm_cuda_tuning::kThreadsPerSmG2) /
                                         kBlock;

// For callers that add seldom: not inlined.
template <class Curve>
__device__ __noinline__ Xyzz<Curve> sum_of(Xyzz<Curve> a, Xyzz<Curve> b) {
  a.add(b);
  return a;
}

struct Segment {
  uint32_t begin, end;
};

template <class Curve>
__device__ __forceinline__ Segment whole_segment(const AccumulateArgs<Curve>& a, uint32_t thread, uint32_t count) {
  const uint32_t length = (count + a.threads - 1) / a.threads;
  const uint64_t begin = static_cast<uint64_t>(thread) * length;
  return {static_cast<uint32_t>(begin < count ? begin : count),
          static_cast<uint32_t>(begin + length < count ? begin + length : count)};
}

// The point that a reference of a thread names, without its sign.
template <class Curve>
struct Points {
  const Affine<Curve>* bases;
  const Affine<Curve>* slots;  // of the thread
  __device__ __forceinline__ const Affine<Curve>* at(uint32_t ref) const {
    const uint32_t index = ref & ~kNegative;
    return index < kFirstSlot ? bases + index : slots + (index - kFirstSlot);
  }
  __device__ __forceinline__ Affine<Curve> load(uint32_t ref) const {
    Affine<Curve> p = *at(ref);
    if (ref & kNegative) p.y = -p.y;
    return p;
  }
};

// The pairs that have no chord: infinite, equal or opposite points.
template <class Curve>
__device__ __forceinline__ bool is_special(const typename Curve::Field& ax, const typename Curve::Field& bx,
                                           const typename Curve::Field& difference) {
  // Infinity has x = 0; so have a few other points, which are sorted out below.
  return difference.is_zero() || ax.is_zero() || bx.is_zero();
}
// What is inverted for such a pair; not zero.
template <class Curve>
__device__ __noinline__ typename Curve::Field special_denominator(Affine<Curve> a, Affine<Curve> b) {
  using Field = typename Curve::Field;
  if (a.is_infinity() || b.is_infinity()) return Field::one();
  if (!(a.x == b.x)) return b.x - a.x;
  return a.y == b.y && !a.y.is_zero() ? a.y.dbl() : Field::one();
}
template <class Curve>
__device__ __noinline__ Affine<Curve> special_sum(Affine<Curve> a, Affine<Curve> b, typename Curve::Field inverse) {
  using Field = typename Curve::Field;
  if (a.is_infinity()) return b;
  if (b.is_infinity()) return a;
  const bool equal_x = a.x == b.x;
  if (equal_x && (!(a.y == b.y) || a.y.is_zero())) return Affine<Curve>::infinity();
  Field numerator = b.y - a.y;
  if (equal_x) {
    const Field xx = a.x.square();
    numerator = xx.dbl() + xx;
  }
  const Field slope = numerator * inverse;
  const Field x = slope.square() - a.x - b.x;
  return {x, slope * (a.x - x) - a.y};
}

// kFirst: the list is as sorted, and sums take new slots. Later every pair has a sum for its first point (what a round
// leaves over is the last of its run), whose slot its own sum takes.
template <class Curve, bool kFirst>
__global__ void __launch_bounds__(kBlock, kBlocksPerSm<Curve>) pair_kernel(const AccumulateArgs<Curve> a) {
  using Field = typename Curve::Field;
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  Segment s = whole_segment(a, thread, *a.count);
  if constexpr (!kFirst) s.begin = a.begin[thread];
  Affine<Curve>* slots = a.slots + static_cast<size_t>(thread) * a.max_pairs;
  Field* products = a.products + static_cast<size_t>(thread / 32) * 32 * a.max_pairs + thread % 32;
  const Points<Curve> points{a.bases, slots};

  // Forward: the product of all differences, and each product before.
  Field product = Field::one();
  uint32_t pairs = 0;
  for (uint32_t k = s.begin;;) {
    while (k + 1 < s.end && a.keys[k] != a.keys[k + 1]) ++k;
    if (k + 1 >= s.end) break;
    const uint32_t first = a.refs[k], second = a.refs[k + 1];
    const Field ax = points.at(first)->x, bx = points.at(second)->x;
    Field difference = bx - ax;
    if (is_special<Curve>(ax, bx, difference)) {
      difference = special_denominator<Curve>(points.load(first), points.load(second));
    }
    products[static_cast<size_t>(pairs) * 32] = product;
    product *= difference;
    a.keys[k + 1] |= kSecond;
    ++pairs;
    k += 2;
  }
  if (pairs == 0) {
    if constexpr (kFirst) a.begin[thread] = s.begin;
    return;
  }

  // Backward: each inverse, each sum.
  Field inverse = product.inverse();
  uint32_t out = s.end;
  for (uint32_t k = s.end; k > s.begin;) {
    while (k > s.begin && !(a.keys[k - 1] & kSecond)) {
      --k, --out;
      a.keys[out] = a.keys[k];
      a.refs[out] = a.refs[k];
    }
    if (k <= s.begin) break;
    const uint32_t key = a.keys[k - 1] & ~kSecond, first = a.refs[k - 2], second = a.refs[k - 1];
    k -= 2, --out, --pairs;
    const uint32_t slot = kFirst ? pairs : first - kFirstSlot;
    const Affine<Curve> p = points.load(first), q = points.load(second);
    Field difference = q.x - p.x;
    const bool special = is_special<Curve>(p.x, q.x, difference);
    if (special) difference = special_denominator<Curve>(p, q);
    const Field inverse_difference = inverse * products[static_cast<size_t>(pairs) * 32];
    inverse *= difference;
    if (special) {
      slots[slot] = special_sum<Curve>(p, q, inverse_difference);
    } else {
      const Field slope = (q.y - p.y) * inverse_difference;
      const Field x = slope.square() - p.x - q.x;
      slots[slot].x = x;
      slots[slot].y = slope * (p.x - x) - p.y;
    }
    a.keys[out] = key;
    a.refs[out] = kFirstSlot + slot;
  }
  a.begin[thread] = out;
}

template <class Curve>
__global__ void __launch_bounds__(kBlock, kBlocksPerSm<Curve>)
    walk_kernel(const AccumulateArgs<Curve> a, bool after_rounds) {
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  const uint32_t count = *a.count;
  Segment s = whole_segment(a, thread, count);
  const uint32_t whole_begin = s.begin;
  if (after_rounds) s.begin = a.begin[thread];
  uint32_t* partial_keys = a.partial_keys + 2 * static_cast<size_t>(thread);
  Xyzz<Curve>* partials = a.partial_points + 2 * static_cast<size_t>(thread);
  partials[0] = partials[1] = Xyzz<Curve>::infinity();
  if (s.begin >= s.end) {
    partial_keys[0] = partial_keys[1] = kNoKey;
    return;
  }
  const Points<Curve> points{a.bases, a.slots + static_cast<size_t>(thread) * a.max_pairs};
  const uint32_t first_key = a.keys[s.begin], last_key = a.keys[s.end - 1];
  // The last entry of a segment keeps its place and its key through all rounds.
  const bool first_shared = whole_begin > 0 && a.keys[whole_begin - 1] == first_key;
  const bool last_shared = s.end < count && a.keys[after_rounds ? a.begin[thread + 1] : s.end] == last_key;
  const auto is_shared = [&](uint32_t key) {
    return (first_shared && key == first_key) || (last_shared && key == last_key);
  };
  // A bucket that only this thread adds to is taken along from earlier tasks.
  const auto start = [&](uint32_t key) { return is_shared(key) ? Xyzz<Curve>::infinity() : a.buckets[key]; };
  const auto finish = [&](uint32_t key, const Xyzz<Curve>& sum) {
    (is_shared(key) ? partials[key != first_key] : a.buckets[key]) = sum;
  };
  partial_keys[0] = first_key;
  partial_keys[1] = last_key;
  uint32_t key = first_key;
  Xyzz<Curve> sum = start(key);
  for (uint32_t k = s.begin; k < s.end; ++k) {
    const uint32_t next = a.keys[k];
    if (next != key) {
      finish(key, sum);
      key = next;
      sum = start(key);
    }
    sum.add(points.load(a.refs[k]));
  }
  finish(key, sum);
}

// The partial sums keys[0..size), points[0..size), kJoin a thread. Equal keys are adjacent. What a thread cannot finish
// alone goes to the next list, two a thread.
template <class Curve>
__global__ void __launch_bounds__(kBlock)
    join_kernel(const uint32_t* keys, const Xyzz<Curve>* points, uint32_t size, uint32_t* out_keys,
                Xyzz<Curve>* out_points, Xyzz<Curve>* buckets) {
  constexpr uint32_t kJoin = msm_cuda_tuning::kJoin;
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  const uint32_t begin = thread * kJoin;
  if (begin >= size) return;
  const uint32_t end = begin + kJoin < size ? begin + kJoin : size;
  const uint32_t first_key = keys[begin], last_key = keys[end - 1];
  const bool first_shared = begin > 0 && keys[begin - 1] == first_key;
  const bool last_shared = end < size && keys[end] == last_key;
  uint32_t* partial_keys = out_keys + 2 * static_cast<size_t>(thread);
  Xyzz<Curve>* partials = out_points + 2 * static_cast<size_t>(thread);
  partial_keys[0] = first_key;
  partial_keys[1] = last_key;
  partials[0] = partials[1] = Xyzz<Curve>::infinity();
  const auto finish = [&](uint32_t key, const Xyzz<Curve>& sum) {
    if (sum.is_infinity() || key == kNoKey) return;
    if ((first_shared && key == first_key) || (last_shared && key == last_key)) {
      partials[key != first_key] = sum;
    } else {
      buckets[key] = sum_of<Curve>(buckets[key], sum);
    }
  };
  uint32_t key = first_key;
  Xyzz<Curve> sum = Xyzz<Curve>::infinity();
  for (uint32_t k = begin; k < end; ++k) {
    if (keys[k] != key) {
      finish(key, sum);
      key = keys[k];
      sum = Xyzz<Curve>::infinity();
    }
    sum = sum_of<Curve>(sum, points[k]);
  }
  finish(key, sum);
}

}  // namespace cuzk::msm_detail
