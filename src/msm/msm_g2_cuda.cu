#include "msm/msm_launch.cuh"

namespace cuzk {

template Status msm_enqueue<G2Curve>(const MsmPlan&, std::span<const G2Affine>, std::span<const Fr>, std::span<G2Xyzz>,
                                     std::span<std::byte>, const gpu::Stream&);
template Status msm_clear<G2Curve>(const MsmPlan&, std::span<std::byte>, const gpu::Stream&);
template Status msm_add<G2Curve>(const MsmPlan&, std::span<const G2Affine>, std::span<const Fr>, std::span<std::byte>,
                                 const gpu::Stream&);
template Status msm_reduce<G2Curve>(const MsmPlan&, std::span<G2Xyzz>, std::span<std::byte>, const gpu::Stream&);
template Status msm_enqueue_streamed<G2Curve>(const MsmPlan&, std::span<const G2Affine>, std::span<const Fr>,
                                              std::span<G2Xyzz>, std::span<std::byte>, MsmStaging<G2Curve>&,
                                              const gpu::Stream&);
template Status selection_enqueue<G2Curve>(const MsmPlan&, std::span<const G2Affine>, std::span<const uint64_t>,
                                           std::span<G2Xyzz>, std::span<std::byte>, const gpu::Stream&);
template Status msm_make_table<G2Curve>(const MsmPlan&, std::span<G2Affine>, const gpu::Stream&);

}  // namespace cuzk
