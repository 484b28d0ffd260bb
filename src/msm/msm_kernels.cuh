// Kernels that sum the entries of each bucket. Entries are sorted by key; a run is the entries of one key. The list is
// cut into equal segments, one a thread, wherever runs begin and end, so that the work is the same for every
// distribution of the scalars.
//
//   pair_kernel   one round within each segment: neighbours of a run are added two by two, as affine points whose
//                 differences are inverted together (Montgomery's trick), 5 multiplications and a squaring an addition.
//                 The list shrinks in place towards the end of the segment.
//   walk_kernel   sums what is left of each run in extended coordinates. A run within the segment goes to its bucket;
//                 the first and the last run, which other segments may share, become partial sums.
//   meet_kernel   joins the partial sums of runs that two segments share.
//
// Runs that more segments share are left to msm_join_kernels.cuh.
#pragma once

#include <cstddef>
#include <cstdint>

#include "curve/point.hpp"
#include "field/fp2.hpp"
#include "msm/msm_cuda_tuning.hpp"
#include "msm/msm_keys.hpp"

namespace cuzk::msm_detail {

inline constexpr unsigned kBlock = msm_cuda_tuning::kBlock;

// What the threads of a warp access at once lies side by side: entry e of segment t is at [t/32][e][t%32], a product
// likewise in words of 16 bytes, and a sum in sectors of 32 bytes.
struct alignas(16) Word {
  uint64_t low, high;
};
template <class Curve>
inline constexpr unsigned kFieldWords = sizeof(typename Curve::Field) / sizeof(Word);

template <class Curve>
struct AccumulateArgs {
  const Affine<Curve>* bases;
  uint32_t *keys, *refs;
  const uint32_t* count;  // of entries
  uint32_t* begin;        // of what is left of each segment, once a round has run
  uint32_t threads, max_segment;
  Word* products;  // max_segment/2 a thread
  Word* slots;     // sums, max_segment/2 a thread
  uint32_t* partial_keys;
  Xyzz<Curve>* partial_points;  // two a thread
  Xyzz<Curve>* buckets;         // of the task's first set
  // For the hybrid multiplier: bases and sums in its form, as records of one size, numbered; max_segment/2 sums a
  // thread.
  Word* records;
  uint32_t record_bytes, first_base, first_sum;
  uint32_t *pair_refs[2], *pair_counts;  // max_segment/2 and one a thread
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

// A segment's entries are numbered from zero.
struct Segment {
  uint32_t thread, length;
  size_t first;  // of entry 0 in the list
  __device__ __forceinline__ size_t at(uint32_t e) const { return first + static_cast<size_t>(e) * 32; }
};
__device__ __forceinline__ Segment segment_of(uint32_t thread, uint32_t count, uint32_t threads, uint32_t max_segment) {
  const uint32_t length = (count + threads - 1) / threads;
  const uint64_t begin = static_cast<uint64_t>(thread) * length;
  const uint64_t rest = begin < count ? count - begin : 0;
  return {thread, static_cast<uint32_t>(rest < length ? rest : length),
          static_cast<size_t>(thread / 32) * 32 * max_segment + thread % 32};
}

__device__ __forceinline__ Fp from_words(const Word& a, const Word& b, const Word& c) {
  return Fp::from_montgomery({a.low, a.high, b.low, b.high, c.low, c.high});
}
// Words `first`, ... of a point whose sectors are `stride` words apart.
template <class Field>
__device__ __forceinline__ Field load_field(const Word* at, uint32_t stride, unsigned first) {
  const auto word = [&](unsigned w) { return at[(first + w) / 2 * stride + (first + w) % 2]; };
  const Fp c0 = from_words(word(0), word(1), word(2));
  if constexpr (sizeof(Field) == sizeof(Fp)) {
    return c0;
  } else {
    return {c0, from_words(word(3), word(4), word(5))};
  }
}
template <class Store>
__device__ __forceinline__ void store_words(const Fp& v, Store store) {
  const Fp::Limbs& limbs = v.montgomery();
#pragma unroll
  for (unsigned w = 0; w < 3; ++w) store(w, Word{limbs[2 * w], limbs[2 * w + 1]});
}
template <class Store>
__device__ __forceinline__ void store_words(const Fp2& v, Store store) {
  store_words(v.c0, store);
  store_words(v.c1, [&](unsigned w, const Word& word) { store(3 + w, word); });
}

// The points that the references of a thread name.
template <class Curve>
struct Points {
  using Field = typename Curve::Field;
  static constexpr unsigned kWords = 2 * kFieldWords<Curve>;
  struct Place {
    const Word* at;
    uint32_t stride;
  };
  const Affine<Curve>* bases;
  Word* slots;  // of the thread

  __device__ __forceinline__ Points(const AccumulateArgs<Curve>& a, uint32_t thread)
      : bases(a.bases),
        slots(a.slots + static_cast<size_t>(thread / 32) * 32 * kWords * (a.max_segment / 2) + thread % 32 * 2) {}

  __device__ __forceinline__ Word* slot(uint32_t number) const {
    return slots + static_cast<size_t>(number) * 32 * kWords;
  }
  __device__ __forceinline__ Place place(uint32_t ref) const {
    const uint32_t index = ref & ~kNegative;
    if (index < kFirstSlot) return {reinterpret_cast<const Word*>(bases + index), 2};
    return {slot(index - kFirstSlot), 64};
  }
  __device__ __forceinline__ Field load_x(uint32_t ref) const {
    const Place p = place(ref);
    return load_field<Field>(p.at, p.stride, 0);
  }
  __device__ __forceinline__ Affine<Curve> load(uint32_t ref) const {
    const Place p = place(ref);
    Affine<Curve> out{load_field<Field>(p.at, p.stride, 0), load_field<Field>(p.at, p.stride, kFieldWords<Curve>)};
    if (ref & kNegative) out.y = -out.y;
    return out;
  }
  __device__ __forceinline__ void store(uint32_t number, const Field& x, const Field& y) const {
    Word* at = slot(number);
    store_words(x, [&](unsigned w, const Word& v) { at[w / 2 * 64 + w % 2] = v; });
    store_words(y, [&](unsigned w, const Word& v) {
      at[(kFieldWords<Curve> + w) / 2 * 64 + (kFieldWords<Curve> + w) % 2] = v;
    });
  }
};

// Products of a thread, numbered from zero.
template <class Curve>
struct Products {
  using Field = typename Curve::Field;
  static constexpr unsigned kWords = kFieldWords<Curve>;
  Word* words;
  __device__ __forceinline__ Products(const AccumulateArgs<Curve>& a, uint32_t thread)
      : words(a.products + static_cast<size_t>(thread / 32) * 32 * kWords * (a.max_segment / 2) + thread % 32) {}
  __device__ __forceinline__ void store(uint32_t number, const Field& v) const {
    Word* at = words + static_cast<size_t>(number) * 32 * kWords;
    store_words(v, [&](unsigned w, const Word& word) { at[w * 32] = word; });
  }
  __device__ __forceinline__ Field load(uint32_t number) const {
    const Word* at = words + static_cast<size_t>(number) * 32 * kWords;
    const Fp c0 = from_words(at[0], at[32], at[64]);
    if constexpr (sizeof(Field) == sizeof(Fp)) {
      return c0;
    } else {
      return {c0, from_words(at[96], at[128], at[160])};
    }
  }
};

__device__ __forceinline__ uint32_t warp_max(uint32_t v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const uint32_t other = __shfl_xor_sync(0xffffffff, v, mask);
    v = other > v ? other : v;
  }
  return v;
}

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

// 1/product for every thread of the block, none zero. The inversion costs some 170 multiplications of a warp whether
// one of its lanes needs it or all, so one warp inverts for each four, which are on four schedulers; which one depends
// on the four and the block, for the schedulers' sake. `shared` is an element a thread of the block's shared memory,
// which others may be using until the call and are free to use after it.
template <class Field>
__device__ __forceinline__ Field block_inverse(const Field& product, [[maybe_unused]] Field* shared) {
#if defined(__CUDACC__)
  static_assert(kBlock % 128 == 0 && msm_cuda_tuning::kHybridBlock % 128 == 0);
  __syncthreads();
  shared[threadIdx.x] = product;
  __syncthreads();
  const unsigned four = threadIdx.x / 128;
  if (threadIdx.x / 32 % 4 == (blockIdx.x + four) % 4) {
    Field* at = shared + 128 * four + threadIdx.x % 32;
    Field before[3];  // products of the first, the first two, the first three
    before[0] = at[0];
    before[1] = before[0] * at[32];
    before[2] = before[1] * at[64];
    Field inverse = (before[2] * at[96]).inverse();
#pragma unroll
    for (int k = 3; k > 0; --k) {
      const Field factor = at[32 * k];
      at[32 * k] = inverse * before[k - 1];
      inverse *= factor;
    }
    at[0] = inverse;
  }
  __syncthreads();
  const Field own = shared[threadIdx.x];
  __syncthreads();
  return own;
#else
  return product.inverse();  // in the tests, which run one thread after the other
#endif
}

// kFirst: the list is as sorted, and sums take new slots. Later every pair has a sum for its first point (what a round
// leaves over is the last of its run), whose slot its own sum takes. Lanes go through their n-th pairs together, so
// that what they store lies side by side.
template <class Curve, bool kFirst>
__global__ void __launch_bounds__(kBlock, kBlocksPerSm<Curve>) pair_kernel(const AccumulateArgs<Curve> a) {
  using Field = typename Curve::Field;
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  const Segment s = segment_of(thread, *a.count, a.threads, a.max_segment);
  const uint32_t begin = kFirst ? 0 : a.begin[thread];
  const Points<Curve> points(a, thread);
  const Products<Curve> products(a, thread);

  // Forward: the product of all differences, and each product before.
  Field product = Field::one();
  uint32_t pairs = 0;
  for (uint32_t e = begin;;) {
    while (e + 1 < s.length && a.keys[s.at(e)] != a.keys[s.at(e + 1)]) ++e;
    const bool found = e + 1 < s.length;
    if (!__any_sync(0xffffffff, found)) break;
    if (!found) continue;
    const uint32_t first = a.refs[s.at(e)], second = a.refs[s.at(e + 1)];
    const Field ax = points.load_x(first), bx = points.load_x(second);
    Field difference = bx - ax;
    if (is_special<Curve>(ax, bx, difference)) {
      difference = special_denominator<Curve>(points.load(first), points.load(second));
    }
    products.store(pairs, product);
    product *= difference;
    a.keys[s.at(e + 1)] |= kSecond;
    ++pairs;
    e += 2;
  }
  const uint32_t most_pairs = warp_max(pairs);

  // Backward: each inverse, each sum. The list moves towards its end.
#if defined(__CUDACC__)
  __shared__ alignas(16) unsigned char bytes[kBlock * sizeof(Field)];
  Field inverse = block_inverse(product, reinterpret_cast<Field*>(bytes));
#else
  Field inverse = block_inverse<Field>(product, nullptr);
#endif
  uint32_t e = s.length, out = s.length;
  const auto move_singles = [&] {
    while (e > begin && !(a.keys[s.at(e - 1)] & kSecond)) {
      --e, --out;
      if (e == out) continue;
      a.keys[s.at(out)] = a.keys[s.at(e)];
      a.refs[s.at(out)] = a.refs[s.at(e)];
    }
  };
  for (uint32_t pair = most_pairs; pair-- > 0;) {
    if (pair >= pairs) continue;
    move_singles();
    const uint32_t key = a.keys[s.at(e - 1)] & ~kSecond, first = a.refs[s.at(e - 2)], second = a.refs[s.at(e - 1)];
    e -= 2, --out;
    const uint32_t slot = kFirst ? pair : first - kFirstSlot;
    const Affine<Curve> p = points.load(first), q = points.load(second);
    Field difference = q.x - p.x;
    const bool special = is_special<Curve>(p.x, q.x, difference);
    if (special) difference = special_denominator<Curve>(p, q);
    const Field inverse_difference = inverse * products.load(pair);
    inverse *= difference;
    if (special) {
      const Affine<Curve> sum = special_sum<Curve>(p, q, inverse_difference);
      points.store(slot, sum.x, sum.y);
    } else {
      const Field slope = (q.y - p.y) * inverse_difference;
      const Field x = slope.square() - p.x - q.x;
      points.store(slot, x, slope * (p.x - x) - p.y);
    }
    a.keys[s.at(out)] = key;
    a.refs[s.at(out)] = kFirstSlot + slot;
  }
  move_singles();
  a.begin[thread] = out;
}

template <class Curve, class Source = Points<Curve>>
__global__ void __launch_bounds__(kBlock, kBlocksPerSm<Curve>)
    walk_kernel(const AccumulateArgs<Curve> a, bool after_rounds) {
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  const uint32_t count = *a.count;
  const Segment s = segment_of(thread, count, a.threads, a.max_segment);
  uint32_t* partial_keys = a.partial_keys + 2 * static_cast<size_t>(thread);
  Xyzz<Curve>* partials = a.partial_points + 2 * static_cast<size_t>(thread);
  partials[0] = partials[1] = Xyzz<Curve>::infinity();
  if (s.length == 0) {
    partial_keys[0] = partial_keys[1] = kNoKey;
    return;
  }
  const uint32_t begin = after_rounds ? a.begin[thread] : 0;
  const Source points(a, thread);
  const uint32_t first_key = a.keys[s.at(begin)], last_key = a.keys[s.at(s.length - 1)];
  // The last entry of a segment keeps its place and its key through all rounds.
  bool first_shared = false, last_shared = false;
  if (thread > 0) {
    const Segment before = segment_of(thread - 1, count, a.threads, a.max_segment);
    first_shared = a.keys[before.at(before.length - 1)] == first_key;
  }
  if (thread + 1 < a.threads) {
    const Segment after = segment_of(thread + 1, count, a.threads, a.max_segment);
    last_shared = after.length > 0 && a.keys[after.at(after_rounds ? a.begin[thread + 1] : 0)] == last_key;
  }
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
  for (uint32_t e = begin; e < s.length; ++e) {
    const uint32_t next = a.keys[s.at(e)];
    if (next != key) {
      finish(key, sum);
      key = next;
      sum = start(key);
    }
    sum.add(points.load(a.refs[s.at(e)]));
  }
  finish(key, sum);
}

// Most runs that segments share are shared by two. Thread t joins the last run of segment t with the first of t + 1
// where neither reaches further, and leaves infinities.
template <class Curve>
__global__ void __launch_bounds__(kBlock)
    meet_kernel(const uint32_t* keys, Xyzz<Curve>* points, uint32_t threads, Xyzz<Curve>* buckets) {
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  if (thread + 1 >= threads) return;
  const size_t last = 2 * static_cast<size_t>(thread) + 1;
  const uint32_t key = keys[last];
  if (key == kNoKey || keys[last + 1] != key || keys[last - 1] == key || keys[last + 2] == key) return;
  buckets[key] = sum_of<Curve>(buckets[key], sum_of<Curve>(points[last], points[last + 1]));
  points[last] = points[last + 1] = Xyzz<Curve>::infinity();
}

}  // namespace cuzk::msm_detail
