// Compares the CUDA transforms with the CPU's at every small size, and checks them by known polynomials and identities
// at large ones. Exit status 1 where something differs, 2 where CUDA fails. Usage: cuzk_ntt_cuda_check [--small]
// [LARGEST_LOG2_SIZE]   (--small: for runs under compute-sanitizer)
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gpu/api_counts.hpp"
#include "gpu/cuda_check.cuh"
#include "gpu/device.hpp"
#include "ntt/engine.hpp"
#include "ntt/ntt.hpp"
#include "ntt/ntt_cuda.hpp"
#include "ntt/ntt_test_support.cuh"
#include "ntt/quotient.hpp"

namespace {

using namespace cuzk;
using ntt_cuda_support::random_kernel;
using ntt_cuda_support::thread_number;
using Values = std::vector<Fr>;

size_t failures = 0;
void expect(bool condition, const std::string& what) {
  if (condition) return;
  std::printf("wrong: %s\n", what.c_str());
  ++failures;
}

struct Powers {
  Fr of[32];  // base^(2^i)
};
Powers powers_of(Fr base) {
  Powers out;
  for (Fr& p : out.of) {
    p = base;
    base = base.square();
  }
  return out;
}
__device__ Fr power(const Powers& powers, size_t exponent) {
  Fr out = Fr::one();
  for (unsigned i = 0; i < 32; ++i) {
    if (exponent >> i & 1) out *= powers.of[i];
  }
  return out;
}

// (x^m - s^m)/(x - s) has coefficients s^(m-1-i).
__global__ void geometric_kernel(const __grid_constant__ Powers s, Fr* out, size_t m) {
  const size_t i = thread_number();
  if (i < m) out[i] = power(s, m - 1 - i);
}
// Counts the places of v that hold no canonical residue or differ from s^(m-1-i).
__global__ void geometric_differences_kernel(const __grid_constant__ Powers s, const Fr* v, size_t m, unsigned* wrong) {
  const size_t i = thread_number();
  if (i < m && !(v[i] == power(s, m - 1 - i))) atomicAdd(wrong, 1U);
}
// Value j, at the place with j's bits reversed, times (shift*w^j - s) is `difference` = shift^m - s^m.
__global__ void value_differences_kernel(const __grid_constant__ Powers w, const __grid_constant__ Fr shift,
                                         const __grid_constant__ Fr s, const __grid_constant__ Fr difference,
                                         const Fr* v, unsigned log2_size, unsigned* wrong) {
  const size_t i = thread_number();
  if (i >= size_t{1} << log2_size) return;
  const Fr x = shift * power(w, __brev(static_cast<unsigned>(i)) >> (32 - log2_size));
  if (!(v[i] * (x - s) == difference)) atomicAdd(wrong, 1U);
}
__global__ void multiply_kernel(Fr* out, const Fr* a, const Fr* b, size_t m) {
  const size_t i = thread_number();
  if (i < m) out[i] = a[i] * b[i];
}
constexpr size_t kChunk = 1024;
// partial_t = the part of p(x) from coefficients t*kChunk ....
__global__ void evaluate_kernel(const __grid_constant__ Powers x, const Fr* p, size_t m, Fr* partial) {
  const size_t t = thread_number(), begin = t * kChunk;
  if (begin >= m) return;
  Fr sum = Fr::zero();
  for (size_t i = begin + kChunk < m ? begin + kChunk : m; i-- > begin;) sum = sum * x.of[0] + p[i];
  partial[t] = sum * power(x, begin);
}
// Counts i with all_i - h_i != c_i * factor.
__global__ void folded_differences_kernel(const Fr* all, const Fr* h, const Fr* c, const __grid_constant__ Fr factor,
                                          size_t m, unsigned* wrong) {
  const size_t i = thread_number();
  if (i < m && !(all[i] - h[i] == c[i] * factor)) atomicAdd(wrong, 1U);
}

class Checker {
 public:
  Checker(const gpu::Device& device, const gpu::Stream& stream) : device_(device), stream_(stream) {}

  Status exact(unsigned k) {
    CUZK_TRY(begin(k, 3));
    const Domain cpu(k);
    for (const bool coset : {false, true}) {
      const std::string name = "2^" + std::to_string(k) + (coset ? " coset" : "");
      const Values coefficients = random_values(k * 2 + coset);
      Values expected = coefficients;
      coset ? cpu.coset_forward(expected) : cpu.forward(expected);
      ntt::bit_reverse(expected.data(), k);
      CUZK_TRY(upload(0, coefficients));
      CUZK_TRY(coset ? domain_->coset_forward(span(0), stream_) : domain_->forward(span(0), stream_));
      CUZK_ASSIGN(const Values values, download(0));
      expect(values == expected, name + " forward");
      CUZK_TRY(coset ? domain_->coset_inverse(span(0), stream_) : domain_->inverse(span(0), stream_));
      CUZK_ASSIGN(const Values back, download(0));
      expect(back == coefficients, name + " inverse");
    }
    return exact_quotient(k, cpu);
  }

  // Known polynomials, and identities of the quotient.
  Status large(unsigned k, bool with_quotient) {
    CUZK_TRY(begin(k, with_quotient ? 6 : 1));
    const size_t m = size_t{1} << k;
    const Fr s = Fr::from_u64(0x123456789abcdef).square(), seven = Fr::from_u64(7);
    const Powers powers = powers_of(s), w = powers_of(ntt::root_of_unity(k));
    for (const bool coset : {false, true}) {
      const std::string name = "2^" + std::to_string(k) + (coset ? " coset" : "");
      const Fr shift = coset ? seven : Fr::one();
      geometric_kernel<<<blocks(), kThreads, 0, stream_.handle()>>>(powers, span(0).data(), m);
      CUZK_TRY(coset ? domain_->coset_forward(span(0), stream_) : domain_->forward(span(0), stream_));
      value_differences_kernel<<<blocks(), kThreads, 0, stream_.handle()>>>(w, shift, s, shift.pow(m) - s.pow(m),
                                                                            span(0).data(), k, wrong_.data());
      CUZK_TRY(expect_none(name + " forward"));
      CUZK_TRY(coset ? domain_->coset_inverse(span(0), stream_) : domain_->inverse(span(0), stream_));
      geometric_differences_kernel<<<blocks(), kThreads, 0, stream_.handle()>>>(powers, span(0).data(), m,
                                                                                wrong_.data());
      CUZK_TRY(expect_none(name + " inverse"));
    }
    return with_quotient ? large_quotient(k) : Status();
  }

 private:
  static constexpr unsigned kThreads = 256;
  unsigned blocks() const { return static_cast<unsigned>((domain_->size() + kThreads - 1) / kThreads); }
  std::span<Fr> span(size_t i) const { return arrays_[i].span(); }

  Status begin(unsigned k, size_t arrays) {
    const size_t m = size_t{1} << k, partials = (m + kChunk - 1) / kChunk;
    arrays_.clear();
    wrong_ = {};
    partial_ = {};
    domain_.reset();
    using gpu::Reservation;
    const uint64_t bytes = arrays * Reservation::bytes_for<Fr>(m) + Reservation::bytes_for<Fr>(partials) + 256 +
                           DeviceDomain::table_bytes(k);
    CUZK_ASSIGN(reservation_, device_.reserve(bytes, gpu::Placement::kHigh));
    CUZK_ASSIGN(DeviceDomain domain, DeviceDomain::create(k, reservation_, stream_));
    domain_.emplace(std::move(domain));
    for (size_t i = 0; i < arrays; ++i) {
      CUZK_ASSIGN(auto array, reservation_.allocate<Fr>(m, stream_));
      arrays_.push_back(std::move(array));
    }
    CUZK_ASSIGN(partial_, reservation_.allocate<Fr>(partials, stream_));
    CUZK_ASSIGN(wrong_, reservation_.allocate<unsigned>(1, stream_));
    expect(reservation_.used_bytes() == reservation_.capacity_bytes(), "declared bytes are the used bytes");
    return gpu::fill_bytes(wrong_.data(), 0, sizeof(unsigned), stream_);
  }

  Values random_values(uint64_t seed) const {
    std::mt19937_64 rng(seed);
    Values out(domain_->size());
    for (Fr& v : out) {
      do {
        Fr::Limbs limbs{rng(), rng(), rng(), rng() >> 1};
        if (rng() % 8 == 0) limbs[rng() % 3] = 0 - (rng() & 1);
        if (limbs::less(limbs, Fr::kModulus)) {
          v = Fr::from_montgomery(limbs);
          break;
        }
      } while (true);
    }
    if (!out.empty()) out[0] = -Fr::one();
    return out;
  }
  Status upload(size_t i, const Values& values) {
    return gpu::copy_to_device(span(i), std::span<const Fr>(values), stream_);
  }
  Result<Values> download(size_t i) const {
    Values out(domain_->size());
    CUZK_TRY(gpu::copy_to_host(std::span(out), std::span<const Fr>(span(i)), stream_));
    CUZK_TRY(stream_.synchronize());
    return out;
  }
  Status expect_none(const std::string& what) {
    CUZK_CUDA_TRY(cudaGetLastError());
    unsigned wrong = 1;
    CUZK_TRY(gpu::copy_bytes_to_host(&wrong, wrong_.data(), sizeof wrong, stream_));
    CUZK_TRY(stream_.synchronize());
    expect(wrong == 0, what + ": " + std::to_string(wrong) + " places");
    return gpu::fill_bytes(wrong_.data(), 0, sizeof wrong, stream_);
  }

  Status exact_quotient(unsigned k, const Domain& cpu) {
    const Values a = random_values(100 + k), b = random_values(200 + k), c = random_values(300 + k);
    for (const bool folded : {false, true}) {
      for (const Order order : {Order::kNatural, Order::kBitReversed}) {
        Values ea = a, eb = b, ec = c, ua = a, ub = b, uc = c;
        if (folded) ec.assign(c.size(), Fr::zero());
        compute_h(cpu, ea, eb, ec);
        if (order == Order::kBitReversed) {
          for (Values* v : {&ua, &ub, &uc}) ntt::bit_reverse(v->data(), k);
        }
        CUZK_TRY(upload(0, ua));
        CUZK_TRY(upload(1, ub));
        CUZK_TRY(upload(2, uc));
        CUZK_TRY(domain_->quotient(span(0), span(1), folded ? std::span<Fr>() : span(2), order, stream_));
        CUZK_ASSIGN(const Values h, download(0));
        expect(h == ea, "2^" + std::to_string(k) + " quotient" + (folded ? " folded" : "") +
                            (order == Order::kNatural ? " natural" : ""));
      }
    }
    return {};
  }

  // p(x) of array i.
  Result<Fr> evaluate(size_t i, const Powers& x) {
    const size_t m = domain_->size();
    evaluate_kernel<<<static_cast<unsigned>((partial_.size() + kThreads - 1) / kThreads), kThreads, 0,
                      stream_.handle()>>>(x, span(i).data(), m, partial_.data());
    CUZK_CUDA_TRY(cudaGetLastError());
    Values partial(partial_.size());
    CUZK_TRY(gpu::copy_to_host(std::span(partial), std::span<const Fr>(partial_.span()), stream_));
    CUZK_TRY(stream_.synchronize());
    Fr sum = Fr::zero();
    for (const Fr& p : partial) sum += p;
    return sum;
  }
  Status copy(size_t to, size_t from) {
    return gpu::copy_bytes_on_device(span(to).data(), span(from).data(), span(from).size_bytes(), stream_);
  }

  // For polynomials A, B and C that agrees with A*B on the domain: h*(x^m - 1) = A*B - C at a point; and the quotient
  // of A*B alone differs from h by C/(7^m - 1).
  Status large_quotient(unsigned k) {
    const std::string name = "2^" + std::to_string(k) + " quotient";
    const size_t m = size_t{1} << k;
    const Fr x = Fr::from_u64(0xfedcba987654321).square(), z = Fr::from_u64(7).pow(m) - Fr::one();
    const Powers powers = powers_of(x);
    random_kernel<<<blocks(), kThreads, 0, stream_.handle()>>>(1, span(0).data(), m);
    random_kernel<<<blocks(), kThreads, 0, stream_.handle()>>>(uint64_t{1} << 60, span(1).data(), m);
    CUZK_ASSIGN(const Fr a, evaluate(0, powers));
    CUZK_ASSIGN(const Fr b, evaluate(1, powers));
    CUZK_TRY(domain_->forward(span(0), stream_));
    CUZK_TRY(domain_->forward(span(1), stream_));
    multiply_kernel<<<blocks(), kThreads, 0, stream_.handle()>>>(span(2).data(), span(0).data(), span(1).data(), m);
    CUZK_TRY(copy(3, 2));
    CUZK_TRY(domain_->inverse(span(3), stream_));
    CUZK_ASSIGN(const Fr c, evaluate(3, powers));
    CUZK_TRY(copy(4, 0));
    CUZK_TRY(copy(5, 1));
    CUZK_TRY(domain_->quotient(span(0), span(1), span(2), Order::kBitReversed, stream_));
    CUZK_ASSIGN(const Fr h, evaluate(0, powers));
    expect(h * (x.pow(m) - Fr::one()) == a * b - c, name);
    // In natural order this time.
    CUZK_TRY(domain_->bit_reverse(span(4), stream_));
    CUZK_TRY(domain_->bit_reverse(span(5), stream_));
    CUZK_TRY(domain_->quotient(span(4), span(5), {}, Order::kNatural, stream_));
    folded_differences_kernel<<<blocks(), kThreads, 0, stream_.handle()>>>(
        span(4).data(), span(0).data(), span(3).data(), z.inverse(), m, wrong_.data());
    return expect_none(name + " folded");
  }

  const gpu::Device& device_;
  const gpu::Stream& stream_;
  gpu::Reservation reservation_;
  std::optional<DeviceDomain> domain_;
  std::vector<gpu::DeviceBuffer<Fr>> arrays_;
  gpu::DeviceBuffer<Fr> partial_;
  gpu::DeviceBuffer<unsigned> wrong_;
};

Status check(bool small, unsigned largest) {
  CUZK_ASSIGN(const std::vector<gpu::DeviceInfo> devices, gpu::list_devices());
  CUZK_ASSIGN(gpu::Device device, gpu::Device::open(devices[0], {small ? uint64_t{256} << 20 : 0}));
  CUZK_ASSIGN(gpu::Stream stream, device.make_stream());
  const gpu::ApiCounts before = gpu::api_counts();
  {
    Checker checker(device, stream);
    for (unsigned k = 0; k <= (small ? 12U : 16U); ++k) {
      if (!small || k < 4 || k == 8 || k >= 10) CUZK_TRY(checker.exact(k));
    }
    if (small) CUZK_TRY(checker.large(19, false));
    for (unsigned k = 17; !small && k <= largest; ++k) {
      CUZK_TRY(checker.large(k, device.usage().capacity_bytes >= (uint64_t{7} << k) * sizeof(Fr)));
      std::printf("2^%u checked\n", k);
    }
  }
  expect(gpu::api_counts() == before, "no allocation, no free, no device synchronisation after start-up");
  return stream.synchronize();
}

}  // namespace

int main(int argc, char** argv) {
  bool small = false;
  unsigned largest = 28;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--small") == 0) {
      small = true;
    } else {
      largest = static_cast<unsigned>(std::atoi(argv[i]));
    }
  }
  const Status status = check(small, largest);
  if (!status.ok()) {
    std::printf("%s\n", status.error().describe().c_str());
    return 2;
  }
  std::printf("ntt: %zu wrong\n", failures);
  return failures == 0 ? 0 : 1;
}
