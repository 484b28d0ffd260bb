// Poseidon on a device: the lanes of a group hold one state element each. Device code only.
//
// One thread a hash needs a state of up to 12 elements twice, 192 registers, and takes 2,000 dependent multiplications;
// a group takes about 380. Its lanes idle in the partial rounds' S-boxes, so that all of a large GPU's threads busy it
// makes a third of the throughput; but witnesses with few hashes (66 chains of a Winning PoSt) wait for latency.
#pragma once

#include <cstdint>

#include "field/fr.hpp"

namespace cuzk::poseidon_cuda {

// The arrays of PoseidonConstants (poseidon_constants.hpp) in device memory.
struct Constants {
  const Fr* compressed;
  const Fr* mds;
  const Fr* pre_sparse;
  const Fr* sparse;
  uint32_t partial_rounds;
};

// Lanes of a group of width t: the power of two that holds it.
constexpr unsigned group_lanes(unsigned width) {
  unsigned lanes = 1;
  while (lanes < width) lanes *= 2;
  return lanes;
}

union FrWords {
  uint32_t words[8];
  uint64_t limbs[4];
};

__device__ __forceinline__ Fr from_words(const FrWords& in) {
  return Fr::from_montgomery({in.limbs[0], in.limbs[1], in.limbs[2], in.limbs[3]});
}
__device__ __forceinline__ FrWords to_words(const Fr& in) {
  FrWords out;
  for (int i = 0; i < 4; ++i) out.limbs[i] = in.montgomery()[i];
  return out;
}

// The element of lane `source` of each group. All lanes of the warp take part.
template <unsigned kLanes>
__device__ __forceinline__ Fr broadcast(const Fr& x, unsigned source) {
  FrWords w = to_words(x);
#pragma unroll
  for (int i = 0; i < 8; ++i) w.words[i] = __shfl_sync(0xffffffff, w.words[i], source, kLanes);
  return from_words(w);
}
// The sum of the elements of the lanes of each group, in every lane.
template <unsigned kLanes>
__device__ __forceinline__ Fr group_sum(Fr x) {
#pragma unroll
  for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
    FrWords w = to_words(x);
#pragma unroll
    for (int i = 0; i < 8; ++i) w.words[i] = __shfl_xor_sync(0xffffffff, w.words[i], distance, kLanes);
    x += from_words(w);
  }
  return x;
}

// A hash's permutation by the lanes 0 .. kLanes-1 of its group; x is the tag in lane 0, element i - 1 of the preimage
// in lane i, zero in lanes from kWidth on. `out`, where not null, receives every variable of the circuit in its order,
// the hash last: the values of poseidon_trace() (poseidon.cpp is the same in one thread). All lanes of the warp must
// call.
template <unsigned kWidth>
__device__ void trace(const Constants& k, Fr x, unsigned lane, Fr* out) {
  constexpr unsigned kLanes = group_lanes(kWidth);
  const bool active = lane < kWidth;
  const unsigned column = active ? lane : 0;  // for reads of constants by idle lanes
  const bool writes = active && out != nullptr;

  // x^5 + post, its steps written to at[0 .. 3).
  const auto fifth_power = [&](const Fr& post, Fr* at, bool write) {
    const Fr x2 = x.square(), x4 = x2.square();
    x = x4 * x + post;
    if (write) {
      at[0] = x2;
      at[1] = x4;
      at[2] = x;
    }
  };
  const auto mix = [&](const Fr* matrix) {
    Fr next = Fr::zero();
    for (unsigned i = 0; i < kWidth; ++i) next += broadcast<kLanes>(x, i) * matrix[i * kWidth + column];
    x = active ? next : Fr::zero();
  };

  const Fr* post = k.compressed + kWidth;
  x += active ? k.compressed[column] : Fr::zero();
  for (unsigned round = 0; round < 4; ++round) {
    if (round == 0) {
      // The circuit works on the preimage itself, and element 0 is a constant.
      fifth_power(post[column], out + 3 * (lane - 1), writes && lane > 0);
      out += 3 * (kWidth - 1);
    } else {
      if (writes) out[4 * lane] = x;
      fifth_power(post[column], out + 4 * lane + 1, writes);
      out += 4 * kWidth;
    }
    post += kWidth;
    mix(round < 3 ? k.mds : k.pre_sparse);
  }
  const Fr* sparse = k.sparse;
  for (unsigned round = 0; round < k.partial_rounds; ++round, sparse += 2 * kWidth - 1, ++post, out += 4) {
    if (lane == 0) {
      if (writes) out[0] = x;
      fifth_power(*post, out + 1, writes);
    }
    const Fr first = broadcast<kLanes>(x, 0);
    const Fr sum = group_sum<kLanes>(active ? x * sparse[column] : Fr::zero());
    if (lane == 0) {
      x = sum;
    } else if (active) {
      x += sparse[kWidth + lane - 1] * first;
    }
  }
  for (unsigned round = 0; round < 4; ++round, out += 4 * kWidth) {
    if (writes) out[4 * lane] = x;
    fifth_power(round < 3 ? post[column] : Fr::zero(), out + 4 * lane + 1, writes);
    post += kWidth;
    mix(k.mds);
  }
  if (writes && lane == 1) out[0] = x;
}

}  // namespace cuzk::poseidon_cuda
