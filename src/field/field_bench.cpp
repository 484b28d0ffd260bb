// Times of field operations: "chain" feeds each result to the next operation, "many" has eight in flight.
#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "field/batch_inverse.hpp"
#include "field/field_test_support.hpp"
#include "field/ifma_lanes.hpp"
#include "field/sqrt.hpp"

namespace cuzk {
namespace {

template <class F, class Op>
void chain(benchmark::State& state, Op op) {
  std::mt19937_64 rng(1);
  F x = field_test::random<F>(rng);
  const F y = field_test::random<F>(rng);
  for (auto _ : state) {
    x = op(x, y);
    benchmark::DoNotOptimize(x);
  }
}

template <class F, class Op>
void many(benchmark::State& state, Op op) {
  std::mt19937_64 rng(2);
  std::array<F, 8> x, y;
  for (size_t i = 0; i < 8; ++i) {
    x[i] = field_test::random<F>(rng);
    y[i] = field_test::random<F>(rng);
  }
  for (auto _ : state) {
    for (size_t i = 0; i < 8; ++i) x[i] = op(x[i], y[i]);
    benchmark::DoNotOptimize(x);
  }
  state.SetItemsProcessed(8 * state.iterations());
}

template <class F>
void register_field(const std::string& name) {
  const auto add = [&](const std::string& row, auto function) {
    benchmark::RegisterBenchmark((name + "/" + row).c_str(), function);
  };
  static constexpr auto kMul = [](const F& a, const F& b) { return a * b; };
  static constexpr auto kSquare = [](const F& a, const F&) { return a.square(); };
  static constexpr auto kAdd = [](const F& a, const F& b) { return a + b; };
  static constexpr auto kSubtract = [](const F& a, const F& b) { return a - b; };
  static constexpr auto kInverse = [](const F& a, const F&) { return a.inverse(); };
  add("mul_chain", [](benchmark::State& s) { chain<F>(s, kMul); });
  add("mul_many", [](benchmark::State& s) { many<F>(s, kMul); });
  add("square_chain", [](benchmark::State& s) { chain<F>(s, kSquare); });
  add("square_many", [](benchmark::State& s) { many<F>(s, kSquare); });
  add("add_many", [](benchmark::State& s) { many<F>(s, kAdd); });
  add("subtract_many", [](benchmark::State& s) { many<F>(s, kSubtract); });
  add("inverse", [](benchmark::State& s) { chain<F>(s, kInverse); });
  add("batch_inverse_1024", [](benchmark::State& s) {
    std::mt19937_64 rng(3);
    std::vector<F> values(1024), scratch(1024);
    for (auto& v : values) v = field_test::random<F>(rng);
    for (auto _ : s) batch_inverse<F>(values, scratch);
    s.SetItemsProcessed(1024 * s.iterations());
  });
}

#if CUZK_X86_ASM
template <class F, size_t N>
CUZK_IFMA_TARGET void lanes_mul(benchmark::State& state) {
  alignas(64) static constexpr auto kModulus = ifma::make_modulus<N>(F::kModulus);
  auto x = ifma::broadcast(ifma::to_limbs52<N>(F::kRSquared));
  const auto y = x;
  for (auto _ : state) {
    x = ifma::mul<N>(x, y, kModulus);
    benchmark::DoNotOptimize(x);
  }
  state.SetItemsProcessed(8 * state.iterations());
}
template <class F, size_t N>
CUZK_IFMA_TARGET void lanes_square(benchmark::State& state) {
  alignas(64) static constexpr auto kModulus = ifma::make_modulus<N>(F::kModulus);
  auto x = ifma::broadcast(ifma::to_limbs52<N>(F::kRSquared));
  for (auto _ : state) {
    x = ifma::sqr<N>(x, kModulus);
    benchmark::DoNotOptimize(x);
  }
  state.SetItemsProcessed(8 * state.iterations());
}
#endif

const bool kRegistered = [] {
  register_field<Fr>("Fr");
  register_field<Fp>("Fp");
  register_field<Fp2>("Fp2");
  register_field<Fp6>("Fp6");
  register_field<Fp12>("Fp12");
  benchmark::RegisterBenchmark("Fp12/cyclotomic_square", [](benchmark::State& s) {
    chain<Fp12>(s, [](const Fp12& a, const Fp12&) { return a.cyclotomic_square(); });
  });
  benchmark::RegisterBenchmark(
      "Fp/sqrt", [](benchmark::State& s) { chain<Fp>(s, [](const Fp& a, const Fp&) { return *sqrt(a.square()); }); });
  benchmark::RegisterBenchmark("Fp2/sqrt", [](benchmark::State& s) {
    chain<Fp2>(s, [](const Fp2& a, const Fp2&) { return *sqrt(a.square()); });
  });
#if CUZK_X86_ASM
  if (cpu_features().avx512_ifma) {
    benchmark::RegisterBenchmark("Fp_lanes/mul", lanes_mul<Fp, 8>);
    benchmark::RegisterBenchmark("Fp_lanes/square", lanes_square<Fp, 8>);
    benchmark::RegisterBenchmark("Fr_lanes/mul", lanes_mul<Fr, 5>);
    benchmark::RegisterBenchmark("Fr_lanes/square", lanes_square<Fr, 5>);
  }
#endif
  return true;
}();

}  // namespace
}  // namespace cuzk
