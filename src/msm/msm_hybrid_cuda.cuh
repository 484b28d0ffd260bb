// What msm_launch.cuh calls of msm_hybrid_cuda.cu, which is compiled apart (msm/CMakeLists.txt says why).
#pragma once

#include <cstddef>
#include <span>

#include "base/result.hpp"
#include "curve/g1.hpp"
#include "msm/msm_kernels.cuh"
#include "msm/msm_plan.hpp"

namespace cuzk::msm_detail {

// A prepared copy of `bases` in the scratch memory.
Status prepare_copy(const MsmPlan& plan, std::span<const G1Affine> bases, std::byte* scratch, cudaStream_t stream);

// A task's rounds of affine additions and its walk, as add_task has them for the other multiplier. `a` is complete but
// for what is of prepared bases.
Status hybrid_rounds_and_walk(const MsmPlan& plan, AccumulateArgs<G1Curve> a, std::byte* scratch, cudaStream_t stream);

}  // namespace cuzk::msm_detail
