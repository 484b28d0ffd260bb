// Which ranges of one block of device memory are taken: the host side of the arena, without any CUDA, so that it is
// tested on machines without a GPU.
//
// Freed memory is handed out again before the device has finished with it: each free range carries tickets, "stream s
// up to its ticket t may still use this", and whoever is given the range waits for them on its own stream.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace cuzk::gpu {

// Everything that was put on stream `stream` before its `ticket`-th mark.
struct StreamTicket {
  uint32_t stream;
  uint64_t ticket;
  friend bool operator==(const StreamTicket&, const StreamTicket&) = default;
};

// Long-lived ranges are taken from the low end and short-lived ones from the high end, so that they do not fragment
// each other.
enum class Placement : uint8_t { kLow, kHigh };

// Not thread-safe. A few hundred ranges at most: searches are linear.
class ArenaLayout {
 public:
  // Offsets and sizes of ranges are multiples of this: what cudaMalloc aligns to.
  static constexpr uint64_t kGranularityBytes = 256;

  struct Range {
    uint64_t offset, bytes;
    std::vector<StreamTicket> after;  // at most one a stream
  };

  // `bytes` is rounded down to the granularity. `after`: tickets of earlier users of all of it.
  explicit ArenaLayout(uint64_t bytes, std::vector<StreamTicket> after = {});

  static constexpr uint64_t rounded(uint64_t bytes) {
    return (bytes + kGranularityBytes - 1) / kGranularityBytes * kGranularityBytes;
  }

  // The first range from the low or the high end that holds `bytes` at an offset that is a multiple of `alignment` (a
  // power of two). Zero bytes take one granule. Error kResource, with sizes, where no free range does.
  Result<Range> allocate(uint64_t bytes, uint64_t alignment, Placement placement);
  // Returns the range that begins at `offset`; it must have been allocated.
  void release(uint64_t offset, std::span<const StreamTicket> after);

  uint64_t capacity_bytes() const { return capacity_; }
  uint64_t used_bytes() const { return used_; }
  uint64_t peak_bytes() const { return peak_; }
  uint64_t free_bytes() const { return capacity_ - used_; }
  uint64_t largest_free_bytes() const;
  size_t ranges_in_use() const;
  // The tickets of all free ranges.
  std::vector<StreamTicket> tickets() const;

 private:
  struct Block {
    uint64_t bytes;
    bool free;
    std::vector<StreamTicket> after;
  };
  using Blocks = std::map<uint64_t, Block>;
  Range take(Blocks::iterator block, uint64_t offset, uint64_t bytes);

  uint64_t capacity_, used_ = 0, peak_ = 0;
  Blocks blocks_;  // by offset, without gaps; no two free neighbours
};

}  // namespace cuzk::gpu
