// Reading and writing packed values in device code.
#pragma once

#include <cstdint>

#include "field/fr.hpp"

namespace cuzk::matrix_cuda {

// 16 bytes an access; the array must not be written in the same launch.
__device__ __forceinline__ Fr load_constant(const Fr* from) {
  const uint4 low = __ldg(reinterpret_cast<const uint4*>(from)), high = __ldg(reinterpret_cast<const uint4*>(from) + 1);
  return Fr::from_montgomery({low.x | static_cast<uint64_t>(low.y) << 32, low.z | static_cast<uint64_t>(low.w) << 32,
                              high.x | static_cast<uint64_t>(high.y) << 32,
                              high.z | static_cast<uint64_t>(high.w) << 32});
}
__device__ __forceinline__ void store(Fr* to, const Fr& value) {
  const auto& l = value.montgomery();
  const auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  const auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  reinterpret_cast<uint4*>(to)[0] = make_uint4(low(l[0]), high(l[0]), low(l[1]), high(l[1]));
  reinterpret_cast<uint4*>(to)[1] = make_uint4(low(l[2]), high(l[2]), low(l[3]), high(l[3]));
}
__device__ __forceinline__ bool bit_at(const uint32_t* bits, uint32_t i) { return __ldg(bits + i / 32) >> i % 32 & 1; }

}  // namespace cuzk::matrix_cuda
