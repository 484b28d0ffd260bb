// Any bytes are either refused or the exact encoding of what was read.
#include <cstring>

#include "base/assert.hpp"
#include "srs/params_file.hpp"

namespace {

template <class Points>
void check_same(const uint8_t* bytes, const Points& points) {
  for (const auto& point : points) {
    const auto encoded = cuzk::encode_uncompressed(point);
    CUZK_ASSERT(std::memcmp(bytes, encoded.data(), encoded.size()) == 0);
    bytes += encoded.size();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  const MemorySource source(std::span(data, size));
  NoProgress quiet;
  const auto shape = inspect_params(source);
  for (const PointCheck check : {PointCheck::kOnCurve, PointCheck::kSubgroup}) {
    const auto srs = read_params(source, {std::nullopt, check}, quiet);
    if (!srs.ok()) {
      CUZK_ASSERT(srs.error().error_class == ErrorClass::kCorrupt && srs.error().offset.has_value());
      continue;
    }
    CUZK_ASSERT(shape.ok() && *shape == srs->shape() && params_file_bytes(*shape) == size);
    const auto vk = encode_vk(srs->vk);
    CUZK_ASSERT(std::memcmp(data, vk.data(), vk.size()) == 0);
    check_same(data + section_offset(*shape, Section::kH), srs->h);
    check_same(data + section_offset(*shape, Section::kL), srs->l);
    check_same(data + section_offset(*shape, Section::kA), srs->a);
    check_same(data + section_offset(*shape, Section::kBG1), srs->b_g1);
    check_same(data + section_offset(*shape, Section::kBG2), srs->b_g2);
  }
  return 0;
}
