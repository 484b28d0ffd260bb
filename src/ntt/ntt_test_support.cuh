// Shared by the programs that check and time transforms on a device, ours and those beside a peer's.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "field/fr.hpp"

namespace cuzk::ntt_cuda_support {

__device__ inline size_t thread_number() { return blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; }

// Elements that look random, a function of the seed and of the place (Steele, Lea, Flood, "Fast splittable pseudorandom
// number generators", 2014).
static __global__ void random_kernel(uint64_t seed, Fr* out, size_t count) {
  const size_t i = thread_number();
  if (i >= count) return;
  Fr::Limbs limbs;
  uint64_t x = seed + i * 0x9e3779b97f4a7c15;
  for (auto& limb : limbs) {
    x += 0x9e3779b97f4a7c15;
    uint64_t z = x;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    limb = z ^ z >> 31;
  }
  limbs[3] >>= 2;  // below the modulus
  out[i] = Fr::from_montgomery(limbs);
}

}  // namespace cuzk::ntt_cuda_support
