// Transforms and the quotient stage; counters: elements a second.
#include <benchmark/benchmark.h>

#include <vector>

#include "ntt/ntt.hpp"
#include "ntt/quotient.hpp"

namespace cuzk {
namespace {

std::vector<Fr> values(size_t count, uint64_t seed) {
  std::vector<Fr> out(count);
  const Fr step = Fr::from_u64(seed).inverse();
  Fr v = step;
  for (Fr& x : out) {
    x = v;
    v = v * step + step;
  }
  return out;
}

template <void (Domain::*kTransform)(std::span<Fr>) const, ntt::Arithmetic kArithmetic>
void transform(benchmark::State& state) {
  const Domain domain(static_cast<unsigned>(state.range(0)), kArithmetic);
  std::vector<Fr> x = values(domain.size(), 3);
  for (auto _ : state) (domain.*kTransform)(x);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(domain.size()));
}

template <ntt::Arithmetic kArithmetic>
void quotient(benchmark::State& state) {
  const Domain domain(static_cast<unsigned>(state.range(0)), kArithmetic);
  std::vector<Fr> a = values(domain.size(), 3), b = values(domain.size(), 5), c = values(domain.size(), 7);
  for (auto _ : state) compute_h(domain, a, b, c);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(domain.size()));
}

constexpr auto kFastest = ntt::Arithmetic::kFastest;
constexpr auto kPortable = ntt::Arithmetic::kPortable;
#define CUZK_SIZES \
  ->Arg(12)->Arg(16)->Arg(20)->Arg(22)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime()
BENCHMARK(transform<&Domain::forward, kFastest>)->Name("ntt/forward") CUZK_SIZES;
BENCHMARK(transform<&Domain::inverse, kFastest>)->Name("ntt/inverse") CUZK_SIZES;
BENCHMARK(transform<&Domain::coset_forward, kFastest>)->Name("ntt/coset_forward") CUZK_SIZES;
BENCHMARK(transform<&Domain::coset_inverse, kFastest>)->Name("ntt/coset_inverse") CUZK_SIZES;
BENCHMARK(quotient<kFastest>)->Name("ntt/quotient") CUZK_SIZES;
BENCHMARK(transform<&Domain::forward, kPortable>)->Name("ntt/portable/forward") CUZK_SIZES;
BENCHMARK(quotient<kPortable>)->Name("ntt/portable/quotient") CUZK_SIZES;

}  // namespace
}  // namespace cuzk
