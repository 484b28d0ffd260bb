// How often this process called what must not be called after start-up. The linker passes every such call of every
// object through counters (--wrap, CMakeLists.txt), so the counts cannot be forgotten by a caller.
#pragma once

#include <cstdint>

namespace cuzk::gpu {

struct ApiCounts {
  uint64_t allocations;   // cudaMalloc and its kin, pinned and registered host memory included
  uint64_t frees;         // cudaFree and its kin
  uint64_t device_syncs;  // cudaDeviceSynchronize
  friend bool operator==(const ApiCounts&, const ApiCounts&) = default;
};

ApiCounts api_counts();

}  // namespace cuzk::gpu
