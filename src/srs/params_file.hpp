// Reads and writes .params and .vk files (srs/layout.hpp has the layout).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/progress.hpp"
#include "base/result.hpp"
#include "curve/encoding.hpp"
#include "srs/byte_source.hpp"
#include "srs/srs.hpp"

namespace cuzk {

// Points that a thread reads at a time: 384 KiB in G1, within the second-level cache.
inline constexpr size_t kReadChunkPoints = 4096;

struct ParamsReadOptions {
  // What the circuit needs; a file of another shape is refused before its points are read.
  std::optional<SrsShape> expected;
  // The points of h, l, a, b_g1 and b_g2. Those of the verifying key are always checked for the subgroup.
  PointCheck check = PointCheck::kOnCurve;
};

// The counts of a .params file, after checking them against the file's length, each other and `expected`; no point
// is decoded. Errors name file, section and offset: kCorrupt; kNotFound and kIo from the file.
Result<SrsShape> inspect_params(const ByteSource& source, const std::optional<SrsShape>& expected = std::nullopt);
Result<SrsShape> inspect_params(const std::string& path, const std::optional<SrsShape>& expected = std::nullopt);

// All points of a .params file, in Montgomery form. Refuses what is not of the exact length, at infinity, not below
// p, off the curve or (on request) outside the subgroup; the error names file, section, index ("h[17]") and byte
// offset, the lowest offset first. Runs on all threads; memory: srs_bytes() and read_params_scratch_bytes().
// Errors: as inspect_params, kResource where memory is short, and that of check_wanted(), asked for each chunk.
Result<Srs> read_params(const ByteSource& source, const ParamsReadOptions& options, Progress& progress);
Result<Srs> read_params(const std::string& path, const ParamsReadOptions& options, Progress& progress);

// A chunk of the file for each thread.
uint64_t read_params_scratch_bytes(size_t threads);

// Only the verifying key at the head of a .params file. Errors as read_params.
Result<VerifyingKey> read_params_vk(const std::string& path);
Result<VerifyingKey> read_params_vk(const ByteSource& source);

// One point of h, l, a, b_g1 or b_g2 of a file of that shape, with read_params()' error where it is wrong.
Status check_params_point(const ByteSource& source, const SrsShape& shape, Section section, uint64_t index,
                          PointCheck check = PointCheck::kOnCurve);

// A whole .vk file. Errors as read_params.
Result<VerifyingKey> decode_vk(const ByteSource& source);
Result<VerifyingKey> decode_vk(std::span<const uint8_t> bytes);
Result<VerifyingKey> read_vk(const std::string& path);

// The bytes of a .vk file; no point of the key may be infinity.
std::vector<uint8_t> encode_vk(const VerifyingKey& vk);
// Writes a .vk file, all or nothing. Errors: see AtomicFile.
Status write_vk(const std::string& path, const VerifyingKey& vk);

// Writes a .params file section by section, so that parameters larger than memory can be made. The file appears
// under its name when finish() succeeds. Points must be finite and come in file order, as many as `shape` says:
// anything else is a bug and asserts. Errors: see AtomicFile.
class ParamsWriter {
 public:
  // Points encoded between two writes.
  static constexpr size_t kWritePoints = size_t{1} << 16;
  // All the memory that it takes: their bytes, those of G1 still there while the buffer grows for G2.
  static constexpr uint64_t buffer_bytes(const SrsShape& shape) {
    return std::min<uint64_t>(kWritePoints, shape.h) * kG1Bytes +
           std::min<uint64_t>(kWritePoints, shape.b_g2) * kG2Bytes;
  }

  static Result<ParamsWriter> create(const std::string& path, const VerifyingKey& vk, const SrsShape& shape);
  // Appends points of a section; starts the next section by itself when one is full. Encodes on all threads.
  Status append(Section section, std::span<const G1Affine> points);
  Status append(Section section, std::span<const G2Affine> points);
  Status finish();

 private:
  ParamsWriter(AtomicFile file, const SrsShape& shape) : file_(std::move(file)), shape_(shape) {}
  template <class Point>
  Status append_points(Section section, std::span<const Point> points);
  Status start_sections_until(Section section);

  AtomicFile file_;
  SrsShape shape_;
  size_t section_ = 0;  // index into kSections of the section being written; ic is written by create()
  uint64_t in_section_ = 0;
  std::vector<uint8_t> buffer_;
};

// Writes a whole .params file, all or nothing. Errors: see AtomicFile.
Status write_params(const std::string& path, const Srs& srs, Progress& progress);

}  // namespace cuzk
