// Numbers of the CUDA form of msm/ with the measurements that set them (README.md has the tables). Plain C++.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cuzk::msm_cuda_tuning {

// Threads that sum entries, for each multiprocessor: what the registers of the kernel let run at once.
inline constexpr unsigned kThreadsPerSmG1 = 512, kThreadsPerSmG2 = 256;
inline constexpr unsigned kBlock = 128;
// Of the kernel for the hybrid multiplier a multiprocessor holds one block, which takes so much shared memory.
inline constexpr unsigned kHybridBlock = 384, kSharedBytesHybrid = 215040;
// Bases from which on the hybrid multiplier pays: 2^18, 2^20, 2^22 take 3.18, 8.20, 25.9 ms by
// integers, 3.15, 7.98, 23.9 by it.
inline constexpr size_t kMinBasesHybrid = size_t{1} << 20;
// Entries a thread below which more threads do not pay: up to as many as run at once, and beyond. A second wave of
// threads keeps multiprocessors busy when the first have finished. G1, 2^22 bases: 26.4, 26.1, 26.4, 26.8, 28.4 ms with
// 1, 2, 3, 4, 8 waves; 2^20: 8.3, 8.8, 9.3 with 1, 2, 3. G2, 2^20: 22.7, 23.3, 24.0, 24.4 with 1 to 4.
inline constexpr size_t kMinSegment = 32, kGoodSegmentG1 = 450, kGoodSegmentG2 = 2000;
// The kernel for the hybrid multiplier has one: G1, 2^22: 22.4, 22.9, 23.2 ms with 1, 2, 3; with 12 multiples,
// 2^24: 69.9, 69.4 with 1, 2.
inline constexpr size_t kMaxWaves = 8, kMaxWavesHybrid = 1;

inline size_t threads(size_t entries, size_t resident, size_t good_segment, size_t max_waves, size_t waves) {
  if (waves == 0) waves = std::clamp<size_t>(entries / good_segment / resident, 1, max_waves);
  const size_t few = std::min(resident, (entries + kMinSegment - 1) / kMinSegment);
  return few < resident ? few : waves * resident;
}

// Entries (a digit of a scalar each) that are sorted and summed at a time. 88 bytes of scratch each in G1, 160 in G2.
inline constexpr size_t kMaxEntriesG1 = size_t{1} << 26, kMaxEntriesG2 = size_t{1} << 25;

// Partial sums that are joined at a time: a warp's lanes.
inline constexpr unsigned kJoin = 32;

// Threads that sum the rows and columns of buckets, at least, where these are long enough.
inline constexpr size_t kLineThreads = 60000;

inline constexpr unsigned kMinWindowBits = 4, kMaxWindowBits = 24;

// Rounds of affine additions with shared inversions before the rest of each run is summed in extended coordinates. A
// round of p pairs costs a thread 6p multiplications and a fourth of an inversion, about 50; the extended form 10p. So
// rounds go on while a thread has more than some 24 entries and runs have more than one.
inline unsigned affine_rounds(size_t segment, size_t entries, size_t buckets) {
  unsigned rounds = 0;
  const size_t run = std::max<size_t>(entries / buckets, 1);
  while (rounds < 8 && (segment >> rounds) >= 24 && (size_t{1} << rounds) < 2 * run) ++rounds;
  return rounds;
}

// In multiplications of the coordinate field. Few buckets cost more than their additions, because these do not fill the
// chip: at 2^18, 12, 13, 14 bits take 3.46, 3.64, 3.80 ms in G1 and 8.4, 9.4, 9.9 in G2. At 2^20, 14 to 16
// bits: 9.0, 8.3, 8.4 (G1); at 2^22, 16 to 18: 26.8, 26.5, 28.9; at 2^24, 17 to 20 within 2 percent.
inline constexpr double kEntryCost = 7;
inline constexpr double bucket_cost(size_t bases) { return bases < size_t{1} << 19 ? 110 : 40; }

inline constexpr unsigned digits(unsigned window_bits) { return (255 + window_bits - 1) / window_bits; }

// Of the sets over which digits are dealt out in turn, the first ones whose windows can do with a bit less. 255 bits
// remain; a set at least keeps all of its bits.
inline constexpr unsigned narrow_sets(unsigned window_bits, unsigned sets) {
  const unsigned count = digits(window_bits), spare = window_bits * count - 255;
  unsigned narrow = 0;
  while (narrow + 1 < sets) {
    const unsigned next = narrow + 1, rest = count % sets;
    if (next * (count / sets) + (next < rest ? next : rest) > spare) break;
    narrow = next;
  }
  return narrow;
}

// Wider windows take memory; 2^26 bases would have 4 times the buckets for 1 % of the additions.
inline constexpr double kWorthMoreBuckets = 0.98;

// Window bits for n bases of which tables hold `multiples` multiples each: the least sum of additions over entries and
// buckets.
inline unsigned window_bits(size_t n, unsigned multiples) {
  unsigned best = kMinWindowBits;
  double least = 1e300;
  for (unsigned c = kMinWindowBits; c <= kMaxWindowBits; ++c) {
    const unsigned sets = (digits(c) + multiples - 1) / multiples;
    const double cost = kEntryCost * static_cast<double>(digits(c)) * static_cast<double>(n) +
                        bucket_cost(n) * (static_cast<double>(sets) - narrow_sets(c, sets) / 2.0) *
                            static_cast<double>(size_t{1} << (c - 1));
    if (cost < kWorthMoreBuckets * least) least = cost, best = c;
  }
  return best;
}

}  // namespace cuzk::msm_cuda_tuning
