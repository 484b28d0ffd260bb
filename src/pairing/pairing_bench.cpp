#include <benchmark/benchmark.h>

#include <vector>

#include "pairing/pairing.hpp"

namespace cuzk {
namespace {

G1Affine some_g1() { return G1Jacobian::from_affine(G1Curve::generator()).dbl().to_affine(); }
G2Affine some_g2() { return G2Jacobian::from_affine(G2Curve::generator()).dbl().to_affine(); }

void full_pairing(benchmark::State& state) {
  const auto p = some_g1();
  const auto q = some_g2();
  for (auto _ : state) benchmark::DoNotOptimize(pairing(p, q));
}
void prepare(benchmark::State& state) {
  const auto q = some_g2();
  for (auto _ : state) benchmark::DoNotOptimize(G2Prepared(q));
}
void miller(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const std::vector<G1Affine> p(count, some_g1());
  const std::vector<G2Prepared> q(count, G2Prepared(some_g2()));
  for (auto _ : state) benchmark::DoNotOptimize(miller_loop(p, q));
}
void final_exp(benchmark::State& state) {
  const std::vector<G1Affine> p(1, some_g1());
  const std::vector<G2Prepared> q(1, G2Prepared(some_g2()));
  const Fp12 f = miller_loop(p, q);
  for (auto _ : state) benchmark::DoNotOptimize(final_exponentiation(f));
}
// What one Groth16 verification costs beyond the sum over the inputs: one point of G2 is the proof's, two are the
// key's.
void groth16_core(benchmark::State& state) {
  const std::vector<G1Affine> p(3, some_g1());
  const G2Prepared gamma(some_g2()), delta(some_g2());
  const Fp12 expected = Fp12::one();
  for (auto _ : state) {
    const G2Prepared b(some_g2());
    const G2Prepared* q[3] = {&b, &gamma, &delta};
    benchmark::DoNotOptimize(pairing_product_is(p, q, expected));
  }
}

BENCHMARK(full_pairing)->Unit(benchmark::kMicrosecond);
BENCHMARK(prepare)->Unit(benchmark::kMicrosecond);
BENCHMARK(miller)->Arg(1)->Arg(3)->Unit(benchmark::kMicrosecond);
BENCHMARK(final_exp)->Unit(benchmark::kMicrosecond);
BENCHMARK(groth16_core)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cuzk
