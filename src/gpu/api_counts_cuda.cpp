#include <cuda_runtime_api.h>

#include <atomic>

#include "gpu/api_counts.hpp"

namespace {
std::atomic<uint64_t> allocations, frees, device_syncs;
}  // namespace

// The linker's names for the real call and for what takes its place.
#define CUZK_COUNTED(name, counter, parameters, arguments) \
  extern "C" cudaError_t __real_##name parameters;         \
  extern "C" cudaError_t __wrap_##name parameters {        \
    counter.fetch_add(1, std::memory_order_relaxed);       \
    return __real_##name arguments;                        \
  }

CUZK_COUNTED(cudaMalloc, allocations, (void** out, size_t bytes), (out, bytes))
CUZK_COUNTED(cudaMallocAsync, allocations, (void** out, size_t bytes, cudaStream_t stream), (out, bytes, stream))
CUZK_COUNTED(cudaMallocManaged, allocations, (void** out, size_t bytes, unsigned flags), (out, bytes, flags))
CUZK_COUNTED(cudaMallocHost, allocations, (void** out, size_t bytes), (out, bytes))
CUZK_COUNTED(cudaHostAlloc, allocations, (void** out, size_t bytes, unsigned flags), (out, bytes, flags))
CUZK_COUNTED(cudaHostRegister, allocations, (void* data, size_t bytes, unsigned flags), (data, bytes, flags))
CUZK_COUNTED(cudaFree, frees, (void* data), (data))
CUZK_COUNTED(cudaFreeAsync, frees, (void* data, cudaStream_t stream), (data, stream))
CUZK_COUNTED(cudaFreeHost, frees, (void* data), (data))
CUZK_COUNTED(cudaDeviceSynchronize, device_syncs, (), ())

namespace cuzk::gpu {

ApiCounts api_counts() { return {allocations.load(), frees.load(), device_syncs.load()}; }

}  // namespace cuzk::gpu
