// Multi-scalar multiplication, selected sums, fixed-base multiplication; counters: terms a second. The CPU column is
// that of the whole process, so on an idle machine it is the time times the threads.
#include <benchmark/benchmark.h>

#include <map>
#include <vector>

#include "msm/msm.hpp"
#include "msm/msm_test_support.hpp"

namespace cuzk {
namespace {

using msm_test::Distribution;
using msm_test::Points;
using msm_test::Scalars;

const Scalars& scalars(size_t n, Distribution distribution) {
  static std::map<std::pair<size_t, Distribution>, Scalars> made;
  auto [at, fresh] = made.try_emplace({n, distribution});
  if (fresh) at->second = msm_test::make_scalars(n, distribution, n);
  return at->second;
}

template <class C>
std::span<const Affine<C>> points(size_t n) {
  static Points<C> made;
  if (made.size() < n) {
    const FixedBase<C> generator(C::generator(), n);
    made.resize(n);
    generator.multiply(scalars(n, Distribution::kUniform), made);
  }
  return std::span(made).first(n);
}

void finish(benchmark::State& state, size_t n) {
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(n));
}

template <class C, Distribution kDistribution, bool kPortable>
void run_msm(benchmark::State& state) {
  const size_t n = size_t{1} << state.range(0);
  const auto bases = points<C>(n);
  const Scalars& s = scalars(n, kDistribution);
  const msm_test::Arithmetic arithmetic(kPortable);
  for (auto _ : state) benchmark::DoNotOptimize(msm<C>(bases, s));
  finish(state, n);
}

template <class C, bool kPortable>
void run_selected(benchmark::State& state) {
  const size_t n = size_t{1} << state.range(0);
  const auto bases = points<C>(n);
  std::mt19937_64 rng(1);
  BitVector bits(n);
  for (uint64_t& w : bits.words()) w = rng();
  const msm_test::Arithmetic arithmetic(kPortable);
  for (auto _ : state) benchmark::DoNotOptimize(sum_selected<C>(bases, bits));
  finish(state, n);
}

template <class C, bool kPortable>
void run_fixed_base(benchmark::State& state) {
  const size_t n = size_t{1} << state.range(0);
  const Scalars& s = scalars(n, Distribution::kUniform);
  Points<C> out(n);
  const msm_test::Arithmetic arithmetic(kPortable);
  for (auto _ : state) FixedBase<C>(C::generator(), n).multiply(s, out);
  finish(state, n);
}

#define CUZK_TIMES ->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime()
#define CUZK_MSM(distribution, name) \
  BENCHMARK(run_msm<G1Curve, distribution, false>)->Name("msm/g1/" name)->Arg(20) CUZK_TIMES

BENCHMARK(run_msm<G1Curve, Distribution::kUniform, false>)
    ->Name("msm/g1/uniform")
    ->Arg(6)
    ->Arg(10)
    ->Arg(14)
    ->Arg(16)
    ->Arg(18)
    ->Arg(20)
    ->Arg(22) CUZK_TIMES;
CUZK_MSM(Distribution::kBits, "bits");
CUZK_MSM(Distribution::kBytes, "bytes");
CUZK_MSM(Distribution::k64Bit, "64bit");
CUZK_MSM(Distribution::kEqual, "equal");
CUZK_MSM(Distribution::kHalfEqual, "half_equal");
CUZK_MSM(Distribution::kSparse, "sparse");
BENCHMARK(run_msm<G1Curve, Distribution::kUniform, true>)
    ->Name("msm/g1/uniform_scalar_code")
    ->Arg(14)
    ->Arg(18) CUZK_TIMES;
BENCHMARK(run_msm<G2Curve, Distribution::kUniform, false>)
    ->Name("msm/g2/uniform")
    ->Arg(14)
    ->Arg(18)
    ->Arg(20) CUZK_TIMES;
BENCHMARK(run_msm<G2Curve, Distribution::kUniform, true>)->Name("msm/g2/uniform_scalar_code")->Arg(14) CUZK_TIMES;
BENCHMARK(run_selected<G1Curve, false>)->Name("sum_selected/g1")->Arg(20)->Arg(22) CUZK_TIMES;
BENCHMARK(run_selected<G2Curve, false>)->Name("sum_selected/g2")->Arg(20) CUZK_TIMES;
BENCHMARK(run_selected<G1Curve, true>)->Name("sum_selected/g1_scalar_code")->Arg(20) CUZK_TIMES;
BENCHMARK(run_fixed_base<G1Curve, false>)->Name("fixed_base/g1")->Arg(16)->Arg(20)->Arg(22) CUZK_TIMES;
BENCHMARK(run_fixed_base<G2Curve, false>)->Name("fixed_base/g2")->Arg(16)->Arg(20) CUZK_TIMES;
BENCHMARK(run_fixed_base<G1Curve, true>)->Name("fixed_base/g1_scalar_code")->Arg(18) CUZK_TIMES;

}  // namespace
}  // namespace cuzk
