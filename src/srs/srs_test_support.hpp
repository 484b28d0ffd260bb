// Small parameters for tests: multiples of the generators, every one different.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "curve/encoding.hpp"
#include "srs/srs.hpp"

namespace cuzk::test {

template <class Curve>
std::vector<Affine<Curve>> multiples(size_t count, uint64_t first) {
  std::vector<Jacobian<Curve>> points(count);
  Jacobian<Curve> point = Jacobian<Curve>::from_affine(Curve::generator()).mul(Fr::from_u64(first));
  for (auto& p : points) {
    p = point;
    point += Curve::generator();
  }
  std::vector<Affine<Curve>> out(count);
  batch_to_affine<Curve>(points, out);
  return out;
}

inline Srs make_srs(const SrsShape& shape) {
  Srs srs;
  const auto g1 = multiples<G1Curve>(3, 1);
  const auto g2 = multiples<G2Curve>(3, 1);
  srs.vk = VerifyingKey{g1[0], g1[1], g2[0], g2[1], g1[2], g2[2], multiples<G1Curve>(shape.ic, 10)};
  srs.h = multiples<G1Curve>(shape.h, 1000);
  srs.l = multiples<G1Curve>(shape.l, 2000);
  srs.a = multiples<G1Curve>(shape.a, 3000);
  srs.b_g1 = multiples<G1Curve>(shape.b_g1, 4000);
  srs.b_g2 = multiples<G2Curve>(shape.b_g2, 5000);
  return srs;
}

// The uncompressed form of a point of the curve that is not of order r: that of the lowest x, whose order nearly always
// has a factor of the cofactor too.
template <class Curve>
std::vector<uint8_t> point_outside_subgroup() {
  std::vector<uint8_t> compressed(encode_uncompressed(Curve::generator()).size() / 2);
  compressed.front() = 0x80;
  for (uint8_t x = 1;; ++x) {
    compressed.back() = x;
    Affine<Curve> point;
    if (read_compressed(compressed, PointCheck::kOnCurve, point) != PointError::kNone) continue;
    if (read_compressed(compressed, PointCheck::kSubgroup, point) == PointError::kNone) continue;
    const auto bytes = encode_uncompressed(point);
    return {bytes.begin(), bytes.end()};
  }
}

inline bool equal(const Srs& x, const Srs& y) {
  return x.vk == y.vk && x.h == y.h && x.l == y.l && x.a == y.a && x.b_g1 == y.b_g1 && x.b_g2 == y.b_g2;
}

inline std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// A directory that is removed at the end of the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cuzk-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  size_t entries() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {})); }

 private:
  std::string path_;
};

}  // namespace cuzk::test
