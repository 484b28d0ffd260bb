#include <algorithm>
#include <array>
#include <limits>

#include "parallel/parallel.hpp"
#include "srs/params_file.hpp"
#include "srs/progress_counter.hpp"

namespace cuzk {
namespace {

constexpr size_t kEncodeGrain = 1024;

std::array<uint8_t, kCountBytes> encode_count(uint64_t count) {
  CUZK_ASSERT(count <= std::numeric_limits<uint32_t>::max());
  return {static_cast<uint8_t>(count >> 24), static_cast<uint8_t>(count >> 16), static_cast<uint8_t>(count >> 8),
          static_cast<uint8_t>(count)};
}

template <class Point>
void append_point(std::vector<uint8_t>& out, const Point& point) {
  CUZK_ASSERT(!point.is_infinity());
  const auto bytes = encode_uncompressed(point);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::vector<uint8_t> encode_vk(const VerifyingKey& vk) {
  std::vector<uint8_t> out;
  out.reserve(vk_file_bytes(vk.ic.size()));
  append_point(out, vk.alpha_g1);
  append_point(out, vk.beta_g1);
  append_point(out, vk.beta_g2);
  append_point(out, vk.gamma_g2);
  append_point(out, vk.delta_g1);
  append_point(out, vk.delta_g2);
  const auto count = encode_count(vk.ic.size());
  out.insert(out.end(), count.begin(), count.end());
  for (const G1Affine& point : vk.ic) append_point(out, point);
  return out;
}

Status write_vk(const std::string& path, const VerifyingKey& vk) {
  CUZK_ASSIGN(AtomicFile file, AtomicFile::create(path));
  CUZK_TRY(file.write(encode_vk(vk)));
  return file.commit();
}

Result<ParamsWriter> ParamsWriter::create(const std::string& path, const VerifyingKey& vk, const SrsShape& shape) {
  CUZK_ASSERT(vk.ic.size() == shape.ic);
  CUZK_ASSIGN(AtomicFile file, AtomicFile::create(path));
  CUZK_TRY(file.write(encode_vk(vk)));
  ParamsWriter writer(std::move(file), shape);
  writer.in_section_ = shape.ic;
  return writer;
}

// Moves on to `section`, writing the counts on the way; the sections before it must be full.
Status ParamsWriter::start_sections_until(Section section) {
  while (kSections[section_] != section) {
    CUZK_ASSERT(in_section_ == shape_.count(kSections[section_]));
    ++section_;
    CUZK_ASSERT(section_ < kSections.size());
    in_section_ = 0;
    CUZK_TRY(file_.write(encode_count(shape_.count(kSections[section_]))));
  }
  return {};
}

template <class Point>
Status ParamsWriter::append_points(Section section, std::span<const Point> points) {
  CUZK_TRY(start_sections_until(section));
  const uint64_t size = point_bytes(section);
  CUZK_ASSERT(points.size() <= shape_.count(section) - in_section_);
  while (!points.empty()) {
    const auto part = points.first(std::min(points.size(), kWritePoints));
    buffer_.resize(part.size() * size);
    parallel_for(part.size(), kEncodeGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        CUZK_ASSERT(!part[i].is_infinity());
        const auto bytes = encode_uncompressed(part[i]);
        std::copy(bytes.begin(), bytes.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(i * size));
      }
    });
    CUZK_TRY(file_.write(buffer_));
    in_section_ += part.size();
    points = points.subspan(part.size());
  }
  return {};
}

Status ParamsWriter::append(Section section, std::span<const G1Affine> points) {
  CUZK_ASSERT(section != Section::kBG2 && section != Section::kIc);
  return append_points(section, points);
}

Status ParamsWriter::append(Section section, std::span<const G2Affine> points) {
  CUZK_ASSERT(section == Section::kBG2);
  return append_points(section, points);
}

Status ParamsWriter::finish() {
  CUZK_TRY(start_sections_until(Section::kBG2));
  CUZK_ASSERT(in_section_ == shape_.b_g2);
  CUZK_ASSERT(file_.written_bytes() == params_file_bytes(shape_));
  return file_.commit();
}

Status write_params(const std::string& path, const Srs& srs, Progress& progress) {
  const SrsShape shape = srs.shape();
  CUZK_ASSIGN(ParamsWriter writer, ParamsWriter::create(path, srs.vk, shape));
  ProgressCounter counter(progress, "write parameters", shape.h + shape.l + shape.a + shape.b_g1 + shape.b_g2,
                          "points");
  const auto write = [&](Section section, const auto& points) -> Status {
    constexpr size_t kStep = ParamsWriter::kWritePoints;
    for (size_t begin = 0; begin < points.size(); begin += kStep) {
      const size_t count = std::min(kStep, points.size() - begin);
      CUZK_TRY(writer.append(section, std::span(points).subspan(begin, count)));
      counter.add(count);
    }
    return {};
  };
  CUZK_TRY(write(Section::kH, srs.h));
  CUZK_TRY(write(Section::kL, srs.l));
  CUZK_TRY(write(Section::kA, srs.a));
  CUZK_TRY(write(Section::kBG1, srs.b_g1));
  CUZK_TRY(write(Section::kBG2, srs.b_g2));
  return writer.finish();
}

}  // namespace cuzk
