// Reads the vector files of tests/golden for the tests of curve and pairing: one case a line, fields apart by spaces,
// lines that begin with '#' are comments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/hex.hpp"
#include "curve/encoding.hpp"

namespace cuzk::testing_support {

// The fields of every line whose first fields are `keys`, without these. Throws where the file has no such line, so
// that a test with a missing file fails.
inline std::vector<std::vector<std::string>> golden_lines(const std::string& path,
                                                          const std::vector<std::string>& keys) {
  std::ifstream in(path);
  std::vector<std::vector<std::string>> out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::vector<std::string> fields;
    for (std::string word; words >> word;) fields.push_back(word);
    if (fields.size() < keys.size() || !std::equal(keys.begin(), keys.end(), fields.begin())) continue;
    fields.erase(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(keys.size()));
    out.push_back(std::move(fields));
  }
  if (out.empty()) throw std::runtime_error("no lines of this kind in " + path);
  return out;
}

inline std::vector<uint8_t> bytes_of(const std::string& hex) {
  auto bytes = from_hex(hex);
  if (!bytes) throw std::runtime_error("not hexadecimal: " + hex);
  return *bytes;
}

// A big-endian number as 64-bit limbs, least significant first.
inline std::vector<uint64_t> limbs_of(const std::string& hex) {
  const auto bytes = bytes_of(hex);
  std::vector<uint64_t> out((bytes.size() + 7) / 8);
  for (size_t i = 0; i < bytes.size(); ++i) out[i / 8] |= uint64_t{bytes[bytes.size() - 1 - i]} << (8 * (i % 8));
  return out;
}

inline Fr fr_of(const std::string& hex) {
  const auto value = Fr::from_bytes_be(bytes_of(hex));
  if (!value) throw std::runtime_error("not below r: " + hex);
  return *value;
}
inline Fp fp_of(const std::string& hex) {
  const auto value = Fp::from_bytes_be(bytes_of(hex));
  if (!value) throw std::runtime_error("not below p: " + hex);
  return *value;
}

template <class Curve>
Affine<Curve> point_of(std::span<const uint8_t> bytes) {
  Affine<Curve> p;
  const PointError error = read_uncompressed(bytes, PointCheck::kOnCurve, p);
  if (error != PointError::kNone) throw std::runtime_error(to_error(error, Curve::kName).describe());
  return p;
}
template <class Curve>
Affine<Curve> point_of(const std::string& hex) {
  return point_of<Curve>(bytes_of(hex));
}

}  // namespace cuzk::testing_support
