// Many multiples of one point on a CUDA device, for parameter generation. Plain C++; in builds with CUZK_CUDA only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/fr.hpp"
#include "gpu/memory.hpp"
#include "gpu/stream.hpp"

namespace cuzk {

template <class Curve>
class DeviceFixedBase {
 public:
  // Unsigned digits: 20 additions a scalar from a table of 15 MiB in G1 that a large L2 cache holds.
  static constexpr unsigned kWindowBits = 13;
  static constexpr unsigned kWindows = (255 + kWindowBits - 1) / kWindowBits;
  static constexpr size_t kRow = (size_t{1} << kWindowBits) - 1;  // multiples 1 .. 2^kWindowBits - 1
  static constexpr uint64_t table_bytes() { return gpu::Reservation::bytes_for<Affine<Curve>>(kWindows * kRow); }

  // The table is made on the host, in parallel: a tenth of a second on many cores. Waits for its copy.
  static Result<DeviceFixedBase> create(const Affine<Curve>& base, gpu::Reservation& memory, const gpu::Stream& stream);

  // out[i] = scalars[i] * base. Device memory; scalars in Montgomery form; `scratch` has as many points. Asynchronous.
  // 200 multiplications a point for the sum and about 10 for affine coordinates.
  Status multiply(std::span<const Fr> scalars, std::span<Affine<Curve>> out, std::span<Xyzz<Curve>> scratch,
                  const gpu::Stream& stream) const;

 private:
  gpu::DeviceBuffer<Affine<Curve>> table_;
};

extern template class DeviceFixedBase<G1Curve>;
extern template class DeviceFixedBase<G2Curve>;

}  // namespace cuzk
