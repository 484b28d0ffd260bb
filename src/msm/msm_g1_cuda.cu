#include "msm/msm_launch.cuh"

namespace cuzk {

template Status msm_enqueue<G1Curve>(const MsmPlan&, std::span<const G1Affine>, std::span<const Fr>, std::span<G1Xyzz>,
                                     std::span<std::byte>, const gpu::Stream&);
template Status msm_clear<G1Curve>(const MsmPlan&, std::span<std::byte>, const gpu::Stream&);
template Status msm_add<G1Curve>(const MsmPlan&, std::span<const G1Affine>, std::span<const Fr>, std::span<std::byte>,
                                 const gpu::Stream&);
template Status msm_reduce<G1Curve>(const MsmPlan&, std::span<G1Xyzz>, std::span<std::byte>, const gpu::Stream&);
template Status msm_enqueue_streamed<G1Curve>(const MsmPlan&, std::span<const G1Affine>, std::span<const Fr>,
                                              std::span<G1Xyzz>, std::span<std::byte>, MsmStaging<G1Curve>&,
                                              const gpu::Stream&);
template Status selection_enqueue<G1Curve>(const MsmPlan&, std::span<const G1Affine>, std::span<const uint64_t>,
                                           std::span<G1Xyzz>, std::span<std::byte>, const gpu::Stream&);
template Status msm_make_table<G1Curve>(const MsmPlan&, std::span<G1Affine>, const gpu::Stream&);

}  // namespace cuzk
