// Numbers of msm/ with the measurements that set them.
#pragma once

#include <algorithm>
#include <cstddef>

namespace cuzk::msm_tuning {

// Bytes of affine points in a chunk: long enough for few inversions, short enough that the working set of a worker
// (two to three times this) stays near the second-level cache.
inline constexpr size_t kChunkBytes = size_t{1} << 20;
// Entries below which cutting a chunk for another thread does not pay.
inline constexpr size_t kMinChunk = 512;

// Bases that one pass of the bucket method takes; longer sums are cut.
inline constexpr size_t kSegment = size_t{1} << 22;
// Entries that are sorted and summed together (as many windows as fit).
inline constexpr size_t kGroupEntries = size_t{1} << 23;
// Below this many bases scalars are multiplied one by one.
inline constexpr size_t kMinPippenger = 8;

inline constexpr unsigned kMinWindowBits = 5;
inline constexpr unsigned kMaxWindowBits = 17;

// Signed digits of scalars below r/2: the top digit needs no carry beyond it.
inline constexpr unsigned windows(unsigned window_bits) { return (255 + window_bits - 1) / window_bits; }

// A complete addition in extended coordinates costs this many affine additions of a batch.
inline constexpr size_t kSerialAddition = 6;

// Batched additions that n bases take with window bits c, counting n a window for the buckets, three a bucket (for its
// row, for its column, and for bringing its sum out of vector form), and two serial additions a row and a column.
inline size_t additions(unsigned c, size_t n) {
  const size_t buckets = size_t{1} << (c - 1);
  const size_t sides = (size_t{1} << (c / 2)) + (size_t{1} << ((c - 1) / 2));
  return windows(c) * (n + 3 * std::min(n, buckets) + 2 * kSerialAddition * sides);
}

// Window bits for n bases: the least number of batched additions. Measured on a Zen 5 (one core): at 2^10 bits 7 and 8
// are equal, at 2^14 bits 11 and 12, at 2^18 bits 13 to 15 within 2 percent; at 2^20 bits 15, 16, 17 take 1.06, 1.02,
// 1.06 s, at 2^22 4.33, 4.09, 3.91 s.
inline unsigned window_bits(size_t n) {
  unsigned best = kMinWindowBits;
  size_t least = ~size_t{0};
  for (unsigned c = kMinWindowBits; c <= kMaxWindowBits; ++c) {
    const size_t cost = additions(c, n);
    if (cost < least) least = cost, best = c;
  }
  return best;
}

// Window bits of a table for `expected` multiplications of a fixed base: additions to make the table and to use it.
inline unsigned fixed_base_bits(size_t expected) {
  unsigned best = kMinWindowBits;
  size_t least = ~size_t{0};
  for (unsigned c = kMinWindowBits; c <= 16; ++c) {
    const size_t cost = windows(c) * (expected + (size_t{1} << (c - 1)));
    if (cost < least) least = cost, best = c;
  }
  return best;
}

}  // namespace cuzk::msm_tuning
