#include "base/assert.hpp"
#include "gpu/cuda_check.cuh"
#include "matrix/matrix_tuning.hpp"
#include "matrix/packed_access.cuh"
#include "matrix/select_cuda.hpp"

namespace cuzk {
namespace {

constexpr unsigned kThreads = matrix_tuning::kCopyThreads;

__global__ void gather_values_kernel(const Fr* values, const uint32_t* index, uint32_t count, Fr* out) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) matrix_cuda::store(out + i, matrix_cuda::load_constant(values + index[i]));
}

__global__ void gather_bits_kernel(const uint32_t* bits, const uint32_t* index, uint32_t count, uint32_t* out) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const bool bit = i < count && matrix_cuda::bit_at(bits, index[i]);
  const uint32_t word = __ballot_sync(0xffffffff, bit);
  if (threadIdx.x % 32 == 0 && i < count) out[i / 32] = word;
}

unsigned blocks_for(size_t threads) { return static_cast<unsigned>((threads + kThreads - 1) / kThreads); }

}  // namespace

Status gather_values(std::span<const Fr> values, std::span<const uint32_t> index, std::span<Fr> out,
                     const gpu::Stream& stream) {
  CUZK_ASSERT(out.size() == index.size() && index.size() <= UINT32_MAX);
  if (index.empty()) return {};
  gather_values_kernel<<<blocks_for(index.size()), kThreads, 0, stream.handle()>>>(
      values.data(), index.data(), static_cast<uint32_t>(index.size()), out.data());
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

Status gather_bits(std::span<const uint64_t> bits, std::span<const uint32_t> index, std::span<uint32_t> out,
                   const gpu::Stream& stream) {
  CUZK_ASSERT(out.size() == (index.size() + 31) / 32 && index.size() <= UINT32_MAX);
  if (index.empty()) return {};
  gather_bits_kernel<<<blocks_for(index.size()), kThreads, 0, stream.handle()>>>(
      reinterpret_cast<const uint32_t*>(bits.data()), index.data(), static_cast<uint32_t>(index.size()), out.data());
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

}  // namespace cuzk
