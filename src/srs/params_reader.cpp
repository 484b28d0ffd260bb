#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>

#include "base/hex.hpp"
#include "parallel/workers.hpp"
#include "srs/params_file.hpp"
#include "srs/progress_counter.hpp"

namespace cuzk {
namespace {

Error corrupt(const ByteSource& source, std::string message, uint64_t offset) {
  return Error(ErrorClass::kCorrupt, std::move(message)).in_file(source.name()).at_offset(offset);
}

// Decodes one point that must be finite; `name` is a function, since it is needed in errors only.
template <class Curve, class Name>
Status decode_finite(const ByteSource& source, std::span<const uint8_t> bytes, uint64_t offset, PointCheck check,
                     Affine<Curve>& out, const Name& name) {
  const PointError wrong = read_uncompressed(bytes, check, out);
  if (wrong == PointError::kNone && !out.is_infinity()) return {};
  const std::string what =
      wrong == PointError::kNone ? " is the point at infinity" : ": " + to_error(wrong, Curve::kName).message;
  return corrupt(source, name() + what, offset).at_field(name());
}

// The first byte of a key is the high byte of an x coordinate below p, whose flag bits are clear. Pages that a web
// server sent instead, archives and pointers of large-file stores are told apart here, before their bytes are
// taken for counts.
Status check_first_byte(const ByteSource& source) {
  if (source.size() == 0) return corrupt(source, "the file is empty", 0);
  std::array<uint8_t, 8> head{};
  const size_t length = std::min<uint64_t>(head.size(), source.size());
  CUZK_TRY(source.read(0, std::span(head).first(length)));
  constexpr uint8_t kHighestByteOfP = 0x1a;
  if (head[0] <= kHighestByteOfP) return {};
  if (head[0] == '<') return corrupt(source, "the file begins with '<': a web page, not parameters", 0);
  return corrupt(source,
                 "the file begins with bytes " + to_hex(std::span(head).first(length)) +
                     ": no uncompressed point, so neither parameters nor a verifying key",
                 0);
}

// Checks that the count of `section`, and the points it promises, lie within the file; returns the count.
Result<uint32_t> read_count(const ByteSource& source, Section section, uint64_t offset) {
  const std::string name = to_string(section);
  if (offset + kCountBytes > source.size()) {
    return corrupt(
               source,
               "the file ends before the length of " + name + " (it has " + std::to_string(source.size()) + " bytes)",
               offset)
        .at_field(name);
  }
  std::array<uint8_t, kCountBytes> bytes{};
  CUZK_TRY(source.read(offset, bytes));
  const uint32_t count = uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
  // No overflow: 2^32 points of 192 bytes are below 2^40.
  const uint64_t end = offset + kCountBytes + count * point_bytes(section);
  if (end > source.size()) {
    return corrupt(source,
                   "the length of " + name + " is " + std::to_string(count) + ", which needs " + std::to_string(end) +
                       " bytes, but the file has " + std::to_string(source.size()),
                   offset)
        .at_field(name);
  }
  return count;
}

Status check_expected(const ByteSource& source, Section section, uint64_t count, const SrsShape& expected,
                      uint64_t offset) {
  if (count == expected.count(section)) return {};
  const std::string name = to_string(section);
  return corrupt(source,
                 "the length of " + name + " is " + std::to_string(count) + ", this circuit needs " +
                     std::to_string(expected.count(section)) + ": the file belongs to another circuit",
                 offset)
      .at_field(name);
}

// What holds for the parameters of any circuit.
Status check_consistent(const ByteSource& source, const SrsShape& shape) {
  const auto wrong = [&](Section section, const std::string& message) -> Status {
    const std::string name = to_string(section);
    return corrupt(source, "the length of " + name + " is " + std::to_string(shape.count(section)) + ": " + message,
                   section_offset(shape, section) - kCountBytes)
        .at_field(name);
  };
  if (shape.ic == 0) return wrong(Section::kIc, "there is at least the input ONE");
  if (!std::has_single_bit(shape.h + 1) || shape.h + 1 > (uint64_t{1} << 31)) {
    return wrong(Section::kH, "one more must be a power of two up to 2^31");
  }
  const uint64_t wires = shape.ic + shape.l;
  if (shape.a < shape.ic || shape.a > wires) return wrong(Section::kA, "it does not fit those of ic and l");
  if (shape.b_g1 > wires) return wrong(Section::kBG1, "there are not so many wires");
  if (shape.b_g2 != shape.b_g1) return wrong(Section::kBG2, "it must be that of b_g1");
  return {};
}

// Keeps the error with the lowest offset, so that a file gives the same error whatever the threads do.
class FirstError {
 public:
  bool before(uint64_t offset) {
    const std::lock_guard lock(mutex_);
    return error_.has_value() && error_->offset.value_or(0) < offset;
  }
  void offer(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || error.offset.value_or(0) < error_->offset.value_or(0)) error_ = std::move(error);
  }
  std::optional<Error> take() { return std::move(error_); }

 private:
  std::mutex mutex_;
  std::optional<Error> error_;
};

std::string point_name(Section section, uint64_t index) {
  return std::string(to_string(section)) + "[" + std::to_string(index) + "]";
}

template <class Curve>
Status read_points(const ByteSource& source, Section section, uint64_t offset, PointCheck check,
                   ProgressCounter& progress, std::vector<Affine<Curve>>& out, uint64_t count) {
  try {
    out.resize(count);
  } catch (const std::bad_alloc&) {
    return Error(ErrorClass::kResource, std::string("no memory for the points of ") + to_string(section))
        .in_file(source.name());
  }
  const uint64_t size = point_bytes(section);
  FirstError first;
  const size_t chunks = (count + kReadChunkPoints - 1) / kReadChunkPoints;
  const auto make_buffer = [&] { return std::vector<uint8_t>(std::min<uint64_t>(count, kReadChunkPoints) * size); };
  parallel_workers(chunks, chunks, make_buffer, [&](size_t chunk, std::vector<uint8_t>& whole) {
    const size_t begin = chunk * kReadChunkPoints, end = std::min<size_t>(count, begin + kReadChunkPoints);
    if (first.before(offset + begin * size)) return;
    if (Status wanted = progress.check(); !wanted.ok()) return first.offer(std::move(wanted).error());
    const auto buffer = std::span(whole).first((end - begin) * size);
    if (Status read = source.read(offset + begin * size, buffer); !read.ok()) {
      return first.offer(std::move(read).error());
    }
    for (size_t i = begin; i < end; ++i) {
      const auto bytes = std::span<const uint8_t>(buffer).subspan((i - begin) * size, size);
      const auto name = [&] { return point_name(section, i); };
      Status decoded = decode_finite(source, bytes, offset + i * size, check, out[i], name);
      if (!decoded.ok()) return first.offer(std::move(decoded).error());
    }
    progress.add(end - begin);
  });
  if (auto error = first.take()) return std::move(*error);
  return {};
}

// The fixed points and ic; counts have been checked.
Result<VerifyingKey> read_vk_points(const ByteSource& source, uint64_t ic, Progress& progress) {
  std::array<uint8_t, kVkPointBytes> head{};
  CUZK_TRY(source.read(0, head));
  VerifyingKey vk;
  uint64_t offset = 0;
  const auto next = [&]<class Curve>(Affine<Curve>& out, const char* name) -> Status {
    const uint64_t size = std::is_same_v<Curve, G1Curve> ? kG1Bytes : kG2Bytes;
    CUZK_TRY(decode_finite(source, std::span<const uint8_t>(head).subspan(offset, size), offset, PointCheck::kSubgroup,
                           out, [&] { return std::string(name); }));
    offset += size;
    return {};
  };
  CUZK_TRY(next(vk.alpha_g1, "alpha_g1"));
  CUZK_TRY(next(vk.beta_g1, "beta_g1"));
  CUZK_TRY(next(vk.beta_g2, "beta_g2"));
  CUZK_TRY(next(vk.gamma_g2, "gamma_g2"));
  CUZK_TRY(next(vk.delta_g1, "delta_g1"));
  CUZK_TRY(next(vk.delta_g2, "delta_g2"));
  ProgressCounter counter(progress, "verifying key", ic, "points");
  CUZK_TRY(read_points(source, Section::kIc, kVkPointBytes + kCountBytes, PointCheck::kSubgroup, counter, vk.ic, ic));
  return vk;
}

}  // namespace

Result<SrsShape> inspect_params(const ByteSource& source, const std::optional<SrsShape>& expected) {
  CUZK_TRY(check_first_byte(source));
  SrsShape shape;
  uint64_t offset = kVkPointBytes;
  for (const Section section : kSections) {
    CUZK_ASSIGN(const uint32_t count, read_count(source, section, offset));
    if (expected) CUZK_TRY(check_expected(source, section, count, *expected, offset));
    shape.count(section) = count;
    offset += kCountBytes + count * point_bytes(section);
  }
  if (offset != source.size()) {
    return corrupt(source,
                   std::to_string(source.size() - offset) + " bytes follow the end of the parameters (the file has " +
                       std::to_string(source.size()) + ")",
                   offset);
  }
  CUZK_TRY(check_consistent(source, shape));
  return shape;
}

Result<SrsShape> inspect_params(const std::string& path, const std::optional<SrsShape>& expected) {
  CUZK_ASSIGN(const auto source, open_file_source(path));
  return inspect_params(*source, expected);
}

Result<Srs> read_params(const ByteSource& source, const ParamsReadOptions& options, Progress& progress) {
  CUZK_ASSIGN(const SrsShape shape, inspect_params(source, options.expected));
  Srs srs;
  CUZK_ASSIGN(srs.vk, read_vk_points(source, shape.ic, progress));
  {
    ProgressCounter counter(progress, "parameters", shape.h + shape.l + shape.a + shape.b_g1 + shape.b_g2, "points");
    const auto read = [&](Section section, auto& out) {
      return read_points(source, section, section_offset(shape, section), options.check, counter, out,
                         shape.count(section));
    };
    CUZK_TRY(read(Section::kH, srs.h));
    CUZK_TRY(read(Section::kL, srs.l));
    CUZK_TRY(read(Section::kA, srs.a));
    CUZK_TRY(read(Section::kBG1, srs.b_g1));
    CUZK_TRY(read(Section::kBG2, srs.b_g2));
  }
  CUZK_TRY(source.check_unchanged());
  return srs;
}

Result<Srs> read_params(const std::string& path, const ParamsReadOptions& options, Progress& progress) {
  CUZK_ASSIGN(const auto source, open_file_source(path));
  return read_params(*source, options, progress);
}

uint64_t read_params_scratch_bytes(size_t threads) { return threads * kReadChunkPoints * kG2Bytes; }

Result<VerifyingKey> read_params_vk(const ByteSource& source) {
  CUZK_ASSIGN(const SrsShape shape, inspect_params(source));
  NoProgress quiet;
  return read_vk_points(source, shape.ic, quiet);
}

Result<VerifyingKey> read_params_vk(const std::string& path) {
  CUZK_ASSIGN(const auto source, open_file_source(path));
  return read_params_vk(*source);
}

Status check_params_point(const ByteSource& source, const SrsShape& shape, Section section, uint64_t index,
                          PointCheck check) {
  std::array<uint8_t, kG2Bytes> whole{};
  const auto bytes = std::span(whole).first(point_bytes(section));
  const uint64_t offset = section_offset(shape, section) + index * bytes.size();
  CUZK_TRY(source.read(offset, bytes));
  const auto name = [&] { return point_name(section, index); };
  if (section == Section::kBG2) {
    G2Affine point;
    return decode_finite(source, bytes, offset, check, point, name);
  }
  G1Affine point;
  return decode_finite(source, bytes, offset, check, point, name);
}

Result<VerifyingKey> decode_vk(const ByteSource& source) {
  CUZK_TRY(check_first_byte(source));
  CUZK_ASSIGN(const uint32_t ic, read_count(source, Section::kIc, kVkPointBytes));
  if (ic == 0) {
    return corrupt(source, "the length of ic is 0: there is at least the input ONE", kVkPointBytes).at_field("ic");
  }
  if (source.size() != vk_file_bytes(ic)) {
    return corrupt(source,
                   std::to_string(source.size() - vk_file_bytes(ic)) + " bytes follow the end of the verifying key",
                   vk_file_bytes(ic));
  }
  NoProgress quiet;
  CUZK_ASSIGN(VerifyingKey vk, read_vk_points(source, ic, quiet));
  CUZK_TRY(source.check_unchanged());
  return vk;
}

Result<VerifyingKey> decode_vk(std::span<const uint8_t> bytes) { return decode_vk(MemorySource(bytes)); }

Result<VerifyingKey> read_vk(const std::string& path) {
  CUZK_ASSIGN(const auto source, open_file_source(path));
  return decode_vk(*source);
}

}  // namespace cuzk
