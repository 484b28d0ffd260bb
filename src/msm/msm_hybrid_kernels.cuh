// The rounds of affine additions in G1 with the hybrid multiplier of field/fp_hybrid.hpp. What pair_kernel of
// msm_kernels.cuh does, with coordinates as packed digits: bases are converted beforehand, sums and products stay in
// that form from round to round, and walk_kernel converts what rounds leave.
//
//   list_kernel         finds the pairs of a round and writes the list that the round leaves
//   hybrid_pair_kernel  adds the pairs
//
// A multiprocessor holds three warps a scheduler at 168 registers, too few to hide the latency of memory. Pairs are
// numbered beforehand so that what the next one needs is copied into shared memory while one is added.
#pragma once

#include "curve/g1.hpp"
#include "field/fp_hybrid.hpp"
#include "msm/msm_kernels.cuh"

namespace cuzk::msm_detail {

inline constexpr unsigned kHybridBlock = kBlock;

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

// The points that references name, as Points of msm_kernels.cuh; sum n of the warp's lane l is record 32*n + l.
struct HybridPoints {
  const Word* bases;
  Word* slots;  // of the warp
  uint32_t base_words, lane;

  __device__ __forceinline__ HybridPoints(const AccumulateArgs<G1Curve>& a, uint32_t thread)
      : bases(a.prepared),
        slots(a.slots + static_cast<size_t>(thread / 32) * 32 * kWords * (a.max_segment / 2)),
        base_words(a.prepared_words),
        lane(thread % 32) {}
  __device__ __forceinline__ Word* slot(uint32_t number) const {
    return slots + (static_cast<size_t>(number) * 32 + lane) * kWords;
  }
  // Null for kNoReference. kFirst: there are no sums yet.
  template <bool kFirst>
  __device__ __forceinline__ const Word* record(uint32_t ref) const {
    if (ref == kNoReference) return nullptr;
    const uint32_t index = ref & ~kNegative;
    if (kFirst || index < kFirstSlot) return bases + static_cast<size_t>(index) * base_words;
    return slot(index - kFirstSlot);
  }
  __device__ __forceinline__ G1Affine load(uint32_t ref) const {
    return HybridRecord<const Word>{record<false>(ref)}.load((ref & kNegative) != 0);
  }

 private:
  static constexpr unsigned kWords = HybridRecord<Word>::kWords;
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

// Pairs neighbours of each run, from the end of the run, and moves the list of sums and of what is left over towards
// the end of the segment. kFirst: the list is as sorted, and sums take new slots. Later every pair has a sum for its
// second point (what a round leaves over is the first of its run), whose slot its own sum takes. A sum is computed for
// the second point without its sign, which the reference to the sum gets.
template <bool kFirst>
__global__ void __launch_bounds__(kBlock) list_kernel(const AccumulateArgs<G1Curve> a) {
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  if (thread >= a.threads) return;
  const Segment s = segment_of(thread, *a.count, a.threads, a.max_segment);
  const uint32_t begin = kFirst ? 0 : a.begin[thread];
  const PairList list(a, thread);
  uint32_t pairs = 0, out = s.length;
  for (uint32_t e = s.length; e > begin;) {
    const uint32_t key = a.keys[s.at(e - 1)], second = a.refs[s.at(e - 1)];
    --out;
    if (e - 1 > begin && a.keys[s.at(e - 2)] == key) {
      const uint32_t first = a.refs[s.at(e - 2)];
      list.first[32 * pairs] = first ^ (second & kNegative);
      list.second[32 * pairs] = second & ~kNegative;
      a.keys[s.at(out)] = key;
      a.refs[s.at(out)] = kFirst ? (kFirstSlot + pairs) | (second & kNegative) : second;
      ++pairs;
      e -= 2;
    } else {
      --e;
      if (e == out) continue;
      a.keys[s.at(out)] = key;
      a.refs[s.at(out)] = second;
    }
  }
  a.begin[thread] = out;
  a.pair_counts[thread] = pairs;
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
  // Begins to copy the first kChunks words of the record of each lane; null: of none. Lanes copy each other's records,
  // so that what one instruction reads lies side by side: a lane alone would read half a sector of 32 bytes at a time.
  template <unsigned kChunks>
  __device__ __forceinline__ void copy_records(uint32_t pair, Part part, const Word* record) const {
    each_record<kChunks>(pair, part, record, [](Word* mine, const Word* theirs) { copy(mine, theirs); });
  }
  // Stores what is in `part` of each lane to its record.
  __device__ __forceinline__ void store_records(uint32_t pair, Part part, Word* record) const {
    each_record<6>(pair, part, record, [](const Word* mine, Word* theirs) { *theirs = *mine; });
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
  // Calls work(word of the stage, word of the record) for all words of the records of the warp's lanes.
  template <unsigned kChunks, class T, class Work>
  __device__ __forceinline__ void each_record(uint32_t pair, Part part, T* record, Work work) const {
#if defined(__CUDACC__)
    constexpr unsigned kLanes = kChunks <= 4 ? 4 : 8;
    const unsigned lane = threadIdx.x % 32, chunk = lane % kLanes;
    const auto address = reinterpret_cast<uint64_t>(record);
    Word* const of_warp = stage(pair, part + (chunk < kChunks ? chunk : 0)) - lane * kWords;
#pragma unroll
    for (unsigned first = 0; first < 32; first += 32 / kLanes) {
      const unsigned owner = first + lane / kLanes;
      const uint32_t low = __shfl_sync(0xffffffff, static_cast<uint32_t>(address), static_cast<int>(owner));
      const uint32_t high = __shfl_sync(0xffffffff, static_cast<uint32_t>(address >> 32), static_cast<int>(owner));
      T* const theirs = reinterpret_cast<T*>(low | static_cast<uint64_t>(high) << 32);
      if (chunk < kChunks && high != 0) work(of_warp + owner * kWords, theirs + chunk);
    }
#else
    if (record == nullptr) return;
    for (unsigned chunk = 0; chunk < kChunks; ++chunk) work(stage(pair, part + chunk), record + chunk);
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
  HybridRecord<Word>{points.slot(slot)}.store(special_sum<G1Curve>(p, q, FpHybrid::unpack(inverse).to_fp()));
}

// Adds the pairs that list_kernel found. Pairs whose points have a zero as the lowest word of x, or whose difference
// times what was before has one, go the special way, which is right for all pairs: with infinite, equal and opposite
// points these are one ordinary pair in 2^31.
template <bool kFirst>
__global__ void __launch_bounds__(kHybridBlock, msm_cuda_tuning::kThreadsPerSmHybrid / kHybridBlock)
    hybrid_pair_kernel(const AccumulateArgs<G1Curve> a) {
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
  const uint32_t most_pairs = warp_max(pairs);  // lanes go through their n-th pairs together
  const HybridPoints points(a, thread);
  const HybridProducts products(a, thread);
  const PairList list(a, thread);

  // Forward: the product of all differences, and each product before.
  FpHybrid product = FpHybrid::one();
  uint32_t first = kNoReference, second = kNoReference;  // of the pair that is to be copied next
  const auto load_references = [&](uint32_t pair) {
    first = pair < pairs ? list.first[32 * pair] : kNoReference;
    second = pair < pairs ? list.second[32 * pair] : kNoReference;
  };
  const auto copy_both_x = [&](uint32_t pair) {
    shared.copy_records<3>(pair, Shared::kFirstX, points.record<kFirst>(first));
    shared.copy_records<3>(pair, Shared::kSecondX, points.record<kFirst>(second));
    Shared::commit();
  };
  load_references(0);
  copy_both_x(0);
  load_references(1);
#pragma unroll 1
  for (uint32_t pair = 0; pair < most_pairs; ++pair) {
    __syncwarp();  // the other stage has been read
    copy_both_x(pair + 1);
    load_references(pair + 2);
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
  const auto copy_pair = [&](uint32_t pair) {
    shared.copy_records<6>(pair, Shared::kFirstX, points.record<kFirst>(first));
    shared.copy_records<6>(pair, Shared::kSecondX, points.record<kFirst>(second));
    if (pair < pairs) {
      const Word* before = products.at(pair);
#pragma unroll
      for (unsigned w = 0; w < 3; ++w) Shared::copy(shared.stage(pair, Shared::kProduct + w), before + 32 * w);
    }
    Shared::commit();
  };
  load_references(most_pairs - 1);
  uint32_t next_first = first, next_second = second;
  copy_pair(most_pairs - 1);
#pragma unroll 1
  for (uint32_t pair = most_pairs; pair-- > 0;) {
    const uint32_t p = next_first, q = next_second;
    load_references(pair - 1);
    next_first = first, next_second = second;
    __syncwarp();  // the other stage has been read
    copy_pair(pair - 1);
    Shared::wait();
    const bool active = pair < pairs, special = active && (q & kSpecial) != 0;
    const uint32_t slot = kFirst ? pair : (q & ~kSpecial) - kFirstSlot;
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
    shared.store_records(pair, Shared::kSecondX, active && !special ? points.slot(slot) : nullptr);
  }
}

}  // namespace cuzk::msm_detail
