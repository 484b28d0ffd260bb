// Multi-scalar multiplication next to blst's, in one process and on the same threads: each pair of rows is ours, then
// blst's, on the same operands, and both results are compared. blst_p1s_mult_pippenger runs on one thread; on several,
// each takes an equal part of the points.
// Built only where CUZK_BLST_DIR names a built blst (its bindings/blst.h and libblst.a).
#include <benchmark/benchmark.h>
#include <blst.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "msm/msm.hpp"
#include "msm/msm_test_support.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

constexpr size_t kLargest = size_t{1} << 22;

struct Blst1 {
  using Curve = G1Curve;
  using Affine = blst_p1_affine;
  using Point = blst_p1;
  static constexpr auto scratch_sizeof = blst_p1s_mult_pippenger_scratch_sizeof;
  static constexpr auto mult = blst_p1s_mult_pippenger;
  static constexpr auto add = blst_p1_add_or_double;
};
struct Blst2 {
  using Curve = G2Curve;
  using Affine = blst_p2_affine;
  using Point = blst_p2;
  static constexpr auto scratch_sizeof = blst_p2s_mult_pippenger_scratch_sizeof;
  static constexpr auto mult = blst_p2s_mult_pippenger;
  static constexpr auto add = blst_p2_add_or_double;
};

const msm_test::Scalars& scalars() {
  static const msm_test::Scalars made = msm_test::make_scalars(kLargest, msm_test::Distribution::kUniform, 1);
  return made;
}

template <class C>
std::span<const Affine<C>> points(size_t n) {
  static msm_test::Points<C> made;
  if (made.size() < n) {
    made.resize(n);
    FixedBase<C>(C::generator(), n).multiply(std::span(scalars()).last(n), made);
  }
  return std::span(made).first(n);
}

template <class B>
Jacobian<typename B::Curve> blst_msm(size_t n, const std::vector<uint8_t>& bytes, size_t threads) {
  const auto bases = points<typename B::Curve>(n);
  std::vector<typename B::Point> sums(threads);
  auto part = [&](size_t t) {
    const size_t begin = n * t / threads, end = n * (t + 1) / threads;
    std::vector<uint64_t> scratch(B::scratch_sizeof(end - begin) / 8);
    const auto* first = reinterpret_cast<const typename B::Affine*>(bases.data() + begin);
    const typename B::Affine* point_list[2] = {first, nullptr};
    const byte* scalar_list[2] = {bytes.data() + 32 * begin, nullptr};
    B::mult(&sums[t], point_list, end - begin, scalar_list, 255, scratch.data());
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < threads; ++t) others.emplace_back(part, t);
  part(0);
  for (auto& t : others) t.join();
  for (size_t t = 1; t < threads; ++t) B::add(&sums[0], &sums[0], &sums[t]);
  return std::bit_cast<Jacobian<typename B::Curve>>(sums[0]);
}

template <class B>
void pair(const char* group, unsigned log2_size, size_t threads) {
  using C = typename B::Curve;
  const std::string suffix =
      std::string(group) + "_msm/2^" + std::to_string(log2_size) + "/" + std::to_string(threads) + "_threads";
  auto configure = [](benchmark::internal::Benchmark* b) {
    b->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
  };
  const size_t n = size_t{1} << log2_size;
  configure(benchmark::RegisterBenchmark(("cuzk/" + suffix).c_str(), [=](benchmark::State& state) {
    const auto bases = points<C>(n);
    const size_t before = parallel_threads();
    set_parallel_threads(threads);
    for (auto _ : state) benchmark::DoNotOptimize(msm<C>(bases, std::span(scalars()).first(n)));
    set_parallel_threads(before);
  }));
  configure(benchmark::RegisterBenchmark(("blst/" + suffix).c_str(), [=](benchmark::State& state) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < n; ++i) {
      const auto le = scalars()[i].to_bytes_le();
      bytes.insert(bytes.end(), le.begin(), le.end());
    }
    Jacobian<C> sum;
    for (auto _ : state) benchmark::DoNotOptimize(sum = blst_msm<B>(n, bytes, threads));
    if (!(sum == msm<C>(points<C>(n), std::span(scalars()).first(n)))) state.SkipWithError("different results");
  }));
}

const bool registered = [] {
  for (const size_t threads : {size_t{1}, size_t{2}}) {
    for (const unsigned k : {10u, 14u, 18u, 20u, 22u}) pair<Blst1>("g1", k, threads);
    for (const unsigned k : {14u, 18u}) pair<Blst2>("g2", k, threads);
  }
  return true;
}();

}  // namespace
}  // namespace cuzk
