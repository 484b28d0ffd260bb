// Field operations next to blst's. Rows are the time of one operation: "chain" rows feed each result to the next operation,
// the others have eight independent operations in flight. Every row first checks that both sides compute the same.
#include <benchmark/benchmark.h>
#include <blst.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "field/fp12.hpp"
#include "field/fr.hpp"
#include "field/ifma_lanes.hpp"
#include "field/sqrt.hpp"

namespace cuzk {
namespace {

constexpr size_t kWidth = 8;

// Elements without structure, by powers of a small one.
template <class F>
F element(uint64_t seed);
template <>
Fr element<Fr>(uint64_t seed) { return Fr::from_u64(seed + 3).pow(uint64_t{0x123456789abcdef}); }
template <>
Fp element<Fp>(uint64_t seed) { return Fp::from_u64(seed + 3).pow(uint64_t{0x123456789abcdef}); }
template <>
Fp2 element<Fp2>(uint64_t seed) { return {element<Fp>(2 * seed), element<Fp>(2 * seed + 1)}; }
template <>
Fp12 element<Fp12>(uint64_t seed) {
  const auto c = [&](uint64_t i) { return element<Fp2>(6 * seed + i); };
  return {{c(0), c(1), c(2)}, {c(3), c(4), c(5)}};
}
// A value of the subgroup where cyclotomic squaring holds.
Fp12 cyclotomic(uint64_t seed) {
  const Fp12 x = element<Fp12>(seed);
  const Fp12 y = x.conjugate() * x.inverse();
  return y.frobenius(2) * y;
}

// ours(a, b) returns an F; theirs(out, a, b) works on pointers to B.
template <class F, class B, class Ours, class Theirs>
void rows(const std::string& name, bool chain, Ours ours, Theirs theirs, F (*make)(uint64_t) = element<F>) {
  std::array<F, kWidth> a, b;
  for (size_t i = 0; i < kWidth; ++i) {
    a[i] = make(2 * i);
    b[i] = make(2 * i + 1);
    B expected, x = std::bit_cast<B>(a[i]), y = std::bit_cast<B>(b[i]);
    theirs(&expected, &x, &y);
    if (!(ours(a[i], b[i]) == std::bit_cast<F>(expected))) {
      std::fprintf(stderr, "%s: different results\n", name.c_str());
      std::exit(1);
    }
  }
  benchmark::RegisterBenchmark(("cuzk/" + name).c_str(), [=](benchmark::State& state) {
    auto x = a;
    const auto y = b;
    for (auto _ : state) {
      if (chain) {
        x[0] = ours(x[0], y[0]);
        benchmark::DoNotOptimize(x[0]);
      } else {
        for (size_t i = 0; i < kWidth; ++i) x[i] = ours(x[i], y[i]);
        benchmark::DoNotOptimize(x);
      }
    }
    state.counters["operations"] = chain ? 1 : kWidth;
  });
  benchmark::RegisterBenchmark(("blst/" + name).c_str(), [=](benchmark::State& state) {
    auto x = std::bit_cast<std::array<B, kWidth>>(a);
    const auto y = std::bit_cast<std::array<B, kWidth>>(b);
    for (auto _ : state) {
      if (chain) {
        theirs(&x[0], &x[0], &y[0]);
        benchmark::DoNotOptimize(x[0]);
      } else {
        for (size_t i = 0; i < kWidth; ++i) theirs(&x[i], &x[i], &y[i]);
        benchmark::DoNotOptimize(x);
      }
    }
    state.counters["operations"] = chain ? 1 : kWidth;
  });
}

#define CUZK_BINARY(expression) [](const auto& a, const auto& b) { return expression; }
#define CUZK_UNARY(expression) [](const auto& a, const auto&) { return expression; }
#define BLST_BINARY(function) [](auto* out, const auto* a, const auto* b) { function(out, a, b); }
#define BLST_UNARY(function) [](auto* out, const auto* a, const auto*) { function(out, a); }

#if CUZK_X86_ASM
alignas(64) constexpr auto kLanesModulus = ifma::make_modulus<8>(Fp::kModulus);

// Two products of eight lanes in flight; their values do not matter to their time.
CUZK_IFMA_TARGET void multiply_lanes(benchmark::State& state) {
  auto x = ifma::broadcast(ifma::to_limbs52<8>(element<Fp>(1).montgomery())), y = x, z = x;
  for (auto _ : state) {
    x = ifma::mul<8>(x, z, kLanesModulus);
    y = ifma::mul<8>(y, z, kLanesModulus);
    benchmark::DoNotOptimize(x);
    benchmark::DoNotOptimize(y);
  }
  state.counters["operations"] = 16;
}
#endif

const bool kRegistered = [] {
  rows<Fr, blst_fr>("fr_mul", false, CUZK_BINARY(a * b), BLST_BINARY(blst_fr_mul));
  rows<Fr, blst_fr>("fr_mul_chain", true, CUZK_BINARY(a * b), BLST_BINARY(blst_fr_mul));
  rows<Fr, blst_fr>("fr_sqr", false, CUZK_UNARY(a.square()), BLST_UNARY(blst_fr_sqr));
  rows<Fr, blst_fr>("fr_add", false, CUZK_BINARY(a + b), BLST_BINARY(blst_fr_add));
  rows<Fr, blst_fr>("fr_inverse", true, CUZK_UNARY(a.inverse()), BLST_UNARY(blst_fr_eucl_inverse));
  rows<Fp, blst_fp>("fp_mul", false, CUZK_BINARY(a * b), BLST_BINARY(blst_fp_mul));
  rows<Fp, blst_fp>("fp_mul_chain", true, CUZK_BINARY(a * b), BLST_BINARY(blst_fp_mul));
  rows<Fp, blst_fp>("fp_sqr", false, CUZK_UNARY(a.square()), BLST_UNARY(blst_fp_sqr));
  rows<Fp, blst_fp>("fp_sqr_chain", true, CUZK_UNARY(a.square()), BLST_UNARY(blst_fp_sqr));
  rows<Fp, blst_fp>("fp_add", false, CUZK_BINARY(a + b), BLST_BINARY(blst_fp_add));
  rows<Fp, blst_fp>("fp_sub", false, CUZK_BINARY(a - b), BLST_BINARY(blst_fp_sub));
  rows<Fp, blst_fp>("fp_inverse", true, CUZK_UNARY(a.inverse()), BLST_UNARY(blst_fp_eucl_inverse));
  rows<Fp, blst_fp>(
      "fp_sqrt", true, CUZK_UNARY(sqrt(a.square()).value().square()),
      [](auto* out, const auto* a, const auto*) {
        blst_fp_sqr(out, a);
        blst_fp_sqrt(out, out);
        blst_fp_sqr(out, out);
      });
  rows<Fp2, blst_fp2>("fp2_mul", false, CUZK_BINARY(a * b), BLST_BINARY(blst_fp2_mul));
  rows<Fp2, blst_fp2>("fp2_mul_chain", true, CUZK_BINARY(a * b), BLST_BINARY(blst_fp2_mul));
  rows<Fp2, blst_fp2>("fp2_sqr", false, CUZK_UNARY(a.square()), BLST_UNARY(blst_fp2_sqr));
  rows<Fp2, blst_fp2>("fp2_add", false, CUZK_BINARY(a + b), BLST_BINARY(blst_fp2_add));
  rows<Fp2, blst_fp2>("fp2_inverse", true, CUZK_UNARY(a.inverse()), BLST_UNARY(blst_fp2_eucl_inverse));
  rows<Fp12, blst_fp12>("fp12_mul", true, CUZK_BINARY(a * b), BLST_BINARY(blst_fp12_mul));
  rows<Fp12, blst_fp12>("fp12_sqr", true, CUZK_UNARY(a.square()), BLST_UNARY(blst_fp12_sqr));
  rows<Fp12, blst_fp12>("fp12_cyclotomic_sqr", true, CUZK_UNARY(a.cyclotomic_square()),
                        BLST_UNARY(blst_fp12_cyclotomic_sqr), cyclotomic);
  rows<Fp12, blst_fp12>("fp12_inverse", true, CUZK_UNARY(a.inverse()), BLST_UNARY(blst_fp12_inverse));
#if CUZK_X86_ASM
  if (cpu_features().avx512_ifma) {
    benchmark::RegisterBenchmark("cuzk/fp_mul_eight_lanes", multiply_lanes);
    benchmark::RegisterBenchmark("blst/fp_mul_eight_lanes", [](benchmark::State& state) {
      blst_fp x[kWidth], y = std::bit_cast<blst_fp>(element<Fp>(40));
      for (size_t i = 0; i < kWidth; ++i) x[i] = std::bit_cast<blst_fp>(element<Fp>(i));
      for (auto _ : state) {
        for (auto& value : x) blst_fp_mul(&value, &value, &y);
        benchmark::DoNotOptimize(x);
      }
      state.counters["operations"] = kWidth;
    });
  }
#endif
  return true;
}();

}  // namespace
}  // namespace cuzk
