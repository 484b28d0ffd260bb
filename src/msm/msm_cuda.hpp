// The CUDA form of msm/: sums of multiples of points in device memory, put on a stream. Exact for any input, as msm()
// is. Plain C++; in builds with CUZK_CUDA only.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/fr.hpp"
#include "gpu/stream.hpp"
#include "msm/msm_plan.hpp"

namespace cuzk {

// Puts sum_i scalars[i] * bases[i] on `stream`. All spans are device memory: `bases` has plan.table_points() points
// (plan.bases() where there is no table), `scalars` plan.bases(), in Montgomery form; `sums` receives plan.sums()
// points, which the host passes to msm_finish once the stream has reached them; `scratch` has plan.scratch_bytes(),
// aligned to 256, and holds nothing afterwards. Allocates nothing, waits for nothing. Balanced whatever the scalars
// are. Errors: kUsage where a size is wrong; those of CUDA.
template <class Curve>
Status msm_enqueue(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const Fr> scalars,
                   std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, const gpu::Stream& stream);

// Fills the multiples j = 1, 2, ... of a table whose first plan.bases() points are the bases:
// table[j*bases + i] = 2^(j*table_shift) * table[i]. `table` is device memory, plan.table_points() points. About
// 9*table_shift + 50 multiplications a point.
template <class Curve>
Status msm_make_table(const MsmPlan& plan, std::span<Affine<Curve>> table, const gpu::Stream& stream);

extern template Status msm_enqueue<G1Curve>(const MsmPlan&, std::span<const G1Affine>, std::span<const Fr>,
                                            std::span<G1Xyzz>, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_enqueue<G2Curve>(const MsmPlan&, std::span<const G2Affine>, std::span<const Fr>,
                                            std::span<G2Xyzz>, std::span<std::byte>, const gpu::Stream&);
extern template Status msm_make_table<G1Curve>(const MsmPlan&, std::span<G1Affine>, const gpu::Stream&);
extern template Status msm_make_table<G2Curve>(const MsmPlan&, std::span<G2Affine>, const gpu::Stream&);

namespace msm_detail {

// The digits of a task as pairs (key, reference), sorted by key, in *keys and *refs, which are one of the two arrays of
// the scratch memory each; *count (device memory) receives the number of those that are not zero. Shared by both
// groups.
Status sorted_digits(const MsmPlan& plan, const MsmTask& task, const Fr* scalars, std::byte* scratch, uint32_t** keys,
                     uint32_t** refs, const gpu::Stream& stream);

}  // namespace msm_detail

}  // namespace cuzk
