#include <vector>

#include "base/assert.hpp"
#include "gpu/cuda_check.cuh"
#include "msm/fixed_base_cuda.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

constexpr unsigned kThreads = 128;
// Points that a thread brings to affine coordinates with one inversion.
constexpr unsigned kShared = 32;

// One thread a scalar; the digits of neighbouring threads differ, so table reads are scattered over a row.
template <class Curve>
__global__ void __launch_bounds__(kThreads)
    multiply_kernel(const Affine<Curve>* table, const Fr* scalars, uint32_t count, Xyzz<Curve>* out) {
  using Base = DeviceFixedBase<Curve>;
  constexpr unsigned kBits = Base::kWindowBits;
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  Fr::Limbs plain = scalars[i].to_plain();
  Xyzz<Curve> sum = Xyzz<Curve>::infinity();
#pragma unroll 1
  for (unsigned w = 0; w < Base::kWindows; ++w) {
    const uint32_t digit = static_cast<uint32_t>(plain[0]) & Base::kRow;
    for (unsigned k = 0; k < 3; ++k) plain[k] = plain[k] >> kBits | plain[k + 1] << (64 - kBits);
    plain[3] >>= kBits;
    if (digit == 0) continue;
    const Affine<Curve> multiple = table[w * Base::kRow + digit - 1];
    sum.add(multiple);
  }
  out[i] = sum;
}

// Montgomery's trick over points a stride apart; out[i].x holds the product of the earlier zzz in between.
template <class Curve>
__global__ void __launch_bounds__(kThreads)
    to_affine_kernel(const Xyzz<Curve>* points, uint32_t count, uint32_t stride, Affine<Curve>* out) {
  using Field = typename Curve::Field;
  const uint32_t first = blockIdx.x * kThreads + threadIdx.x;
  if (first >= stride) return;
  Field product = Field::one();
  uint32_t end = first;
  for (; end < count; end += stride) {
    out[end].x = product;
    if (!points[end].is_infinity()) product *= points[end].zzz;
  }
  Field inverse = product.inverse();
  for (uint32_t i = end; i > first;) {
    i -= stride;
    const Xyzz<Curve> p = points[i];
    if (p.is_infinity()) {
      out[i] = Affine<Curve>::infinity();
      continue;
    }
    const Field zi3 = inverse * out[i].x;
    inverse *= p.zzz;
    const Field zi = zi3 * p.zz;
    out[i] = Affine<Curve>{p.x * zi.square(), p.y * zi3};
  }
}

template <class Curve>
std::vector<Affine<Curve>> make_table(const Affine<Curve>& base) {
  using Base = DeviceFixedBase<Curve>;
  std::vector<Jacobian<Curve>> powers;
  Jacobian<Curve> power = Jacobian<Curve>::from_affine(base);
  for (unsigned w = 0; w < Base::kWindows; ++w) {
    powers.push_back(power);
    for (unsigned i = 0; i < Base::kWindowBits; ++i) power = power.dbl();
  }
  std::vector<Affine<Curve>> table(Base::kWindows * Base::kRow);
  parallel_for(Base::kWindows, 1, [&](size_t begin, size_t end) {
    for (size_t w = begin; w < end; ++w) {
      std::vector<Jacobian<Curve>> row(Base::kRow);
      row[0] = powers[w];
      for (size_t d = 1; d < row.size(); ++d) row[d] = row[d - 1] + powers[w];
      batch_to_affine<Curve>(std::span<const Jacobian<Curve>>(row),
                             std::span(table).subspan(w * Base::kRow, row.size()));
    }
  });
  return table;
}

unsigned blocks_for(size_t threads) { return static_cast<unsigned>((threads + kThreads - 1) / kThreads); }

}  // namespace

template <class Curve>
Result<DeviceFixedBase<Curve>> DeviceFixedBase<Curve>::create(const Affine<Curve>& base, gpu::Reservation& memory,
                                                              const gpu::Stream& stream) {
  DeviceFixedBase out;
  const std::vector<Affine<Curve>> table = make_table<Curve>(base);
  CUZK_ASSIGN(out.table_, memory.allocate<Affine<Curve>>(table.size(), stream));
  CUZK_TRY(gpu::copy_to_device<Affine<Curve>>(out.table_.span(), table, stream));
  CUZK_TRY(stream.synchronize());
  return Result<DeviceFixedBase>(std::move(out));
}

template <class Curve>
Status DeviceFixedBase<Curve>::multiply(std::span<const Fr> scalars, std::span<Affine<Curve>> out,
                                        std::span<Xyzz<Curve>> scratch, const gpu::Stream& stream) const {
  const size_t count = scalars.size();
  CUZK_ASSERT(out.size() == count && scratch.size() >= count && count < (size_t{1} << 31));
  if (count == 0) return {};
  multiply_kernel<Curve><<<blocks_for(count), kThreads, 0, stream.handle()>>>(
      table_.data(), scalars.data(), static_cast<uint32_t>(count), scratch.data());
  CUZK_CUDA_TRY(cudaGetLastError());
  const auto stride = static_cast<uint32_t>((count + kShared - 1) / kShared);
  to_affine_kernel<Curve><<<blocks_for(stride), kThreads, 0, stream.handle()>>>(
      scratch.data(), static_cast<uint32_t>(count), stride, out.data());
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

template class DeviceFixedBase<G1Curve>;
template class DeviceFixedBase<G2Curve>;

}  // namespace cuzk
