// Rates of the multiplications of Fp on the device, by both multipliers, a chain of dependent products a thread, at
// several numbers of threads. Writes one JSON object a line to the file named first; the end of each chain is checked.
#include <cstdio>
#include <vector>

#include "field/field_test_support.cuh"
#include "field/fp_hybrid.hpp"

namespace {

using namespace cuzk;

constexpr unsigned kBlock = 128, kProducts = 2000, kBlocksPerSm = 4, kChecked = 256;

struct Integer {
  static constexpr const char* kName = "integer";
  static __device__ __forceinline__ Fp load(const Fp& x) { return x; }
  static __device__ __forceinline__ Fp store(const Fp& x) { return x; }
  static __device__ __forceinline__ Fp square(const Fp& x) { return x.square(); }
};
struct Hybrid {
  static constexpr const char* kName = "hybrid";
  static __device__ __forceinline__ FpHybrid load(const Fp& x) { return FpHybrid::from_fp(x).reduced(); }
  static __device__ __forceinline__ Fp store(const FpHybrid& x) { return x.to_fp(); }
  static __device__ __forceinline__ FpHybrid square(const FpHybrid& x) { return FpHybrid::square(x); }
};

template <class Form, bool kSquare>
__global__ void __launch_bounds__(kBlock, kBlocksPerSm) chain_kernel(Fp* data) {
  Fp& at = data[blockIdx.x * kBlock + threadIdx.x];
  const auto a = Form::load(at);
  auto b = a;
#pragma unroll 1
  for (unsigned n = 0; n < kProducts; ++n) {
    if constexpr (kSquare) {
      b = Form::square(b);
    } else {
      b = a * b;
    }
  }
  at = Form::store(b);
}

Fp start(uint64_t i) { return Fp::from_u64(0x9e3779b97f4a7c15 * (i + 1)).square(); }

template <class Form, bool kSquare>
bool measure(std::FILE* file, int multiprocessors) {
  const auto kernel = chain_kernel<Form, kSquare>;
  cudaFuncAttributes attributes{};
  CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  const unsigned most = static_cast<unsigned>(multiprocessors) * kBlocksPerSm * kBlock;
  std::vector<Fp> in(most), out(most);
  for (unsigned i = 0; i < most; ++i) in[i] = start(i);
  Fp* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, most * sizeof(Fp)));
  cudaEvent_t begin{}, end{};
  CHECK_CUDA(cudaEventCreate(&begin));
  CHECK_CUDA(cudaEventCreate(&end));
  bool right = true;
  for (unsigned blocks = 2; blocks <= kBlocksPerSm; ++blocks) {
    float best = 0;
    for (int repeat = 0; repeat < 4; ++repeat) {
      CHECK_CUDA(cudaMemcpy(data, in.data(), most * sizeof(Fp), cudaMemcpyHostToDevice));
      CHECK_CUDA(cudaEventRecord(begin));
      kernel<<<static_cast<unsigned>(multiprocessors) * blocks, kBlock>>>(data);
      CHECK_CUDA(cudaEventRecord(end));
      CHECK_CUDA(cudaEventSynchronize(end));
      float ms = 0;
      CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
      if (best == 0 || ms < best) best = ms;
    }
    CHECK_CUDA(cudaMemcpy(out.data(), data, most * sizeof(Fp), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < kChecked; ++i) {
      Fp expected = in[i];
      for (unsigned n = 0; n < kProducts; ++n) expected = kSquare ? expected.square() : in[i] * expected;
      right = right && out[i] == expected;
    }
    const double rate = static_cast<double>(multiprocessors) * blocks * kBlock * kProducts / best / 1e6;
    for (std::FILE* to : {stdout, file}) {
      if (to == nullptr) continue;
      std::fprintf(to,
                   "{\"fp\": \"%s\", \"multiplier\": \"%s\", \"warps_per_sm\": %u, \"registers\": %d, "
                   "\"giga_per_second\": %.2f, \"correct\": %s}\n",
                   kSquare ? "square" : "product", Form::kName, blocks * kBlock / 32, attributes.numRegs, rate,
                   right ? "true" : "false");
    }
  }
  CHECK_CUDA(cudaEventDestroy(begin));
  CHECK_CUDA(cudaEventDestroy(end));
  CHECK_CUDA(cudaFree(data));
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* file = argc > 1 ? std::fopen(argv[1], "w") : nullptr;
  int multiprocessors = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  bool right = measure<Integer, false>(file, multiprocessors);
  right = measure<Hybrid, false>(file, multiprocessors) && right;
  right = measure<Integer, true>(file, multiprocessors) && right;
  right = measure<Hybrid, true>(file, multiprocessors) && right;
  return right ? 0 : 1;
}
