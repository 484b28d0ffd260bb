#include <cuda_runtime.h>

#include <algorithm>

#include "gpu/cuda_check.cuh"
#include "ntt/ntt_cuda.hpp"
#include "ntt/ntt_kernels.cuh"

namespace cuzk {
namespace {

using namespace ntt;

constexpr unsigned kTableThreads = 128;
constexpr unsigned kRoots = 3;
unsigned blocks_for(size_t count, unsigned threads) { return static_cast<unsigned>((count + threads - 1) / threads); }

Fr root_of_unity(unsigned log2_size) {
  Fr root = fr_root_of_unity();
  for (unsigned i = log2_size; i < kFrTwoAdicity; ++i) root = root.square();
  return root;
}

TablePowers powers_of(const Fr& root) {
  TablePowers powers;
  Fr power = root;
  for (Fr& r : powers.root) {
    r = power;
    power = power.square();
  }
  return powers;
}

template <bool kGentlemanSande>
Status launch(const PassArguments& pass, bool generate, const gpu::Stream& stream) {
  const unsigned blocks = pass.log2_size < kTileLog2 ? 1 : 1U << (pass.log2_size - kTileLog2);
  if (generate) {
    pass_kernel<kGentlemanSande, true><<<blocks, kPassThreads, 0, stream.handle()>>>(pass);
  } else {
    pass_kernel<kGentlemanSande, false><<<blocks, kPassThreads, 0, stream.handle()>>>(pass);
  }
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

}  // namespace

DeviceDomain::Sizes DeviceDomain::sizes(const DevicePlan& plan) {
  Sizes sizes{};
  // A small transform's window reads, but does not use, entries of levels that it does not have.
  sizes.levels = 2 * std::max<size_t>(16, size_t{1} << plan.table_levels());
  if (plan.generates()) {
    sizes.low = size_t{1} << kLowExponentBits;
    sizes.high = size_t{1} << (plan.log2_size() - 1 - kLowExponentBits);
  }
  sizes.factors = kMaxLog2Size;
  sizes.roots = 2 * kRoots;
  return sizes;
}

uint64_t DeviceDomain::table_bytes(unsigned log2_size) {
  return gpu::Reservation::bytes_for<Fr>(kKinds * sizes(DevicePlan(log2_size)).total());
}

TwiddleTables DeviceDomain::tables(Kind kind) const {
  const Sizes size = sizes(plan_);
  const bool coset = kind == kCosetForward || kind == kCosetInverse;
  TwiddleTables out{};
  static_assert(sizeof(PreparedTwiddle) == 2 * sizeof(Fr));
  const Fr* const begin = buffer_.data() + kind * size.total();
  out.levels = reinterpret_cast<const PreparedTwiddle*>(begin);
  out.low = begin + size.levels;
  out.high = out.low + size.low;
  out.factors = coset ? out.high + size.high : nullptr;
  out.roots = reinterpret_cast<const PreparedTwiddle*>(out.high + size.high + size.factors);
  return out;
}

Status DeviceDomain::fill(Kind kind, const gpu::Stream& stream) const {
  const Sizes size = sizes(plan_);
  const unsigned k = plan_.log2_size();
  const bool inverse = kind == kInverse || kind == kCosetInverse;
  const bool coset = kind == kCosetForward || kind == kCosetInverse;
  const auto directed = [&](const Fr& x) { return inverse ? x.inverse() : x; };
  const TwiddleTables out = tables(kind);
  const TablePowers powers = powers_of(directed(root_of_unity(k)));

  // Level l of the coset evaluates modulo x^(2^(k-1-l)) -+ w*7^(2^(k-1-l)).
  std::array<Fr, kMaxLog2Size> constants;
  const Fr generator = directed(Fr::from_u64(kFrGenerator));
  std::fill(constants.begin(), constants.end(), Fr::one());
  for (unsigned l = 0; coset && l < k; ++l) constants[l] = generator.pow(uint64_t{1} << (k - 1 - l));
  const Fr root8 = directed(root_of_unity(3));
  const PreparedTwiddle roots[kRoots] = {prepare_twiddle(root8.square()), prepare_twiddle(root8),
                                         prepare_twiddle(root8 * root8.square())};
  // Pageable memory: the calls return when the bytes are taken.
  Fr* const factors = buffer_.data() + kind * size.total() + size.levels + size.low + size.high;
  CUZK_TRY(gpu::copy_bytes_to_device(factors, constants.data(), sizeof constants, stream));
  CUZK_TRY(gpu::copy_bytes_to_device(factors + size.factors, roots, sizeof roots, stream));
  const unsigned entries = static_cast<unsigned>(size.levels / 2);
  level_table_kernel<<<blocks_for(entries, kTableThreads), kTableThreads, 0, stream.handle()>>>(
      powers, factors, k, plan_.table_levels(), entries, const_cast<PreparedTwiddle*>(out.levels));
  CUZK_CUDA_TRY(cudaGetLastError());
  if (!plan_.generates()) return {};
  const Fr last = coset ? generator : Fr::one();
  power_table_kernel<<<blocks_for(size.low, kTableThreads), kTableThreads, 0, stream.handle()>>>(
      powers, last, 0, static_cast<unsigned>(size.low), const_cast<Fr*>(out.low));
  CUZK_CUDA_TRY(cudaGetLastError());
  power_table_kernel<<<blocks_for(size.high, kTableThreads), kTableThreads, 0, stream.handle()>>>(
      powers, Fr::one(), kLowExponentBits, static_cast<unsigned>(size.high), const_cast<Fr*>(out.high));
  CUZK_CUDA_TRY(cudaGetLastError());
  // From here on the factors are those beside generated twiddles, which have the last level's.
  if (coset) {
    for (unsigned l = 0; l < k; ++l) constants[l] = constants[l] * last.inverse();
    CUZK_TRY(gpu::copy_bytes_to_device(factors, constants.data(), sizeof constants, stream));
  }
  return {};
}

Result<DeviceDomain> DeviceDomain::create(unsigned log2_size, gpu::Reservation& memory, const gpu::Stream& stream) {
  CUZK_ASSERT(log2_size <= kMaxLog2Size);
  DeviceDomain domain(log2_size);
  CUZK_ASSIGN(domain.buffer_, memory.allocate<Fr>(kKinds * sizes(domain.plan_).total(), stream));
  for (unsigned kind = 0; kind < kKinds; ++kind) CUZK_TRY(domain.fill(static_cast<Kind>(kind), stream));
  return Result<DeviceDomain>(std::move(domain));
}

Status DeviceDomain::run(Kind kind, std::span<Fr> values, bool finish, bool scale, const gpu::Stream& stream) const {
  CUZK_ASSERT(values.size() == size());
  const bool downwards = kind == kInverse || kind == kCosetInverse;
  const auto passes = plan_.passes();
  for (size_t i = 0; i < passes.size(); ++i) {
    const DevicePass& cut = passes[downwards ? passes.size() - 1 - i : i];
    PassArguments pass{};
    pass.data = values.data();
    pass.tables = tables(kind);
    pass.log2_size = plan_.log2_size();
    pass.first_level = cut.first_level;
    pass.levels = cut.levels;
    pass.trivial = cut.first_level == 0 && cut.levels >= 3 && pass.tables.factors == nullptr;
    pass.reduce = finish && i + 1 == passes.size();
    pass.scale_bits = scale && i + 1 == passes.size() ? plan_.log2_size() : 0;
    const bool generate = cut.first_level >= plan_.table_levels() && plan_.generates();
    CUZK_TRY(downwards ? launch<true>(pass, generate, stream) : launch<false>(pass, generate, stream));
  }
  return {};
}

Status DeviceDomain::forward(std::span<Fr> values, const gpu::Stream& stream) const {
  return run(kForward, values, true, false, stream);
}
Status DeviceDomain::coset_forward(std::span<Fr> values, const gpu::Stream& stream) const {
  return run(kCosetForward, values, true, false, stream);
}
Status DeviceDomain::inverse(std::span<Fr> values, const gpu::Stream& stream) const {
  return run(kInverse, values, true, true, stream);
}
Status DeviceDomain::coset_inverse(std::span<Fr> values, const gpu::Stream& stream) const {
  return run(kCosetInverse, values, true, true, stream);
}

Status DeviceDomain::bit_reverse(std::span<Fr> values, const gpu::Stream& stream) const {
  CUZK_ASSERT(values.size() == size());
  const unsigned k = plan_.log2_size();
  if (k < 2 * kReverseLog2) {
    bit_reverse_small_kernel<<<1, 1U << k, 0, stream.handle()>>>(values.data(), k);
  } else {
    bit_reverse_kernel<<<1U << (k - 2 * kReverseLog2), 1U << (2 * kReverseLog2), 0, stream.handle()>>>(values.data(),
                                                                                                       k);
  }
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

// On the coset x^m - 1 is the constant z = 7^m - 1. With P = a*b modulo x^m - 7^m, which is what the coset's inverse
// makes of the products, h = (P - c)/z: so c needs no transform but the first. The inverse transforms leave their
// factor m in, and the constants are applied with the products and with c.
Status DeviceDomain::quotient(std::span<Fr> a, std::span<Fr> b, std::span<Fr> c, Order order,
                              const gpu::Stream& stream) const {
  for (const std::span<Fr> values : {a, b, c}) {
    if (values.empty()) continue;
    if (order == Order::kNatural) CUZK_TRY(bit_reverse(values, stream));
    CUZK_TRY(run(kInverse, values, false, false, stream));
    if (values.data() == c.data()) continue;
    CUZK_TRY(run(kCosetForward, values, values.data() == a.data(), false, stream));
  }
  const Fr m = Fr::from_u64(size()), z = Fr::from_u64(kFrGenerator).pow(uint64_t{1} << log2_size()) - Fr::one();
  const Fr c_factor = (m * z).inverse(), product_factor = (m.square() * m * z).inverse();
  const unsigned blocks = blocks_for(size(), kPassThreads);
  multiply_kernel<<<blocks, kPassThreads, 0, stream.handle()>>>(a.data(), b.data(), product_factor, size());
  CUZK_CUDA_TRY(cudaGetLastError());
  CUZK_TRY(run(kCosetInverse, a, true, false, stream));
  if (c.empty()) return {};
  subtract_kernel<<<blocks, kPassThreads, 0, stream.handle()>>>(a.data(), c.data(), c_factor, size());
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

}  // namespace cuzk
