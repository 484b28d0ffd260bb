// Compares the CUDA form with msm() for small sums of every kind, and with known logarithms for large ones. Exit status
// 1 on a difference, 2 where CUDA fails. --small: few and short sums, for runs under compute-sanitizer.
#include <cstring>
#include <type_traits>

#include "msm/msm_test_support.cuh"
#include "msm/msm_test_support.hpp"

namespace {

using namespace cuzk;
using namespace cuzk::msm_cuda_support;

size_t wrong = 0, checked = 0;
void expect(bool equal, const char* group, size_t size, const MsmPlan& plan, const char* what) {
  ++checked;
  if (equal) return;
  ++wrong;
  std::printf("%s, %zu bases, %u bits, %u multiples, %u rounds, %zu entries at a time, %s multiplier, %s: wrong\n",
              group, size, plan.window_bits(), plan.table_multiples(), plan.affine_rounds(), plan.max_entries(),
              plan.multiplier() == MsmMultiplier::kHybrid ? "hybrid" : "integer", what);
}

template <class C>
constexpr MsmGroup kGroup = sizeof(typename C::Field) == sizeof(Fp) ? MsmGroup::kG1 : MsmGroup::kG2;

// Each of these takes another way through the kernels.
constexpr MsmOptions kVariants[] = {
    {},
    {.affine_rounds = 5},
    {.window_bits = 5, .affine_rounds = 0},
    {.window_bits = 7, .table_multiples = 3, .affine_rounds = 2},
    {.window_bits = 8, .table_multiples = 255, .multiprocessors = 1, .affine_rounds = 3},
    {.window_bits = 13, .max_entries = 100, .multiprocessors = 2, .affine_rounds = 1},
    {.window_bits = 4, .table_multiples = 10, .max_entries = 1000, .affine_rounds = 8},
};

template <class C>
void prepare(const MsmPlan& plan, const DeviceArray<Affine<C>>& table, const gpu::Stream& stream) {
  if constexpr (std::is_same_v<C, G1Curve>) {
    if (plan.bases_are_prepared()) require(msm_prepare(table.span(), stream));
  }
}

template <class C>
void compare(const std::vector<Affine<C>>& points, const std::vector<Fr>& scalars, const MsmOptions& options,
             bool poison, const Jacobian<C>& expected, const char* what, const gpu::Stream& stream) {
  const size_t n = points.size();
  const MsmPlan plan = require(MsmPlan::make(kGroup<C>, n, options));
  DeviceArray<Affine<C>> table(plan.table_points());
  if (n > 0) require(cudaMemcpy(table.data(), points.data(), n * sizeof(Affine<C>), cudaMemcpyHostToDevice));
  DeviceArray<Fr> device_scalars(scalars);
  DeviceArray<Xyzz<C>> sums(plan.sums());
  DeviceArray<std::byte> scratch(plan.scratch_bytes());
  if (poison) {
    require(cudaMemset(sums.data(), 0xa5, plan.sums() * sizeof(Xyzz<C>)));
    require(cudaMemset(scratch.data(), 0xa5, plan.scratch_bytes()));
  }
  require(cudaDeviceSynchronize());  // the copies and fills above are not ordered with the stream
  require(msm_make_table<C>(plan, table.span(), stream));
  prepare(plan, table, stream);
  const auto result = run_msm<C>(plan, table.span(), device_scalars.span(), sums.span(), scratch.span(), stream);
  expect(result == expected, C::kName, n, plan, what);
}

template <class C>
void small_sums(bool small, const gpu::Stream& stream) {
  const std::vector<size_t> sizes =
      small ? std::vector<size_t>{0, 1, 130}
            : std::vector<size_t>{0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 4097, size_t{1} << 14, size_t{1} << 16};
  size_t variant = 0;
  for (const size_t n : sizes) {
    // All variants where sums are short; one after the other where they are long.
    const auto check = [&](const std::vector<Affine<C>>& points, const std::vector<Fr>& scalars, const char* what) {
      const Jacobian<C> expected = msm<C>(points, scalars);
      const size_t count = n <= 257 && !small ? std::size(kVariants) : 1;
      for (size_t i = 0; i < count; ++i, ++variant) {
        MsmOptions options = kVariants[variant % std::size(kVariants)];
        // One of both multipliers by chance, so that either meets all kinds of sums.
        const uint64_t chance = mix(variant);
        options.multiplier = chance & 1 ? MsmMultiplier::kHybrid : MsmMultiplier::kInteger;
        options.prepared = (chance & 2) != 0;
        if (small) options.affine_rounds = 2;
        compare<C>(points, scalars, options, !small, expected, what, stream);
      }
    };
    const auto known = msm_test::known_points<C>(n, n);
    for (const auto distribution : msm_test::kDistributions) {
      if (small && (n < 130 || distribution != msm_test::Distribution::kHalfEqual)) continue;
      check(known.points, msm_test::make_scalars(n, distribution, n), msm_test::name(distribution));
    }
    for (const auto bases : msm_test::kBases) {
      if (small && n < 130 && bases != msm_test::Bases::kEqual) continue;
      const auto exceptional = msm_test::exceptional_points<C>(n, bases, n);
      check(exceptional.points, msm_test::make_scalars(n, msm_test::Distribution::kUniform, n + 1), "exceptional");
      if (small) continue;
      check(exceptional.points, msm_test::make_scalars(n, msm_test::Distribution::kBits, n + 1), "exceptional, bits");
    }
  }
}

// Bases in host memory, in parts of which the last is short.
template <class C>
void streamed_sum(size_t n, size_t part, MsmMultiplier multiplier, const gpu::Device& device, const gpu::Stream& stream,
                  const gpu::Stream& copies) {
  const auto known = msm_test::known_points<C>(n, n);
  const auto scalars = msm_test::make_scalars(n, msm_test::Distribution::kHalfEqual, n);
  const MsmPlan plan = require(MsmPlan::make(kGroup<C>, part, {.total_bases = n, .multiplier = multiplier}));
  const auto pinned = require(device.allocate_pinned<Affine<C>>(n));
  std::copy(known.points.begin(), known.points.end(), pinned.data());
  DeviceArray<Affine<C>> buffers(2 * part);
  DeviceArray<Fr> device_scalars(scalars);
  DeviceArray<Xyzz<C>> sums(plan.sums());
  DeviceArray<std::byte> scratch(plan.scratch_bytes());
  const auto event = [&] { return require(device.make_event()); };
  MsmStaging<C> staging{
      {buffers.first(part), buffers.span().subspan(part)}, copies, {event(), event()}, {event(), event()}};
  require(cudaDeviceSynchronize());
  require(msm_enqueue_streamed<C>(plan, pinned.span(), device_scalars.span(), sums.span(), scratch.span(), staging,
                                  stream));
  std::vector<Xyzz<C>> host(plan.sums());
  require(gpu::copy_to_host<Xyzz<C>>(std::span(host), sums.span(), stream));
  require(stream.synchronize());
  expect(msm_finish<C>(plan, host) == msm<C>(known.points, scalars), C::kName, n, plan, "streamed");
}

// Several bit vectors at once, against sum_selected() one by one.
template <class C>
void selections(size_t n, unsigned witnesses, const MsmOptions& options, const gpu::Stream& stream) {
  const auto known = msm_test::exceptional_points<C>(n, msm_test::Bases::kInfinities, n);
  std::mt19937_64 rng(n + witnesses);
  std::vector<BitVector> vectors;
  std::vector<uint64_t> bits;
  for (unsigned k = 0; k < witnesses; ++k) {
    BitVector v(n);
    for (size_t i = 0; i < n; ++i) {
      if (k == 1 || (k > 1 && rng() % k == 0)) v.set(i);  // none, all, half, a third ...
    }
    bits.insert(bits.end(), v.words().begin(), v.words().end());
    vectors.push_back(std::move(v));
  }
  const MsmPlan plan = require(MsmPlan::make_selection(kGroup<C>, n, witnesses, options));
  DeviceArray<Affine<C>> bases(known.points);
  DeviceArray<uint64_t> device_bits(bits);
  DeviceArray<Xyzz<C>> sums(plan.sums());
  DeviceArray<std::byte> scratch(plan.scratch_bytes());
  require(cudaDeviceSynchronize());
  require(selection_enqueue<C>(plan, bases.span(), device_bits.span(), sums.span(), scratch.span(), stream));
  std::vector<Xyzz<C>> host(plan.sums());
  require(gpu::copy_to_host<Xyzz<C>>(std::span(host), sums.span(), stream));
  require(stream.synchronize());
  for (unsigned k = 0; k < witnesses; ++k) {
    expect(selection_finish<C>(plan, host, k) == sum_selected<C>(known.points, vectors[k]), C::kName, n, plan,
           "selection");
  }
}

template <class C>
void all_selections(bool small, const gpu::Stream& stream) {
  for (const unsigned witnesses : {1u, 2u, 3u, 10u, 16u}) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{64}, size_t{65}, size_t{1000}, size_t{70000}}) {
      if (small && (n > 65 || n % 64 != 1 || witnesses != 3)) continue;
      selections<C>(n, witnesses, {}, stream);
      if (n == 1000) selections<C>(n, witnesses, {.max_entries = 301, .multiprocessors = 1}, stream);
    }
  }
}

template <class C>
void large_sums(unsigned log2_size, std::span<const Scalars> kinds, const MsmOptions& options,
                const gpu::Stream& stream) {
  const size_t n = (size_t{1} << log2_size) - 3;
  const MsmPlan plan = require(MsmPlan::make(kGroup<C>, n, options));
  DeviceArray<Affine<C>> table(plan.table_points());
  DeviceArray<Fr> scalars(n);
  DeviceArray<Xyzz<C>> sums(plan.sums());
  DeviceArray<std::byte> scratch(plan.scratch_bytes());
  make_bases<C>(table.first(n), stream);
  require(msm_make_table<C>(plan, table.span(), stream));
  prepare(plan, table, stream);
  for (const Scalars kind : kinds) {
    make_scalars(scalars.span(), kind, stream);
    const auto result = run_msm<C>(plan, table.span(), scalars.span(), sums.span(), scratch.span(), stream);
    expect(result == expected_sum<C>(n, kind), C::kName, n, plan, name(kind));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const auto devices = require(gpu::list_devices());
  const auto device = require(gpu::Device::open(devices.at(0), {.bytes = size_t{1} << 20}));
  require(device.make_current());
  const auto stream = require(device.make_stream());
  small_sums<G1Curve>(small, stream);
  small_sums<G2Curve>(small, stream);
  const auto copies = require(device.make_stream());
  using enum MsmMultiplier;
  streamed_sum<G1Curve>(1000, small ? 300 : 16, kInteger, device, stream, copies);
  streamed_sum<G1Curve>(small ? 1000 : 70000, small ? 900 : 30000, kHybrid, device, stream, copies);
  streamed_sum<G2Curve>(small ? 200 : 10000, small ? 64 : 3000, kInteger, device, stream, copies);
  all_selections<G1Curve>(small, stream);
  all_selections<G2Curve>(small, stream);
  if (!small) {
    constexpr Scalars kUniform[] = {Scalars::kUniform, Scalars::kHalfEqual};
    large_sums<G1Curve>(18, kAllScalars, {.max_entries = size_t{1} << 22, .multiplier = kHybrid}, stream);
    large_sums<G1Curve>(20, kAllScalars, {.multiplier = kHybrid}, stream);
    large_sums<G1Curve>(20, kUniform, {.table_multiples = 255, .multiplier = kHybrid, .prepared = true}, stream);
    large_sums<G1Curve>(24, kUniform, {.multiplier = kHybrid}, stream);
    large_sums<G1Curve>(18, kAllScalars, {}, stream);
    large_sums<G1Curve>(20, kAllScalars, {}, stream);
    large_sums<G1Curve>(20, kUniform, {.table_multiples = 255}, stream);
    large_sums<G1Curve>(22, kUniform, {.max_entries = size_t{1} << 20}, stream);
    large_sums<G1Curve>(22, kUniform, {.table_multiples = 4}, stream);
    large_sums<G1Curve>(24, kUniform, {}, stream);
    large_sums<G2Curve>(18, kAllScalars, {}, stream);
    large_sums<G2Curve>(20, kUniform, {.table_multiples = 255}, stream);
    large_sums<G2Curve>(21, kUniform, {}, stream);
  }
  std::printf("%zu of %zu sums are wrong\n", wrong, checked);
  return wrong == 0 ? 0 : 1;
}
