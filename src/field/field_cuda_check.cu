// Multiplies, squares, adds and subtracts on the device and compares every result with the CPU form. Exit status 1 on a
// difference, 2 where CUDA fails.
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "field/field_test_support.cuh"
#include "field/fp2.hpp"
#include "field/fr.hpp"

namespace {

using namespace cuzk;

template <class F>
struct Results {
  F product, square, sum, difference, negative, twice;
};

template <class F>
CUZK_HD Results<F> compute(const F& a, const F& b) {
  return {a * b, a.square(), a + b, a - b, -a, a.dbl()};
}

template <class F>
__global__ void compute_kernel(const F* a, const F* b, Results<F>* out, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) out[i] = compute(a[i], b[i]);
}

template <class F>
F random_element(std::mt19937_64& rng) {
  for (;;) {
    typename F::Limbs limbs;
    for (auto& limb : limbs) limb = rng();
    limbs[F::kLimbs - 1] >>= __builtin_clzll(F::kModulus[F::kLimbs - 1]);
    // Some words of zeros and ones, where carries travel far.
    if (rng() % 4 == 0) limbs[rng() % (F::kLimbs - 1)] = 0 - (rng() & 1);
    if (limbs::less(limbs, F::kModulus)) return F::from_montgomery(limbs);
  }
}
template <>
Fp2 random_element<Fp2>(std::mt19937_64& rng) {
  const Fp c0 = random_element<Fp>(rng);
  return {c0, random_element<Fp>(rng)};
}

template <class F>
size_t differences(const char* name, size_t count) {
  std::mt19937_64 rng(1);
  std::vector<F> a(count), b(count);
  const F edges[] = {F::zero(), F::one(), -F::one(), F::from_u64(2), -F::from_u64(2)};
  constexpr size_t kEdges = std::size(edges);
  for (size_t i = 0; i < count; ++i) {
    a[i] = i < kEdges * kEdges ? edges[i / kEdges] : random_element<F>(rng);
    b[i] = i < kEdges * kEdges ? edges[i % kEdges] : random_element<F>(rng);
  }
  F *device_a = nullptr, *device_b = nullptr;
  Results<F>* device_out = nullptr;
  std::vector<Results<F>> out(count);
  CHECK_CUDA(cudaMalloc(&device_a, count * sizeof(F)));
  CHECK_CUDA(cudaMalloc(&device_b, count * sizeof(F)));
  CHECK_CUDA(cudaMalloc(&device_out, count * sizeof(Results<F>)));
  CHECK_CUDA(cudaMemcpy(device_a, a.data(), count * sizeof(F), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(device_b, b.data(), count * sizeof(F), cudaMemcpyHostToDevice));
  compute_kernel<<<static_cast<unsigned>((count + 127) / 128), 128>>>(device_a, device_b, device_out, count);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(out.data(), device_out, count * sizeof(Results<F>), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device_a));
  CHECK_CUDA(cudaFree(device_b));
  CHECK_CUDA(cudaFree(device_out));
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    const Results<F> expected = compute(a[i], b[i]);
    wrong += !(out[i].product == expected.product && out[i].square == expected.square && out[i].sum == expected.sum &&
               out[i].difference == expected.difference && out[i].negative == expected.negative &&
               out[i].twice == expected.twice);
  }
  std::printf("%s: %zu of %zu elements differ\n", name, wrong, count);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  // --small: few elements, for runs under compute-sanitizer.
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const size_t count = size_t{1} << (small ? 10 : 18);
  const size_t wrong = differences<Fr>("Fr", count) + differences<Fp>("Fp", count) + differences<Fp2>("Fp2", count);
  return wrong == 0 ? 0 : 1;
}
