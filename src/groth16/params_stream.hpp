// A .params file on its way to a device: chunk by chunk through slabs, without a copy of all of it on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "curve/encoding.hpp"
#include "groth16/packed_query.hpp"
#include "srs/byte_source.hpp"
#include "srs/layout.hpp"

namespace cuzk {

// Points [first, first + count) of a section.
struct PointChunk {
  Section section = Section::kH;
  uint64_t first = 0;
  size_t count = 0;
};

// A device that takes the points. What it is given is converted while the next slab is being filled.
class PointSink {
 public:
  // Bytes of the points as they are in the file, and for each where it goes (PlaceCursor).
  static constexpr size_t kSlabBytes = size_t{24} << 20;
  static constexpr size_t kSlabPoints = kSlabBytes / kG1Bytes;
  struct Slab {
    std::span<uint8_t> bytes;    // kSlabBytes
    std::span<uint32_t> places;  // kSlabPoints
  };

  virtual ~PointSink() = default;
  // The slab for the next chunk; waits until what was in it has left the host.
  virtual Result<Slab> next_slab() = 0;
  // The chunk is in the slab that was asked for last. Places are filled but for h, whose points keep their order.
  virtual Status take(const PointChunk& chunk) = 0;
  // The section has been taken: waits for its points, and returns the lowest index of one that is at infinity, off the
  // curve, outside the subgroup where that is asked for, or no point at all.
  virtual Result<std::optional<uint64_t>> finish(Section section) = 0;
};

// Where the points of a query go: the places of the bits' group are its indices, those of the values' group theirs with
// the high bit set.
class PlaceCursor {
 public:
  static constexpr uint32_t kValue = uint32_t{1} << 31;

  explicit PlaceCursor(const PackedQuery& query) : query_(query) {}
  // Of the points [first, first + out.size()); calls go on where the last one ended.
  void fill(uint64_t first, std::span<uint32_t> out);

 private:
  const PackedQuery& query_;
  size_t bit_ = 0, value_ = 0;
};

// Passes h, l, a, b_g1 and b_g2 of a file of that shape (inspect_params() found it so) to `sink`, in file order, read
// on all threads. The points are checked as read_params() does, with its errors: kCorrupt, naming file, section, index
// and offset; kIo; and those of the sink, which is the one that makes the check. Without queries no places are filled.
// kInternal where `queries` are of another shape; kDeviceFault where the device refuses a point that is right.
Status stream_params(const ByteSource& source, const SrsShape& shape, const PackedQueries* queries, PointCheck check,
                     PointSink& sink, Progress& progress);

}  // namespace cuzk
