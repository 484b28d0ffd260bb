// Byte layout of verifying keys (.vk) and parameters (.params), as bellperson reads and writes them.
//
//   .vk      alpha_g1 beta_g1 beta_g2 gamma_g2 delta_g1 delta_g2 | u32 n | ic[n]
//   .params  the .vk, then h, l, a, b_g1 (G1) and b_g2 (G2), each u32 n | points[n]
//
// Counts are big-endian, points uncompressed (96 bytes in G1, 192 in G2); there is no padding and no trailer.
// Source: filecoin-project/bellperson src/groth16/verifying_key.rs:59, params.rs:72.
#pragma once

#include <array>
#include <cstdint>

namespace cuzk {

inline constexpr uint64_t kG1Bytes = 96;
inline constexpr uint64_t kG2Bytes = 192;
inline constexpr uint64_t kCountBytes = 4;
// The six fixed points of a verifying key, without the count of ic.
inline constexpr uint64_t kVkPointBytes = 3 * kG1Bytes + 3 * kG2Bytes;

// The vectors of a .params file, in file order.
enum class Section : uint8_t { kIc, kH, kL, kA, kBG1, kBG2 };
inline constexpr std::array<Section, 6> kSections = {Section::kIc, Section::kH,   Section::kL,
                                                     Section::kA,  Section::kBG1, Section::kBG2};

constexpr const char* to_string(Section section) {
  switch (section) {
    case Section::kIc: return "ic";
    case Section::kH: return "h";
    case Section::kL: return "l";
    case Section::kA: return "a";
    case Section::kBG1: return "b_g1";
    case Section::kBG2: return "b_g2";
  }
  return "unknown";
}

constexpr uint64_t point_bytes(Section section) { return section == Section::kBG2 ? kG2Bytes : kG1Bytes; }

// Number of points in each vector; what a circuit determines before any parameter exists.
struct SrsShape {
  uint64_t ic = 0, h = 0, l = 0, a = 0, b_g1 = 0, b_g2 = 0;

  constexpr uint64_t count(Section section) const {
    switch (section) {
      case Section::kIc: return ic;
      case Section::kH: return h;
      case Section::kL: return l;
      case Section::kA: return a;
      case Section::kBG1: return b_g1;
      case Section::kBG2: return b_g2;
    }
    return 0;
  }
  constexpr uint64_t& count(Section section) {
    switch (section) {
      case Section::kIc: return ic;
      case Section::kH: return h;
      case Section::kL: return l;
      case Section::kA: return a;
      case Section::kBG1: return b_g1;
      case Section::kBG2: break;
    }
    return b_g2;
  }
  friend constexpr bool operator==(const SrsShape&, const SrsShape&) = default;
};

// Bytes of a .vk file with `ic` inputs (ONE included). Exact for ic < 2^32, where no sum can overflow.
constexpr uint64_t vk_file_bytes(uint64_t ic) { return kVkPointBytes + kCountBytes + kG1Bytes * ic; }

// Offset of the points of a section (its count stands kCountBytes before), for counts < 2^32.
constexpr uint64_t section_offset(const SrsShape& shape, Section section) {
  uint64_t offset = kVkPointBytes + kCountBytes;
  for (const Section s : kSections) {
    if (s == section) break;
    offset += point_bytes(s) * shape.count(s) + kCountBytes;
  }
  return offset;
}

// Bytes of a .params file of that shape, for counts < 2^32.
constexpr uint64_t params_file_bytes(const SrsShape& shape) {
  return section_offset(shape, Section::kBG2) + kG2Bytes * shape.b_g2;
}

}  // namespace cuzk
