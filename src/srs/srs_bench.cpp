// Reading and writing parameters: 2^17 - 1 points in h, the other vectors empty but for what the layout demands.
#include <benchmark/benchmark.h>

#include "srs/digest.hpp"
#include "srs/params_file.hpp"
#include "srs/srs_test_support.hpp"

namespace cuzk {
namespace {

const Srs& srs_g1() {
  static const Srs srs = test::make_srs({1, (1 << 17) - 1, 1, 1, 1, 1});
  return srs;
}
const Srs& srs_g2() {
  static const Srs srs = test::make_srs({1, 1, 1 << 16, 1, 1 << 16, 1 << 16});
  return srs;
}

void read(benchmark::State& state, const Srs& srs, PointCheck check) {
  test::TemporaryDirectory directory;
  NoProgress quiet;
  if (!write_params(directory.file("p"), srs, quiet).ok()) return state.SkipWithError("cannot write");
  for (auto _ : state) {
    benchmark::DoNotOptimize(read_params(directory.file("p"), {std::nullopt, check}, quiet).value());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(params_file_bytes(srs.shape())));
}

void BM_ReadG1(benchmark::State& state) { read(state, srs_g1(), PointCheck::kOnCurve); }
void BM_ReadG1Subgroup(benchmark::State& state) { read(state, srs_g1(), PointCheck::kSubgroup); }
void BM_ReadMixed(benchmark::State& state) { read(state, srs_g2(), PointCheck::kOnCurve); }

void BM_Write(benchmark::State& state) {
  test::TemporaryDirectory directory;
  NoProgress quiet;
  for (auto _ : state) benchmark::DoNotOptimize(write_params(directory.file("p"), srs_g1(), quiet).ok());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(params_file_bytes(srs_g1().shape())));
}

void BM_Digest(benchmark::State& state) {
  const std::vector<uint8_t> bytes(size_t{32} << 20, 0x5a);
  NoProgress quiet;
  for (auto _ : state) benchmark::DoNotOptimize(file_digest(MemorySource(bytes), quiet).ok());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}

BENCHMARK(BM_ReadG1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_ReadG1Subgroup)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_ReadMixed)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_Write)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_Digest)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace cuzk
