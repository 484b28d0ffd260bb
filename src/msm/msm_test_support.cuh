// Shared by the check and the bench of the CUDA form: device memory, bases with known logarithms made on the device,
// and scalars that host and device compute alike. For programs: failures end them with status 2.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "gpu/device.hpp"
#include "msm/msm.hpp"
#include "msm/msm_cuda.hpp"
#include "parallel/parallel.hpp"

namespace cuzk::msm_cuda_support {

inline void require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.error().describe().c_str());
  std::exit(2);
}
template <class T>
T require(Result<T> result) {
  if (!result.ok()) require(Status(result.error()));
  return std::move(result).value();
}
inline void require(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(2);
}

// Device memory of its own, so that compute-sanitizer sees its ends.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) : size_(size) {
    if (size > 0) require(cudaMalloc(&data_, size * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    if (size_ > 0) require(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { require(cudaFree(data_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data() const { return data_; }
  std::span<T> span() const { return {data_, size_}; }
  std::span<T> first(size_t n) const { return {data_, n}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// The n-th output of the generator splitmix64.
CUZK_HD constexpr uint64_t mix(uint64_t n) {
  uint64_t z = (n + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

enum class Scalars : int { kUniform, kZeros, kBits, kBytes, k64Bit, kEqual, kHalfEqual, kMinusOnes };
inline constexpr Scalars kAllScalars[] = {Scalars::kUniform, Scalars::kZeros, Scalars::kBits,      Scalars::kBytes,
                                          Scalars::k64Bit,   Scalars::kEqual, Scalars::kHalfEqual, Scalars::kMinusOnes};
inline const char* name(Scalars s) {
  constexpr const char* kNames[] = {"uniform", "zeros", "bits", "bytes", "64 bit", "equal", "half equal", "minus ones"};
  return kNames[static_cast<int>(s)];
}

CUZK_HD constexpr Fr uniform_scalar(uint64_t i) {
  constexpr Fr::Limbs kModulus = FrParams::kModulus;
  Fr::Limbs limbs{mix(4 * i), mix(4 * i + 1), mix(4 * i + 2), mix(4 * i + 3) >> 1};
  return Fr::from_montgomery(limbs::reduce_once<4>(limbs, 0, kModulus));  // below 2^255 < 2r
}
CUZK_HD constexpr Fr scalar_at(uint64_t i, Scalars kind) {
  switch (kind) {
    case Scalars::kUniform: return uniform_scalar(i);
    case Scalars::kZeros: return Fr::zero();
    case Scalars::kBits: return Fr::from_u64(mix(i) & 1);
    case Scalars::kBytes: return Fr::from_u64(mix(i) & 255);
    case Scalars::k64Bit: return Fr::from_u64(mix(i));
    case Scalars::kEqual: return uniform_scalar(12345);
    case Scalars::kHalfEqual: return mix(i) & 1 ? uniform_scalar(12345) : uniform_scalar(i);
    case Scalars::kMinusOnes: return -Fr::one();
  }
  return Fr::zero();
}
// The logarithm of base i.
CUZK_HD constexpr uint64_t log_at(uint64_t i) { return mix(~i); }

template <class Curve>
__global__ void __launch_bounds__(128) bases_kernel(Affine<Curve> generator, Affine<Curve>* out, uint64_t count) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= count) return;
  const uint64_t log = log_at(i);
  Xyzz<Curve> p = Xyzz<Curve>::infinity();
#pragma unroll 1
  for (int bit = 63; bit >= 0; --bit) {
    p = p.dbl();
    if (log >> bit & 1) p.add(generator);
  }
  out[i] = p.to_affine();
}
static __global__ void scalars_kernel(Fr* out, uint64_t count, Scalars kind) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (i < count) out[i] = scalar_at(i, kind);
}

template <class Curve>
void make_bases(std::span<Affine<Curve>> out, const gpu::Stream& stream) {
  if (out.empty()) return;
  bases_kernel<Curve><<<static_cast<unsigned>((out.size() + 127) / 128), 128, 0, stream.handle()>>>(
      Curve::generator(), out.data(), out.size());
  require(cudaGetLastError());
}
inline void make_scalars(std::span<Fr> out, Scalars kind, const gpu::Stream& stream) {
  if (out.empty()) return;
  scalars_kernel<<<static_cast<unsigned>((out.size() + 255) / 256), 256, 0, stream.handle()>>>(out.data(), out.size(),
                                                                                               kind);
  require(cudaGetLastError());
}

// What the sum over those bases and scalars is, from the scalar field alone.
template <class Curve>
Jacobian<Curve> expected_sum(size_t count, Scalars kind) {
  Fr total;
  std::mutex mutex;
  parallel_for(count, size_t{1} << 14, [&](size_t begin, size_t end) {
    Fr part;
    for (size_t i = begin; i < end; ++i) part += scalar_at(i, kind) * Fr::from_u64(log_at(i));
    const std::lock_guard lock(mutex);
    total += part;
  });
  return Jacobian<Curve>::from_affine(Curve::generator()).mul(total);
}

// Puts the sum on the stream, waits for it and finishes it.
template <class Curve>
Jacobian<Curve> run_msm(const MsmPlan& plan, std::span<const Affine<Curve>> bases, std::span<const Fr> scalars,
                        std::span<Xyzz<Curve>> sums, std::span<std::byte> scratch, const gpu::Stream& stream) {
  require(msm_enqueue<Curve>(plan, bases, scalars, sums, scratch, stream));
  std::vector<Xyzz<Curve>> host(sums.size());
  require(gpu::copy_to_host<Xyzz<Curve>>(std::span(host), sums, stream));
  require(stream.synchronize());
  return msm_finish<Curve>(plan, host);
}

}  // namespace cuzk::msm_cuda_support
