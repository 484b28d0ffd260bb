#include "groth16/params_stream.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>

#include "parallel/parallel.hpp"
#include "srs/params_file.hpp"
#include "srs/progress_counter.hpp"

namespace cuzk {
namespace {

// Read at a time by a thread: enough of them keep a disk's queue full.
constexpr size_t kReadBytes = size_t{1} << 20;

void fill_group(const PackedQuery::Group& group, uint32_t flag, uint64_t first, std::span<uint32_t> out, size_t& next) {
  for (; next < group.size() && group.position[next] < first + out.size(); ++next) {
    out[group.position[next] - first] = static_cast<uint32_t>(next) | flag;
  }
}

// Reads on all threads, one of which does `beside` first; of several errors that with the lowest offset.
template <class Beside>
Status read_bytes(const ByteSource& source, uint64_t offset, std::span<uint8_t> out, const Beside& beside) {
  std::mutex mutex;
  std::optional<Error> first;
  const size_t pieces = (out.size() + kReadBytes - 1) / kReadBytes;
  parallel_for(pieces + 1, 1, [&](size_t piece, size_t) {
    if (piece == 0) return beside();
    const size_t begin = (piece - 1) * kReadBytes;
    Status read = source.read(offset + begin, out.subspan(begin, std::min(kReadBytes, out.size() - begin)));
    if (read.ok()) return;
    const std::lock_guard lock(mutex);
    if (!first || read.error().offset.value_or(0) < first->offset.value_or(0)) first = std::move(read).error();
  });
  if (first) return *std::move(first);
  return {};
}

const PackedQuery* query_of(const PackedQueries& queries, Section section) {
  switch (section) {
    case Section::kL: return &queries.l;
    case Section::kA: return &queries.a;
    case Section::kBG1:
    case Section::kBG2: return &queries.b;
    case Section::kIc:
    case Section::kH: break;
  }
  return nullptr;
}

Status check_queries(const SrsShape& shape, const PackedQueries& queries) {
  for (const Section section : {Section::kL, Section::kA, Section::kBG1, Section::kBG2}) {
    const PackedQuery& query = *query_of(queries, section);
    if (query.bits.size() + query.values.size() == shape.count(section)) continue;
    return Error(ErrorClass::kInternal, std::string("the parameters and the circuit differ in ") + to_string(section));
  }
  return {};
}

Status stream_section(const ByteSource& source, const SrsShape& shape, Section section, const PackedQuery* query,
                      PointCheck check, PointSink& sink, ProgressCounter& progress) {
  const uint64_t size = point_bytes(section), count = shape.count(section), offset = section_offset(shape, section);
  std::optional<PlaceCursor> cursor;
  if (query != nullptr) cursor.emplace(*query);
  for (uint64_t first = 0; first < count;) {
    CUZK_ASSIGN(const PointSink::Slab slab, sink.next_slab());
    const PointChunk chunk{section, first, std::min<uint64_t>(PointSink::kSlabBytes / size, count - first)};
    CUZK_TRY(read_bytes(source, offset + first * size, slab.bytes.first(chunk.count * size), [&] {
      if (cursor) cursor->fill(first, slab.places.first(chunk.count));
    }));
    CUZK_TRY(sink.take(chunk));
    progress.add(chunk.count);
    first += chunk.count;
  }
  CUZK_ASSIGN(const std::optional<uint64_t> bad, sink.finish(section));
  if (!bad) return {};
  CUZK_TRY(check_params_point(source, shape, section, *bad, check));
  return Error(ErrorClass::kDeviceFault, std::string("the device takes ") + to_string(section) + "[" +
                                             std::to_string(*bad) + "] for no point, but it is one")
      .in_file(source.name());
}

}  // namespace

void PlaceCursor::fill(uint64_t first, std::span<uint32_t> out) {
  fill_group(query_.bits, 0, first, out, bit_);
  fill_group(query_.values, kValue, first, out, value_);
}

Status stream_params(const ByteSource& source, const SrsShape& shape, const PackedQueries* queries, PointCheck check,
                     PointSink& sink, Progress& progress) {
  if (queries != nullptr) CUZK_TRY(check_queries(shape, *queries));
  {
    ProgressCounter counter(progress, "parameters", shape.h + shape.l + shape.a + shape.b_g1 + shape.b_g2, "points");
    for (const Section section : {Section::kH, Section::kL, Section::kA, Section::kBG1, Section::kBG2}) {
      const PackedQuery* const query = queries == nullptr ? nullptr : query_of(*queries, section);
      CUZK_TRY(stream_section(source, shape, section, query, check, sink, counter));
    }
  }
  return source.check_unchanged();
}

}  // namespace cuzk
