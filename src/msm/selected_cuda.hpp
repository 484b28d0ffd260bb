// The sum of the bases whose bit is set, on a CUDA device: sum_selected() of msm.hpp. Plain C++; in builds with
// CUZK_CUDA only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "gpu/stream.hpp"

namespace cuzk {

// Points that the device leaves for selected_finish(), for any number of bases.
template <class Curve>
size_t selected_sums(unsigned multiprocessors);

// Puts the sum of bases[i] over the bits i that are set on `stream`; all spans are device memory. `bits` has
// (bases.size() + 31) / 32 words, bits beyond bases.size() are zero; `sums` has selected_sums() points. One addition
// (8 multiplications and 2 squarings) a set bit, spread evenly whatever the bits are within each 4,096 bases.
template <class Curve>
Status selected_enqueue(std::span<const Affine<Curve>> bases, std::span<const uint32_t> bits,
                        std::span<Xyzz<Curve>> sums, const gpu::Stream& stream);

// The result from the sums, on the host.
template <class Curve>
Jacobian<Curve> selected_finish(std::span<const Xyzz<Curve>> sums) {
  Xyzz<Curve> out = Xyzz<Curve>::infinity();
  for (const Xyzz<Curve>& sum : sums) out.add(sum);
  return out.to_jacobian();
}

extern template size_t selected_sums<G1Curve>(unsigned);
extern template size_t selected_sums<G2Curve>(unsigned);
extern template Status selected_enqueue<G1Curve>(std::span<const G1Affine>, std::span<const uint32_t>,
                                                 std::span<G1Xyzz>, const gpu::Stream&);
extern template Status selected_enqueue<G2Curve>(std::span<const G2Affine>, std::span<const uint32_t>,
                                                 std::span<G2Xyzz>, const gpu::Stream&);

}  // namespace cuzk
