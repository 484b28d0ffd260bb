// Internal to msm/: sums of runs of points, the operation that everything in this module is made of.
//
// Points are summed pairwise in rounds, like a tournament, so that all additions of a round are independent and share
// one inversion (Montgomery's trick): 5 multiplications and a squaring an affine addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/cpu_features.hpp"

namespace cuzk::msm_detail {

// A reference to a base: its index, and whether its negative is meant.
struct Entry {
  uint32_t bits;
  static constexpr Entry of(size_t index, bool negative) { return {static_cast<uint32_t>(index << 1 | negative)}; }
  constexpr size_t index() const { return bits >> 1; }
  constexpr bool negative() const { return bits & 1; }
};
inline constexpr size_t kMaxIndex = size_t{1} << 31;

// Sums the runs of one chunk. Objects own their scratch memory and are used by one thread at a time.
template <class Curve>
class ChunkSummer {
 public:
  virtual ~ChunkSummer() = default;
  // *out[j] = the sum of the next lengths[j] entries, for every j; the lengths add up to entries.size(), which is at
  // most what the summer was made for, and none is zero. Exact for any points.
  virtual void sum(const Affine<Curve>* bases, std::span<const Entry> entries, std::span<const uint32_t> lengths,
                   Affine<Curve>* const* out) = 0;
};

// Entries that a chunk has at most.
template <class Curve>
size_t max_chunk();

// The fastest summer that cpu_features() allows, for chunks of at most max_entries <= max_chunk() entries.
template <class Curve>
std::unique_ptr<ChunkSummer<Curve>> make_chunk_summer(size_t max_entries);
template <class Curve>
std::unique_ptr<ChunkSummer<Curve>> make_portable_chunk_summer(size_t max_entries);
#if CUZK_X86_ASM
template <class Curve>
std::unique_ptr<ChunkSummer<Curve>> make_ifma_chunk_summer(size_t max_entries);  // needs cpu_features().avx512_ifma
#endif

// out[j] = the sum of entries[starts[j]] .. entries[starts[j+1]-1] (infinity for none); starts has out.size() + 1
// elements, the last is entries.size(). Parallel over chunks of entries, so runs may have any lengths.
template <class Curve>
void sum_runs(const Affine<Curve>* bases, std::span<const Entry> entries, std::span<const uint32_t> starts,
              std::span<Affine<Curve>> out);

// sums[i] = a[i] + b[i] for count pairs, exact for any points; with room for `count` fields in each scratch span.
// sums may be a or b. One inversion.
template <class Curve>
void batch_add(const Affine<Curve>* a, const Affine<Curve>* b, Affine<Curve>* sums, size_t count,
               typename Curve::Field* denominators, typename Curve::Field* products);

}  // namespace cuzk::msm_detail
