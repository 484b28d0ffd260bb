// The rounds of affine additions in G1 with the hybrid multiplier of field/fp_hybrid.hpp. What launches of pair_kernel
// of msm_kernels.cuh do, with coordinates as packed digits: bases are converted beforehand, sums and products stay in
// that form from round to round, and walk_kernel converts what rounds leave.
//
//   list_kernel         finds the pairs of a round and writes the list that the round leaves
//   hybrid_pair_kernel  adds the pairs
//
// A multiprocessor holds three warps a scheduler at 168 registers, too few to hide the latency of memory. Pairs are
// numbered beforehand so that what the next one needs is copied into shared memory while one is added; and the three go
// in step, so that they fetch code once.
#pragma once

#include "curve/g1.hpp"
#include "field/fp_hybrid.hpp"
#include "msm/msm_kernels.cuh"

namespace cuzk::msm_detail {

inline constexpr unsigned kHybridBlock = msm_cuda_tuning::kHybridBlock;

__device__ __forceinline__ FpHybrid::Packed packed_from(const Word& a, const Word& b, const Word& c) {
  FpHybrid::Packed out;
  const uint64_t words[6] = {a.low, a.high, b.low, b.high, c.low, c.high};
#pragma unroll
  for (unsigned i = 0; i < 6; ++i) {
    out[2 * i] = static_cast<uint32_t>(words[i]);
    out[2 * i + 1] = static_cast<uint32_t>(words[i] >> 32);
  }
  return out;
}
__device__ __forceinline__ Word word_of(const FpHybrid::Packed& v, unsigned w) {
  return {v[4 * w] | static_cast<uint64_t>(v[4 * w + 1]) << 32, v[4 * w + 2] | static_cast<uint64_t>(v[4 * w + 3])
                                                                                   << 32};
}

// A point in memory: six words of 16 bytes, first x.
template <class T>  // Word, or const Word where nothing is stored
struct HybridRecord {
  static constexpr unsigned kWords = 6;
  T* at;
  __device__ __forceinline__ G1Affine load(bool negative) const {
    G1Affine out{FpHybrid::unpack(packed_from(at[0], at[1], at[2])).to_fp(),
                 FpHybrid::unpack(packed_from(at[3], at[4], at[5])).to_fp()};
    if (negative) out.y = -out.y;
    return out;
  }
  __device__ __forceinline__ void store(const G1Affine& p) const {
    const FpHybrid::Packed x = FpHybrid::from_fp(p.x).reduced().pack(), y = FpHybrid::from_fp(p.y).reduced().pack();
#pragma unroll
    for (unsigned w = 0; w < 3; ++w) at[w] = word_of(x, w), at[3 + w] = word_of(y, w);
  }
};

// In place of a reference to a point: none.
inline constexpr uint32_t kNoReference = ~uint32_t{0};

// What is at `from`, or `otherwise`. The compiler would have a branch's threads wait for the load at the branch's end.
__device__ __forceinline__ uint32_t load_if(bool condition, const uint32_t* from, uint32_t otherwise) {
#if defined(__CUDA_ARCH__)
  uint32_t out;
  asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; mov.u32 %0, %3; @p ld.global.u32 %0, [%2];}"
               : "=r"(out)
               : "r"(static_cast<uint32_t>(condition)), "l"(__cvta_generic_to_global(from)), "r"(otherwise)
               : "memory");
  return out;
#else
  return condition ? *from : otherwise;
#endif
}

// The points that references name, as Points of msm_kernels.cuh. Lanes copy each other's points, so a reference becomes
// the number of a record, which means the same to all lanes: bases and sums are records of equal size at numbers from
// a.records on.
struct HybridPoints {
  Word* records;
  uint32_t record_bytes, first_base, first_sum;  // of the lane: its sums are 32 records apart

  __device__ __forceinline__ HybridPoints(const AccumulateArgs<G1Curve>& a, uint32_t thread)
      : records(a.records),
        record_bytes(a.record_bytes),
        first_base(a.first_base),
        first_sum(a.first_sum + thread / 32 * 32 * (a.max_segment / 2) + thread % 32) {}
  // kNoReference: kNoReference.
  __device__ __forceinline__ uint32_t number(uint32_t ref) const {
    if (ref == kNoReference) return kNoReference;
    const uint32_t index = ref & ~kNegative;
    return index < kFirstSlot ? first_base + index : number_of_sum(index - kFirstSlot);
  }
  __device__ __forceinline__ uint32_t number_of_sum(uint32_t n) const { return first_sum + 32 * n; }
  // From word `first` of a record on.
  __device__ __forceinline__ Word* record(uint32_t number, unsigned first = 0) const {
    return reinterpret_cast<Word*>(reinterpret_cast<char*>(records + first) + uint64_t{number} * record_bytes);
  }
  __device__ __forceinline__ G1Affine load(uint32_t ref) const {
    return HybridRecord<const Word>{record(number(ref))}.load((ref & kNegative) != 0);
  }
};

// The pairs of a thread, pair n at 32*n. In `first` is the reference to the first point, with kNegative where one and
// only one of the two is to be subtracted; in `second` that to the second, with kSpecial.
inline constexpr uint32_t kSpecial = kNegative;
struct PairList {
  uint32_t *first, *second;
  __device__ __forceinline__ PairList(const AccumulateArgs<G1Curve>& a, uint32_t thread)
      : first(a.pair_refs[0] + at(a, thread)), second(a.pair_refs[1] + at(a, thread)) {}

 private:
  __device__ __forceinline__ static size_t at(const AccumulateArgs<G1Curve>& a, uint32_t thread) {
    return static_cast<size_t>(thread / 32) * 32 * (a.max_segment / 2) + thread % 32;
  }
};

// Rows of two words a lane that the lanes of a warp fill at paces of their own. They stay in shared memory until all
// lanes have filled them, or one is too far ahead: words side by side are written at once, others cost as much each.
class Rows {
 public:
  static constexpr uint32_t kRows = 16, kMostBetween = 4;  // words a lane may put between two calls of store()
  using Words = uint32_t[2][kRows][32];

  __device__ __forceinline__ Rows(Words& words, uint32_t lane) : words_(words), lane_(lane) {}
  // write(n, first, second) writes the lane's words of row n.
  template <class Write>
  __device__ __forceinline__ void put(uint32_t first, uint32_t second, Write write) {
    if (filled_ < stored_) {
      write(filled_, first, second);
    } else {
      words_[0][filled_ % kRows][lane_] = first;
      words_[1][filled_ % kRows][lane_] = second;
    }
    ++filled_;
  }
  template <class Write>
  __device__ __forceinline__ void store(bool last, Write write) {
    const uint32_t most = warp_max(filled_), least = ~warp_max(~filled_);
    constexpr uint32_t kBehind = kRows - kMostBetween;
    const uint32_t must = last ? most : most > kBehind ? most - kBehind : 0, end = must > least ? must : least;
    for (; stored_ < end; ++stored_) {
      if (stored_ < filled_) {
        write(stored_, words_[0][stored_ % kRows][lane_], words_[1][stored_ % kRows][lane_]);
      }
    }
  }
  __device__ __forceinline__ uint32_t filled() const { return filled_; }

 private:
  Words& words_;
  uint32_t lane_, filled_ = 0, stored_ = 0;
};

// Pairs neighbours of each run, from the end of the run, and moves the list of sums and of what is left over towards
// the end of the segment. In the first round the list is as sorted, and sums take new slots.
// Later every pair has a sum for its second point (what a round leaves over is the first of its run), whose slot its
// own sum takes. A sum is computed for the second point without its sign, which the reference to the sum gets.
static __global__ void __launch_bounds__(kBlock) list_kernel(const AccumulateArgs<G1Curve> a, bool first_round) {
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  const Segment s = segment_of(thread, *a.count, a.threads, a.max_segment);
  const uint32_t begin = first_round ? 0 : a.begin[thread];
  const PairList list(a, thread);
#if defined(__CUDACC__)
  __shared__ Rows::Words words[2][kBlock / 32];
  const uint32_t warp = threadIdx.x / 32;
#else
  Rows::Words words[2][1];
  const uint32_t warp = 0;
#endif
  Rows pairs(words[0][warp], threadIdx.x % 32), left(words[1][warp], threadIdx.x % 32);
  const auto write_pair = [&](uint32_t n, uint32_t first, uint32_t second) {
    list.first[32 * static_cast<size_t>(n)] = first;
    list.second[32 * static_cast<size_t>(n)] = second;
  };
  const auto write_left = [&](uint32_t n, uint32_t key, uint32_t ref) {
    a.keys[s.at(s.length - 1 - n)] = key;
    a.refs[s.at(s.length - 1 - n)] = ref;
  };
  uint32_t held_key = kNoKey, held = 0;  // an entry that has no partner yet
  const uint32_t entries = s.length - begin, most = warp_max(entries);
  for (uint32_t done = 0; done < most; done += Rows::kMostBetween) {
    uint32_t keys[Rows::kMostBetween], refs[Rows::kMostBetween];
#pragma unroll
    for (uint32_t k = 0; k < Rows::kMostBetween; ++k) {
      const bool there = done + k < entries;
      const size_t at = s.at(s.length - 1 - done - k);
      keys[k] = load_if(there, a.keys + at, kNoKey);
      refs[k] = load_if(there, a.refs + at, 0);
    }
#pragma unroll
    for (uint32_t k = 0; k < Rows::kMostBetween; ++k) {
      if (keys[k] == kNoKey) continue;
      if (keys[k] == held_key) {
        left.put(held_key, first_round ? (kFirstSlot + pairs.filled()) | (held & kNegative) : held, write_left);
        pairs.put(refs[k] ^ (held & kNegative), held & ~kNegative, write_pair);
        held_key = kNoKey;
      } else {
        if (held_key != kNoKey) left.put(held_key, held, write_left);
        held_key = keys[k], held = refs[k];
      }
    }
    pairs.store(false, write_pair);
    left.store(false, write_left);
  }
  if (held_key != kNoKey) left.put(held_key, held, write_left);
  pairs.store(true, write_pair);
  left.store(true, write_left);
  a.begin[thread] = s.length - left.filled();
  a.pair_counts[thread] = pairs.filled();
}

// Products of a thread, as Products of msm_kernels.cuh.
struct HybridProducts {
  Word* words;
  __device__ __forceinline__ HybridProducts(const AccumulateArgs<G1Curve>& a, uint32_t thread)
      : words(Products<G1Curve>(a, thread).words) {}
  __device__ __forceinline__ Word* at(uint32_t number) const { return words + static_cast<size_t>(number) * 96; }
  __device__ __forceinline__ void store(uint32_t number, const FpHybrid& v) const {
    const FpHybrid::Packed packed = v.pack();
#pragma unroll
    for (unsigned w = 0; w < 3; ++w) at(number)[w * 32] = word_of(packed, w);
  }
  __device__ __forceinline__ FpHybrid load(uint32_t number) const {
    const Word* from = at(number);
    return FpHybrid::unpack(packed_from(from[0], from[32], from[64]));
  }
};

// The shared memory of a thread: two stages, of a pair and its product each, and an element. An odd number of words, so
// that neither lanes that read the same word of their own nor those that copy one record meet in a bank; a copy whose
// lanes do asks memory for each word alone.
class Shared {
 public:
  static constexpr unsigned kStageWords = 15, kWords = 2 * kStageWords + FpHybrid::kDigits / 2;
  static_assert(kWords % 2 == 1);
  enum Part : unsigned { kFirstX = 0, kFirstY = 3, kSecondX = 6, kSecondY = 9, kProduct = 12 };

  __device__ __forceinline__ explicit Shared(Word* words) : words_(words) {}

  __device__ __forceinline__ Word* stage(uint32_t pair, unsigned word) const {
    return words_ + (pair & 1) * kStageWords + word;
  }
  __device__ __forceinline__ FpHybrid::Packed get(uint32_t pair, Part part) const {
    return packed_from(*stage(pair, part), *stage(pair, part + 1), *stage(pair, part + 2));
  }
  __device__ __forceinline__ void put(uint32_t pair, Part part, const FpHybrid::Packed& v) const {
#pragma unroll
    for (unsigned w = 0; w < 3; ++w) *stage(pair, part + w) = word_of(v, w);
  }
  // Begins to copy 16 bytes.
  __device__ __forceinline__ static void copy(Word* to, const Word* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    *to = *from;
#endif
  }
  // Begins to copy the first kChunks words of the record of each lane, which `record` finds by its number;
  // kNoReference: of none. Lanes copy each other's records, so that what one instruction reads lies side by side: a
  // lane alone would read half a sector of 32 bytes at a time.
  template <unsigned kChunks, class Find>
  __device__ __forceinline__ void copy_records(uint32_t pair, Part part, uint32_t number, Find record) const {
    uint32_t numbers[8];
    each_word<kChunks>(pair, part,
                       [&](unsigned step, int owner, unsigned, Word*) { numbers[step] = shuffle(number, owner); });
    each_word<kChunks>(pair, part, [&](unsigned step, int, unsigned chunk, Word* mine) {
      if (chunk < kChunks && numbers[step] != kNoReference) copy(mine, record(numbers[step], chunk));
    });
  }
  // Stores what is in `part` of each lane to its record likewise: reads everything first, so that waiting for one word
  // hides the waiting for the others.
  template <class Find>
  __device__ __forceinline__ void store_records(uint32_t pair, Part part, uint32_t number, Find record) const {
    Word words[8];
    each_word<6>(pair, part, [&](unsigned step, int, unsigned, const Word* mine) { words[step] = *mine; });
    each_word<6>(pair, part, [&](unsigned step, int owner, unsigned chunk, const Word*) {
      const uint32_t theirs = shuffle(number, owner);
      if (chunk < 6 && theirs != kNoReference) *record(theirs, chunk) = words[step];
    });
  }
  __device__ __forceinline__ static void commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  // Until all lanes' copies are there but those last committed.
  __device__ __forceinline__ static void wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
    __syncwarp();
  }
  // An element, beside the stages.
  __device__ __forceinline__ void park(const FpHybrid& v) const {
#pragma unroll
    for (unsigned k = 0; k < FpHybrid::kDigits; k += 2) parked()[k / 2] = {v.d[k], v.d[k + 1]};
  }
  __device__ __forceinline__ FpHybrid unpark() const {
    FpHybrid out;
#pragma unroll
    for (unsigned k = 0; k < FpHybrid::kDigits; k += 2) {
      const Digits two = parked()[k / 2];
      out.d[k] = two.low, out.d[k + 1] = two.high;
    }
#pragma unroll
    for (unsigned k = 0; k < FpHybrid::kDigits; ++k) {
      out.s[k] = hybrid::low_word(hybrid::add(out.d[k], 1.5 * hybrid::kTwo52));
    }
    return out;
  }

 private:
  struct alignas(16) Digits {
    double low, high;
  };
  // The first kChunks words of each lane's record are divided among the lanes of the warp: for those that this lane
  // copies, one a step, calls work(step, lane of the record, word of the record, word of the stage). Where there are
  // fewer words than lanes for them, the word may be one too many.
  template <unsigned kChunks, class Work>
  __device__ __forceinline__ void each_word(uint32_t pair, Part part, Work work) const {
#if defined(__CUDACC__)
    constexpr unsigned kLanes = kChunks <= 4 ? 4 : 8;
    const unsigned lane = threadIdx.x % 32, chunk = lane % kLanes;
    Word* const of_warp = stage(pair, part + (chunk < kChunks ? chunk : 0)) - lane * kWords;
#pragma unroll
    for (unsigned step = 0; step < kLanes; ++step) {
      const unsigned owner = step * (32 / kLanes) + lane / kLanes;
      work(step, static_cast<int>(owner), chunk, of_warp + owner * kWords);
    }
#else
    for (unsigned chunk = 0; chunk < kChunks; ++chunk) work(chunk, 0, chunk, stage(pair, part + chunk));
#endif
  }
  __device__ __forceinline__ static uint32_t shuffle(uint32_t v, [[maybe_unused]] int lane) {
#if defined(__CUDACC__)
    return __shfl_sync(0xffffffff, v, lane);
#else
    return v;
#endif
  }
  __device__ __forceinline__ Digits* parked() const { return reinterpret_cast<Digits*>(words_ + 2 * kStageWords); }
  Word* words_;
};

// - p.x - q.x, loaded when a product's operands are done with.
struct MinusBothX {
  static constexpr bool kAny = true;
  Shared shared;
  uint32_t pair;
  FpHybrid::Packed px, qx;
  __device__ __forceinline__ void load() {
    px = shared.get(pair, Shared::kFirstX);
    qx = shared.get(pair, Shared::kSecondX);
  }
  template <unsigned k>
  __device__ __forceinline__ double add_digit(double c) const {
    const uint32_t high = hybrid::high_of_two52();
    constexpr double kOffset = FpHybrid::packed_offset(k);
    c = hybrid::add(c, hybrid::add(kOffset, -FpHybrid::packed_digit(px, k, high)));
    return hybrid::add(c, hybrid::add(kOffset, -FpHybrid::packed_digit(qx, k, high)));
  }
  template <unsigned k>
  __device__ __forceinline__ uint32_t word() const {
    return 0 - px[k] - qx[k];
  }
};
// sign * p.y
struct PlusY {
  static constexpr bool kAny = true;
  Shared shared;
  uint32_t pair;
  int sign;
  FpHybrid::Packed py;
  __device__ __forceinline__ void load() { py = shared.get(pair, Shared::kFirstY); }
  template <unsigned k>
  __device__ __forceinline__ double add_digit(double c) const {
    constexpr double kOffset = FpHybrid::packed_offset(k);
    const double digit = hybrid::add(FpHybrid::packed_digit(py, k, hybrid::high_of_two52()), -kOffset);
    return hybrid::fma(digit, static_cast<double>(sign), c);
  }
  template <unsigned k>
  __device__ __forceinline__ uint32_t word() const {
    return static_cast<uint32_t>(sign) * py[k];
  }
};

// For pairs that may be special, which are seldom: the functions of msm_kernels.cuh on converted points.
static __device__ __noinline__ FpHybrid::Packed hybrid_special_denominator(HybridPoints points, uint32_t first,
                                                                           uint32_t second) {
  const Fp denominator = special_denominator<G1Curve>(points.load(first), points.load(second & ~kSpecial));
  return FpHybrid::from_fp(denominator).reduced().pack();
}
static __device__ __noinline__ void hybrid_special_sum(HybridPoints points, uint32_t first, uint32_t second,
                                                       uint32_t slot, FpHybrid::Packed inverse) {
  const G1Affine p = points.load(first), q = points.load(second & ~kSpecial);
  HybridRecord<Word>{points.record(points.number_of_sum(slot))}.store(
      special_sum<G1Curve>(p, q, FpHybrid::unpack(inverse).to_fp()));
}

// The code of an addition is larger than the instruction cache next to a scheduler. So the three warps of a scheduler,
// a multiprocessor's warps counted by fours, go through it in step, and what one has fetched serves all.
inline constexpr unsigned kSchedulers = 4, kWarpsInStep = kHybridBlock / 32 / kSchedulers;
__device__ __forceinline__ void in_step() {
#if defined(__CUDA_ARCH__)
  asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / 32 % kSchedulers), "n"(32 * kWarpsInStep) : "memory");
#endif
}
// The largest of the threads of those warps.
__device__ __forceinline__ uint32_t most_in_step(uint32_t v) {
  v = warp_max(v);
#if defined(__CUDACC__)
  __shared__ uint32_t of_warp[kHybridBlock / 32];
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) of_warp[warp] = v;
  in_step();
#pragma unroll
  for (unsigned k = 0; k < kWarpsInStep; ++k) {
    const uint32_t other = of_warp[warp % kSchedulers + kSchedulers * k];
    v = other > v ? other : v;
  }
#endif
  return v;
}

// Adds the pairs that list_kernel found. Pairs whose points have a zero as the lowest word of x, or whose difference
// times what was before has one, go the special way, which is right for all pairs: with infinite, equal and opposite
// points these are one ordinary pair in 2^31.
static __global__ void __launch_bounds__(kHybridBlock, 1)
    hybrid_pair_kernel(const AccumulateArgs<G1Curve> a, bool first_round) {
#if defined(__CUDACC__)
  extern __shared__ Word words_of_block[];
  const Shared shared(words_of_block + threadIdx.x * Shared::kWords);
  Fp* const of_block = reinterpret_cast<Fp*>(words_of_block);
#else
  Word words[Shared::kWords];
  const Shared shared(words);
  Fp* const of_block = nullptr;
#endif
  const uint32_t thread = blockIdx.x * kHybridBlock + threadIdx.x;
  const uint32_t pairs = a.pair_counts[thread];
  const HybridPoints points(a, thread);
  const HybridProducts products(a, thread);
  const PairList list(a, thread);
  const uint32_t most_pairs = most_in_step(pairs);  // lanes and warps in step go through their n-th pairs together

  // Forward: the product of all differences, and each product before.
  FpHybrid product = FpHybrid::one();
  struct References {
    uint32_t first, second;
  };
  const auto load_references = [&](uint32_t pair) {
    return References{load_if(pair < pairs, list.first + 32 * static_cast<size_t>(pair), kNoReference),
                      load_if(pair < pairs, list.second + 32 * static_cast<size_t>(pair), kNoReference)};
  };
  const auto record = [&](uint32_t number, unsigned word) { return points.record(number, word); };
  const auto copy_both_x = [&](uint32_t pair, const References& of) {
    shared.copy_records<3>(pair, Shared::kFirstX, points.number(of.first), record);
    shared.copy_records<3>(pair, Shared::kSecondX, points.number(of.second), record);
    Shared::commit();
  };
  copy_both_x(0, load_references(0));
  References next = load_references(1);  // of the pair that is to be copied next
#pragma unroll 1
  for (uint32_t pair = 0; pair < most_pairs; ++pair) {
    __syncwarp();  // the other stage has been read
    copy_both_x(pair + 1, next);
    next = load_references(pair + 2);
    Shared::wait();
    if (pair >= pairs) continue;
    const FpHybrid::Packed px = shared.get(pair, Shared::kFirstX), qx = shared.get(pair, Shared::kSecondX);
    products.store(pair, product);
    FpHybrid::Wide difference = FpHybrid::difference(qx, px);
    for (bool special = px[0] == 0 || qx[0] == 0;;) {
      if (special) {
        const uint32_t p = list.first[32 * pair], q = list.second[32 * pair];
        list.second[32 * pair] = q | kSpecial;
        difference = FpHybrid::wide(FpHybrid::unpack(hybrid_special_denominator(points, p, q)));
      }
      product = difference * product;
      if (special || !product.may_be_zero()) break;
      special = true;
      product = products.load(pair);
    }
  }

  // Backward: each inverse, each sum.
  shared.park(FpHybrid::from_fp(block_inverse(product.to_fp(), of_block)));
  const auto copy_pair = [&](uint32_t pair, const References& of) {
    shared.copy_records<6>(pair, Shared::kFirstX, points.number(of.first), record);
    shared.copy_records<6>(pair, Shared::kSecondX, points.number(of.second), record);
    if (pair < pairs) {
      const Word* before = products.at(pair);
#pragma unroll
      for (unsigned w = 0; w < 3; ++w) Shared::copy(shared.stage(pair, Shared::kProduct + w), before + 32 * w);
    }
    Shared::commit();
  };
  References own = load_references(most_pairs - 1);
  copy_pair(most_pairs - 1, own);
  next = load_references(most_pairs - 2);
#pragma unroll 1
  for (uint32_t pair = most_pairs; pair-- > 0;) {
    const uint32_t p = own.first, q = own.second;
    own = next;
    in_step();  // besides, the other stage has been read
    copy_pair(pair - 1, own);
    next = load_references(pair - 2);
    Shared::wait();
    const bool active = pair < pairs, special = active && (q & kSpecial) != 0;
    const uint32_t slot = first_round ? pair : (q & ~kSpecial) - kFirstSlot;
    if (active) {
      FpHybrid::Wide difference =
          FpHybrid::difference(shared.get(pair, Shared::kSecondX), shared.get(pair, Shared::kFirstX));
      if (special) difference = FpHybrid::wide(FpHybrid::unpack(hybrid_special_denominator(points, p, q)));
      FpHybrid inverse = shared.unpark();
      const FpHybrid inverse_difference = FpHybrid::unpack(shared.get(pair, Shared::kProduct)) * inverse;
      inverse = difference * inverse;
      shared.park(inverse);
      if (special) {
        hybrid_special_sum(points, p, q, slot, inverse_difference.pack());
      } else {
        const int sign = (p & kNegative) != 0 ? -1 : 1;
        const FpHybrid slope =
            FpHybrid::signed_sum(shared.get(pair, Shared::kSecondY), shared.get(pair, Shared::kFirstY), -sign) *
            inverse_difference;
        const FpHybrid x = FpHybrid::square(slope, MinusBothX{shared, pair, {}, {}});
        const FpHybrid::Wide run = FpHybrid::difference(shared.get(pair, Shared::kFirstX), x);
        shared.put(pair, Shared::kSecondX, x.pack());
        shared.put(pair, Shared::kSecondY, FpHybrid::product(run, slope, PlusY{shared, pair, -sign, {}}).pack());
      }
    }
    __syncwarp();
    shared.store_records(pair, Shared::kSecondX, active && !special ? points.number_of_sum(slot) : kNoReference,
                         record);
  }
}

}  // namespace cuzk::msm_detail
