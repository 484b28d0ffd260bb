// Points in the uncompressed byte form, converted on a CUDA device. Plain C++; in builds with CUZK_CUDA only.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "curve/encoding.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "gpu/stream.hpp"

namespace cuzk {

// Where points go: into one of two arrays. A place is an index, with the high bit set that of `second`.
template <class Curve>
struct PointTargets {
  static constexpr uint32_t kSecond = uint32_t{1} << 31;
  std::span<Affine<Curve>> first, second;
};

// What *first_bad is set to before a section; the lowest index of a bad point is left there.
inline constexpr unsigned long long kNoBadPoint = ~0ULL;

// Puts point i of `bytes` (uncompressed, big-endian: curve/encoding.hpp) in Montgomery form at places[i], or at i of
// targets.first where `places` is empty; without targets.first, nowhere. A point that is at infinity, off the curve,
// with kSubgroup outside the subgroup, or no point at all is not stored; base + i is then offered to *first_bad. All of
// it is device memory, `bytes` aligned to 8; places lie within their array. Asynchronous; the disk and the bus are far
// slower, but for kSubgroup.
template <class Curve>
Status decode_points(std::span<const uint8_t> bytes, std::span<const uint32_t> places,
                     const PointTargets<Curve>& targets, PointCheck check, uint64_t base, unsigned long long* first_bad,
                     const gpu::Stream& stream);

extern template Status decode_points<G1Curve>(std::span<const uint8_t>, std::span<const uint32_t>,
                                              const PointTargets<G1Curve>&, PointCheck, uint64_t, unsigned long long*,
                                              const gpu::Stream&);
extern template Status decode_points<G2Curve>(std::span<const uint8_t>, std::span<const uint32_t>,
                                              const PointTargets<G2Curve>&, PointCheck, uint64_t, unsigned long long*,
                                              const gpu::Stream&);

}  // namespace cuzk
