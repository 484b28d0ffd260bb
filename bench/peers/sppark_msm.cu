// sppark's sums of multiples of points, by its own headers.
#include <cuda.h>

#include <ff/bls12-381-fp2.hpp>
// Its field first.
#include <ec/jacobian_t.hpp>
#include <ec/xyzz_t.hpp>

using scalar_t = fr_t;
#define SPPARK_DONT_INSTANTIATE_TEMPLATES
#include <cstring>
#include <msm/pippenger.cuh>

#include "peers/sppark.hpp"

namespace cuzk::peers {
namespace {

template <class Field>
class Msm final : public SpparkMsm {
  using Bucket = xyzz_t<Field>;
  using Point = jacobian_t<Field>;
  using AffinePoint = typename Bucket::affine_t;
  using Sum = msm_t<Bucket, Point, AffinePoint, scalar_t>;

 public:
  // It takes the size's logarithm, rounded to the nearer, less 8.
  explicit Msm(unsigned window_bits) : sum_(std::make_unique<Sum>(nullptr, size_t{1} << (window_bits + 8))) {}

  bool run(const void* bases, const void* scalars, size_t count, void* jacobian) const override {
    Point out;
    const dev_ptr_t<AffinePoint> points(static_cast<AffinePoint*>(const_cast<void*>(bases)), count);
    const dev_ptr_t<scalar_t> factors(static_cast<scalar_t*>(const_cast<void*>(scalars)), count);
    const RustError error = sum_->invoke(out, points, count, factors, true);
    std::memcpy(jacobian, static_cast<const void*>(&out), sizeof out);
    return error.code == 0;
  }

 private:
  std::unique_ptr<Sum> sum_;
};

}  // namespace

std::unique_ptr<SpparkMsm> SpparkMsm::make_g1(unsigned window_bits) { return std::make_unique<Msm<fp_t>>(window_bits); }
std::unique_ptr<SpparkMsm> SpparkMsm::make_g2(unsigned window_bits) {
  return std::make_unique<Msm<fp2_t>>(window_bits);
}

bool keep_sppark_memory() {
  cudaMemPool_t pool = nullptr;
  uint64_t all = UINT64_MAX;
  return cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess &&
         cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all) == cudaSuccess;
}

}  // namespace cuzk::peers
