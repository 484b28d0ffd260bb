// Numbers of the CUDA form of msm/ with the measurements that set them (README.md has the tables). Plain C++.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cuzk::msm_cuda_tuning {

// Threads that sum entries, for each multiprocessor: what the registers of the kernel let run at once.
inline constexpr unsigned kThreadsPerSmG1 = 512, kThreadsPerSmG2 = 256;
inline constexpr unsigned kBlock = 128;
// Entries a thread below which more threads do not pay.
inline constexpr size_t kMinSegment = 32;

// Entries (a digit of a scalar each) that are sorted and summed at a time. 88 bytes of scratch each in G1, 160 in G2.
inline constexpr size_t kMaxEntriesG1 = size_t{1} << 26, kMaxEntriesG2 = size_t{1} << 25;

// Partial sums that one thread joins.
inline constexpr unsigned kJoin = 8;

// Threads that sum the rows and columns of buckets, at least, where these are long enough.
inline constexpr size_t kLineThreads = 60000;

inline constexpr unsigned kMinWindowBits = 4, kMaxWindowBits = 24;

// Rounds of affine additions with shared inversions before the rest of each run is summed in extended coordinates. A
// round of p pairs costs a thread 6p multiplications and an inversion, about 40; the extended form 10p. So rounds go on
// while a thread has more than some 20 entries and runs have more than one.
inline unsigned affine_rounds(size_t segment, size_t entries, size_t buckets) {
  unsigned rounds = 0;
  const size_t run = std::max<size_t>(entries / buckets, 1);
  while (rounds < 8 && (segment >> rounds) >= 24 && (size_t{1} << rounds) < 2 * run) ++rounds;
  return rounds;
}

// In multiplications of the coordinate field.
inline constexpr double kEntryCost = 7, kBucketCost = 40;

inline constexpr unsigned digits(unsigned window_bits) { return (255 + window_bits - 1) / window_bits; }

// Window bits for n bases of which tables hold `multiples` multiples each: the least sum of additions over entries and
// buckets.
inline unsigned window_bits(size_t n, unsigned multiples) {
  unsigned best = kMinWindowBits;
  double least = 1e300;
  for (unsigned c = kMinWindowBits; c <= kMaxWindowBits; ++c) {
    const unsigned sets = (digits(c) + multiples - 1) / multiples;
    const double cost = kEntryCost * static_cast<double>(digits(c)) * static_cast<double>(n) +
                        kBucketCost * static_cast<double>(sets) * static_cast<double>(size_t{1} << (c - 1));
    if (cost < least) least = cost, best = c;
  }
  return best;
}

}  // namespace cuzk::msm_cuda_tuning
