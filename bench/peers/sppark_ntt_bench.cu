// Transforms and the quotient by sppark and by us on the same values, one after the other in one process: one JSON line
// a size and form, in FILE too. sppark's results are compared with ours, element by element. Times by events, medians.
// Usage: cuzk_sppark_ntt_bench [FILE] [--log2 FIRST LAST]
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "field/fr.hpp"
#include "gpu/cuda_check.cuh"
#include "gpu/device.hpp"
#include "ntt/ntt_cuda.hpp"
#include "ntt/ntt_test_support.cuh"
#include "peers/peer_lines.hpp"
#include "peers/sppark.hpp"

namespace {

using namespace cuzk;
using ntt_cuda_support::random_kernel;
using ntt_cuda_support::thread_number;

constexpr unsigned kThreads = 256;

__global__ void differences_kernel(const Fr* a, const Fr* b, size_t count, unsigned* wrong) {
  const size_t i = thread_number();
  if (i < count && !(a[i] == b[i])) atomicAdd(wrong, 1U);
}
// What sppark's callers do between its transforms.
__global__ void pointwise_kernel(Fr* a, const Fr* b, const Fr* c, const __grid_constant__ Fr inverse_z, size_t count) {
  const size_t i = thread_number();
  if (i < count) a[i] = (a[i] * b[i] - c[i]) * inverse_z;
}

class Bench {
 public:
  Bench(const gpu::Device& device, const gpu::Stream& stream, peers::Lines& lines)
      : device_(device),
        stream_(stream),
        lines_(lines),
        peer_stream_(static_cast<cudaStream_t>(peers::sppark_stream())) {}
  bool all_correct = true;

  Status run(unsigned k) {
    k_ = k;
    const size_t m = size_t{1} << k;
    using gpu::Reservation;
    CUZK_ASSIGN(auto memory, device_.reserve(kArrays * Reservation::bytes_for<Fr>(m) +
                                                 Reservation::bytes_for<unsigned>(1) + DeviceDomain::table_bytes(k),
                                             gpu::Placement::kHigh));
    CUZK_ASSIGN(const DeviceDomain domain, DeviceDomain::create(k, memory, stream_));
    std::vector<gpu::DeviceBuffer<Fr>> arrays;
    for (unsigned i = 0; i < kArrays; ++i) {
      CUZK_ASSIGN(auto array, memory.allocate<Fr>(m, stream_));
      spans_[i] = array.span();
      arrays.push_back(std::move(array));
    }
    CUZK_ASSIGN(auto wrong, memory.allocate<unsigned>(1, stream_));
    wrong_ = wrong.data();
    CUZK_TRY(transforms(domain));
    return quotients(domain);
  }

 private:
  // Ours, sppark's.
  static constexpr unsigned kArrays = 6;
  std::span<Fr> ours(unsigned i) const { return spans_[i]; }
  std::span<Fr> theirs(unsigned i) const { return spans_[3 + i]; }
  unsigned blocks() const { return static_cast<unsigned>((ours(0).size() + kThreads - 1) / kThreads); }

  Status transforms(const DeviceDomain& domain) {
    for (const bool coset : {false, true}) {
      for (const bool inverse : {false, true}) {
        const auto a = ours(0);
        const auto transform = [&]() -> Status {
          if (inverse) return coset ? domain.coset_inverse(a, stream_) : domain.inverse(a, stream_);
          return coset ? domain.coset_forward(a, stream_) : domain.forward(a, stream_);
        };
        const auto peer = [&](bool bit_reversed_in) { return peer_ntt(theirs(0), inverse, coset, bit_reversed_in); };
        // Ours takes natural order to bit-reversed order forward, and back.
        CUZK_TRY(fill(1));
        CUZK_TRY(transform());
        CUZK_TRY(peer(inverse));
        CUZK_ASSIGN(const bool same, equal(0));
        CUZK_ASSIGN(const double ms, median(stream_.handle(), transform));
        CUZK_ASSIGN(const double natural_in, median(peer_stream_, [&] { return peer(false); }));
        CUZK_ASSIGN(const double reversed_in, median(peer_stream_, [&] { return peer(true); }));
        report(std::string("ntt_") + (coset ? "coset_" : "") + (inverse ? "inverse" : "forward"), ms,
               std::min(natural_in, reversed_in), same,
               ", \"peer_natural_in_ms\": " + peers::number(natural_in) +
                   ", \"peer_bit_reversed_in_ms\": " + peers::number(reversed_in));
      }
    }
    return {};
  }

  // Ours from bit-reversed values to natural coefficients, sppark's the other way: neither permutes in that time.
  Status quotients(const DeviceDomain& domain) {
    const Fr inverse_z = (Fr::from_u64(7).pow(ours(0).size()) - Fr::one()).inverse();
    const auto peer = [&]() -> Status {
      for (unsigned i = 0; i < 3; ++i) {
        CUZK_TRY(peer_ntt(theirs(i), true, false, false));
        CUZK_TRY(peer_ntt(theirs(i), false, true, true));
      }
      pointwise_kernel<<<blocks(), kThreads, 0, peer_stream_>>>(theirs(0).data(), theirs(1).data(), theirs(2).data(),
                                                                inverse_z, theirs(0).size());
      CUZK_CUDA_TRY(cudaGetLastError());
      return peer_ntt(theirs(0), true, true, false);
    };
    CUZK_TRY(fill(3));
    CUZK_ASSIGN(const double peer_ms, median(peer_stream_, peer));
    for (const bool folded : {false, true}) {
      const auto c = folded ? std::span<Fr>() : ours(2);
      const auto quotient = [&] { return domain.quotient(ours(0), ours(1), c, Order::kBitReversed, stream_); };
      CUZK_TRY(fill(3));
      if (folded) CUZK_TRY(gpu::fill_bytes(theirs(2).data(), 0, theirs(2).size_bytes(), stream_));
      for (unsigned i = 0; i < 3; ++i) CUZK_TRY(domain.bit_reverse(ours(i), stream_));
      CUZK_TRY(quotient());
      CUZK_TRY(domain.bit_reverse(ours(0), stream_));
      CUZK_TRY(stream_.synchronize());
      CUZK_TRY(peer());
      CUZK_ASSIGN(const bool same, equal(0));
      CUZK_ASSIGN(const double ms, median(stream_.handle(), quotient));
      report(folded ? "quotient_folded" : "quotient", ms, peer_ms, same, ", \"peer_transforms\": 7");
    }
    return {};
  }

  Status peer_ntt(std::span<Fr> values, bool inverse, bool coset, bool bit_reversed_in) {
    if (peers::sppark_ntt(values.data(), k_, inverse, coset, bit_reversed_in)) return {};
    return Error(ErrorClass::kInternal, "sppark's transform failed");
  }
  // The first `count` arrays of both, alike.
  Status fill(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      for (const auto values : {ours(i), theirs(i)}) {
        random_kernel<<<blocks(), kThreads, 0, stream_.handle()>>>(i * uint64_t{0x123456789}, values.data(),
                                                                   values.size());
      }
    }
    CUZK_CUDA_TRY(cudaGetLastError());
    return stream_.synchronize();
  }
  Result<bool> equal(unsigned i) {
    CUZK_CUDA_TRY(cudaStreamSynchronize(peer_stream_));
    CUZK_TRY(gpu::fill_bytes(wrong_, 0, sizeof *wrong_, stream_));
    differences_kernel<<<blocks(), kThreads, 0, stream_.handle()>>>(ours(i).data(), theirs(i).data(), ours(i).size(),
                                                                    wrong_);
    CUZK_CUDA_TRY(cudaGetLastError());
    unsigned wrong = 1;
    CUZK_TRY(gpu::copy_bytes_to_host(&wrong, wrong_, sizeof wrong, stream_));
    CUZK_TRY(stream_.synchronize());
    return wrong == 0;
  }

  template <class Work>
  Result<double> median(cudaStream_t stream, Work&& work) {
    cudaEvent_t begin = nullptr, end = nullptr;
    CUZK_CUDA_TRY(cudaEventCreate(&begin));
    CUZK_CUDA_TRY(cudaEventCreate(&end));
    std::vector<double> times;
    const int warm_ups = 2, repeats = k_ <= 22 ? 15 : 7;
    for (int i = 0; i < warm_ups + repeats; ++i) {
      CUZK_CUDA_TRY(cudaEventRecord(begin, stream));
      CUZK_TRY(work());
      CUZK_CUDA_TRY(cudaEventRecord(end, stream));
      CUZK_CUDA_TRY(cudaEventSynchronize(end));
      float ms = 0;
      CUZK_CUDA_TRY(cudaEventElapsedTime(&ms, begin, end));
      if (i >= warm_ups) times.push_back(ms);
    }
    CUZK_CUDA_TRY(cudaEventDestroy(begin));
    CUZK_CUDA_TRY(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  void report(const std::string& what, double ms, double peer_ms, bool same, const std::string& more) {
    all_correct = all_correct && same;
    lines_.add("{\"peer\": \"sppark\", \"bench\": \"" + what + "\", \"log2_size\": " + std::to_string(k_) +
               ", \"ms\": " + peers::number(ms) + ", \"peer_ms\": " + peers::number(peer_ms) + ", \"ratio\": " +
               peers::number(peer_ms / ms) + more + ", \"equal\": " + (same ? "true" : "false") + "}");
  }

  const gpu::Device& device_;
  const gpu::Stream& stream_;
  peers::Lines& lines_;
  const cudaStream_t peer_stream_;
  unsigned k_ = 0;
  std::span<Fr> spans_[kArrays];
  unsigned* wrong_ = nullptr;
};

Status run(peers::Lines& lines, unsigned first, unsigned last, bool& correct) {
  CUZK_ASSIGN(const std::vector<gpu::DeviceInfo> devices, gpu::list_devices());
  const uint64_t arena = 6 * gpu::Reservation::bytes_for<Fr>(size_t{1} << last) + 2 * DeviceDomain::table_bytes(last) +
                         (uint64_t{64} << 20);
  CUZK_ASSIGN(gpu::Device device, gpu::Device::open(devices[0], {arena}));
  CUZK_TRY(device.make_current());
  CUZK_ASSIGN(gpu::Stream stream, device.make_stream());
  Bench bench(device, stream, lines);
  for (unsigned k = first; k <= last; k = k == 26 ? 27 : k + 2) CUZK_TRY(bench.run(k));
  correct = bench.all_correct;
  return stream.synchronize();
}

}  // namespace

int main(int argc, char** argv) {
  const char* file = nullptr;
  unsigned first = 18, last = 27;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--log2" && i + 2 < argc) {
      first = static_cast<unsigned>(std::atoi(argv[++i]));
      last = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (i == 1 && option[0] != '-') {
      file = argv[i];
    } else {
      std::fprintf(stderr, "unknown option %s\n", option.c_str());
      return 2;
    }
  }
  peers::Lines lines(file);
  bool correct = false;
  const Status status = run(lines, first, last, correct);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.error().describe().c_str());
    return 2;
  }
  return correct ? 0 : 1;
}
