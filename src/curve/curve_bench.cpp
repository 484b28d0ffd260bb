#include <benchmark/benchmark.h>

#include <vector>

#include "curve/check.hpp"
#include "curve/encoding.hpp"
#include "curve/mul_secret.hpp"

namespace cuzk {
namespace {

template <class C>
std::vector<Affine<C>> some_points(size_t n) {
  std::vector<Jacobian<C>> points(n);
  auto p = Jacobian<C>::from_affine(C::generator());
  for (auto& out : points) out = p = p.dbl() + C::generator();
  std::vector<Affine<C>> out(n);
  batch_to_affine<C>(std::span<const Jacobian<C>>(points), std::span<Affine<C>>(out));
  return out;
}

// Runs op(i) for i in turn below n, so that successive calls have different operands.
template <class Op>
void each(benchmark::State& state, size_t n, Op op) {
  size_t i = 0;
  for (auto _ : state) {
    op(i);
    i = i + 1 == n ? 0 : i + 1;
  }
}

template <class C>
void jacobian_double(benchmark::State& state) {
  auto p = Jacobian<C>::from_affine(C::generator());
  for (auto _ : state) p = p.dbl();
  benchmark::DoNotOptimize(p);
}
template <class C>
void jacobian_add(benchmark::State& state) {
  auto p = Jacobian<C>::from_affine(C::generator()).dbl();
  const auto q = p.dbl();
  for (auto _ : state) p = p + q;
  benchmark::DoNotOptimize(p);
}
template <class C>
void jacobian_add_affine(benchmark::State& state) {
  const auto points = some_points<C>(64);
  auto p = Jacobian<C>::from_affine(C::generator());
  each(state, 64, [&](size_t i) { p = p + points[i]; });
  benchmark::DoNotOptimize(p);
}
template <class C>
void xyzz_add_affine(benchmark::State& state) {
  const auto points = some_points<C>(64);
  auto p = Xyzz<C>::infinity();
  each(state, 64, [&](size_t i) { p.add(points[i]); });
  benchmark::DoNotOptimize(p);
}
template <class C>
void multiply(benchmark::State& state) {
  const auto p = Jacobian<C>::from_affine(C::generator()).dbl();
  const Fr k = -Fr::from_u64(3).inverse();
  for (auto _ : state) benchmark::DoNotOptimize(p.mul(k));
}
template <class C>
void multiply_secret(benchmark::State& state) {
  const Fr k = -Fr::from_u64(3).inverse();
  for (auto _ : state) benchmark::DoNotOptimize(mul_secret(C::generator(), k));
}
template <class C>
void subgroup_check(benchmark::State& state) {
  const auto points = some_points<C>(16);
  each(state, 16, [&](size_t i) { benchmark::DoNotOptimize(is_in_subgroup(points[i])); });
}
template <class C>
void decompress_on_curve(benchmark::State& state) {
  const auto points = some_points<C>(16);
  std::vector<decltype(compress(points[0]))> bytes;
  for (const auto& p : points) bytes.push_back(compress(p));
  Affine<C> out;
  each(state, 16, [&](size_t i) {
    benchmark::DoNotOptimize(read_compressed(bytes[i], PointCheck::kOnCurve, out));
    benchmark::DoNotOptimize(out);
  });
}
template <class C>
void decode_uncompressed_on_curve(benchmark::State& state) {
  const auto points = some_points<C>(4096);
  std::vector<decltype(encode_uncompressed(points[0]))> bytes;
  for (const auto& p : points) bytes.push_back(encode_uncompressed(p));
  Affine<C> out;
  each(state, 4096, [&](size_t i) {
    benchmark::DoNotOptimize(read_uncompressed(bytes[i], PointCheck::kOnCurve, out));
    benchmark::DoNotOptimize(out);
  });
}
template <class C>
void batch_to_affine_1024(benchmark::State& state) {
  std::vector<Jacobian<C>> points(1024, Jacobian<C>::from_affine(C::generator()).dbl());
  std::vector<Affine<C>> out(points.size());
  for (auto _ : state) batch_to_affine<C>(std::span<const Jacobian<C>>(points), std::span<Affine<C>>(out));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * points.size()));
}

#define CUZK_BENCH_GROUPS(name)      \
  BENCHMARK_TEMPLATE(name, G1Curve); \
  BENCHMARK_TEMPLATE(name, G2Curve)
CUZK_BENCH_GROUPS(jacobian_double);
CUZK_BENCH_GROUPS(jacobian_add);
CUZK_BENCH_GROUPS(jacobian_add_affine);
CUZK_BENCH_GROUPS(xyzz_add_affine);
CUZK_BENCH_GROUPS(multiply);
CUZK_BENCH_GROUPS(multiply_secret);
CUZK_BENCH_GROUPS(subgroup_check);
CUZK_BENCH_GROUPS(decompress_on_curve);
CUZK_BENCH_GROUPS(decode_uncompressed_on_curve);
CUZK_BENCH_GROUPS(batch_to_affine_1024);

}  // namespace
}  // namespace cuzk
