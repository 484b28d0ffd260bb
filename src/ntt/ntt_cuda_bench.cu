// Times the CUDA transforms on random data, by events, medians of repetitions after a warm-up. Writes one JSON object a
// line to the file named first. Usage: cuzk_ntt_cuda_bench FILE [LARGEST_LOG2_SIZE]
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "field/fr.hpp"
#include "gpu/cuda_check.cuh"
#include "gpu/device.hpp"
#include "gpu/timing.hpp"
#include "ntt/lazy_fr.cuh"
#include "ntt/ntt_cuda.hpp"
#include "ntt/ntt_test_support.cuh"

namespace {

using namespace cuzk;
using ntt_cuda_support::random_kernel;

constexpr unsigned kProducts = 2048;
// One chain of products a thread, reduced as transforms reduce them or fully.
template <bool kLazy>
__global__ void product_kernel(Fr* data) {
#if defined(__CUDA_ARCH__)
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if constexpr (kLazy) {
    const ntt::LazyFr a = ntt::LazyFr::load(data + i);
    ntt::LazyFr b = a;
#pragma unroll 1
    for (unsigned n = 0; n < kProducts; ++n) b = ntt::LazyFr::mul(a, b);
    b.reduce();
    b.store(data + i);
  } else {
    const Fr a = data[i];
    Fr b = a;
#pragma unroll 1
    for (unsigned n = 0; n < kProducts; ++n) b = a * b;
    data[i] = b;
  }
#endif
}

class Bench {
 public:
  Bench(const gpu::Device& device, const gpu::Stream& stream, gpu::Event& begin, gpu::Event& end, FILE* out)
      : device_(device), stream_(stream), begin_(begin), end_(end), out_(out) {}

  Status products() {
    const unsigned blocks = static_cast<unsigned>(device_.info().multiprocessors) * 16, threads = 128;
    const size_t count = size_t{blocks} * threads;
    CUZK_ASSIGN(auto memory, device_.reserve(gpu::Reservation::bytes_for<Fr>(count), gpu::Placement::kHigh));
    CUZK_ASSIGN(auto data, memory.allocate<Fr>(count, stream_));
    random_kernel<<<blocks, threads, 0, stream_.handle()>>>(0, data.data(), count);
    for (const bool lazy : {true, false}) {
      CUZK_ASSIGN(const double ms, median(7, [&]() -> Status {
                    if (lazy) {
                      product_kernel<true><<<blocks, threads, 0, stream_.handle()>>>(data.data());
                    } else {
                      product_kernel<false><<<blocks, threads, 0, stream_.handle()>>>(data.data());
                    }
                    CUZK_CUDA_TRY(cudaGetLastError());
                    return {};
                  }));
      std::fprintf(out_, "{\"bench\": \"%s\", \"giga_per_second\": %.2f}\n", lazy ? "fr_mul_lazy" : "fr_mul",
                   static_cast<double>(count) * kProducts / ms / 1e6);
    }
    return {};
  }

  Status transforms(unsigned k) {
    const size_t m = size_t{1} << k;
    using gpu::Reservation;
    CUZK_ASSIGN(auto memory, device_.reserve(3 * Reservation::bytes_for<Fr>(m) + DeviceDomain::table_bytes(k),
                                             gpu::Placement::kHigh));
    CUZK_ASSIGN(const DeviceDomain domain, DeviceDomain::create(k, memory, stream_));
    std::vector<gpu::DeviceBuffer<Fr>> arrays;
    for (int i = 0; i < 3; ++i) {
      CUZK_ASSIGN(auto array, memory.allocate<Fr>(m, stream_));
      random_kernel<<<static_cast<unsigned>((m + 255) / 256), 256, 0, stream_.handle()>>>(0, array.data(), m);
      arrays.push_back(std::move(array));
    }
    CUZK_CUDA_TRY(cudaGetLastError());
    const auto a = arrays[0].span(), b = arrays[1].span(), c = arrays[2].span();
    const int repeats = k <= 22 ? 15 : 7;
    const auto report = [&](const char* name, const std::function<Status()>& work) -> Status {
      CUZK_ASSIGN(const double ms, median(repeats, work));
      std::fprintf(out_, "{\"bench\": \"%s\", \"log2_size\": %u, \"ms\": %.4f}\n", name, k, ms);
      return {};
    };
    CUZK_TRY(report("ntt_forward", [&] { return domain.forward(a, stream_); }));
    CUZK_TRY(report("ntt_inverse", [&] { return domain.inverse(a, stream_); }));
    CUZK_TRY(report("ntt_coset_forward", [&] { return domain.coset_forward(a, stream_); }));
    CUZK_TRY(report("ntt_coset_inverse", [&] { return domain.coset_inverse(a, stream_); }));
    CUZK_TRY(report("bit_reverse", [&] { return domain.bit_reverse(a, stream_); }));
    CUZK_TRY(report("quotient_folded", [&] { return domain.quotient(a, b, {}, Order::kBitReversed, stream_); }));
    CUZK_TRY(report("quotient", [&] { return domain.quotient(a, b, c, Order::kBitReversed, stream_); }));
    return report("quotient_natural", [&] { return domain.quotient(a, b, c, Order::kNatural, stream_); });
  }

 private:
  Result<double> median(int repeats, const std::function<Status()>& work) {
    CUZK_ASSIGN(const std::vector<double> times, gpu::time_runs(stream_, begin_, end_, 2, repeats, work));
    return times[times.size() / 2];
  }

  const gpu::Device& device_;
  const gpu::Stream& stream_;
  gpu::Event &begin_, &end_;
  FILE* out_;
};

Status run(FILE* out, unsigned largest, unsigned smallest) {
  CUZK_ASSIGN(const std::vector<gpu::DeviceInfo> devices, gpu::list_devices());
  // No more than the largest run needs: a profiler saves and restores all of it.
  const uint64_t arena = 3 * gpu::Reservation::bytes_for<Fr>(size_t{1} << largest) +
                         2 * DeviceDomain::table_bytes(largest) + (uint64_t{64} << 20);
  CUZK_ASSIGN(gpu::Device device, gpu::Device::open(devices[0], {arena}));
  CUZK_ASSIGN(gpu::Stream stream, device.make_stream());
  CUZK_ASSIGN(gpu::Event begin, device.make_event());
  CUZK_ASSIGN(gpu::Event end, device.make_event());
  Bench bench(device, stream, begin, end, out);
  CUZK_TRY(bench.products());
  for (const unsigned k : {18U, 20U, 22U, 24U, 26U, 27U}) {
    if (k >= smallest && k <= largest) CUZK_TRY(bench.transforms(k));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  FILE* out = argc > 1 ? std::fopen(argv[1], "w") : stdout;
  if (out == nullptr) {
    std::perror(argv[1]);
    return 2;
  }
  const auto number = [&](int i, int otherwise) {
    return static_cast<unsigned>(argc > i ? std::atoi(argv[i]) : otherwise);
  };
  const Status status = run(out, number(2, 27), number(3, 0));
  if (!status.ok()) std::printf("%s\n", status.error().describe().c_str());
  return std::fclose(out) == 0 && status.ok() ? 0 : 2;
}
