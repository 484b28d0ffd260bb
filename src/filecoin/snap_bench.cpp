#include <benchmark/benchmark.h>

#include "filecoin/snap_prove.hpp"
#include "filecoin/snap_synthetic.hpp"

namespace cuzk {
namespace {

SnapInput synthetic(const char* id, uint32_t partitions) {
  SnapSyntheticInput input;
  input.shape = snap_shape_by_circuit_id(id);
  input.partitions = partitions;
  return make_synthetic_snap(input);
}
const SnapInput& of_32g() {
  static const SnapInput input = synthetic("snap-32g", 1);
  return input;
}

void snap_witness_2k(benchmark::State& state) {
  const SnapInput input = synthetic("snap-2k", 1);
  for (auto _ : state) benchmark::DoNotOptimize(snap_witness(input, 0));
}
BENCHMARK(snap_witness_2k)->Unit(benchmark::kMillisecond);

void snap_witness_32g(benchmark::State& state) {
  const SnapInput& input = of_32g();
  size_t bytes = 0;
  for (auto _ : state) {
    const PackedWitness witness = snap_witness(input, 0);
    bytes = witness.bits.words().size() * 8 + (witness.fields.size() + witness.inputs.size()) * sizeof(Fr);
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(snap_witness_32g)->Unit(benchmark::kMillisecond);

void snap_validate_partition_32g(benchmark::State& state) {
  const SnapInput& input = of_32g();
  for (auto _ : state) benchmark::DoNotOptimize(validate_snap_partition(input, 0).ok());
}
BENCHMARK(snap_validate_partition_32g)->Unit(benchmark::kMillisecond);

void snap_synthetic_32g(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(synthetic("snap-32g", 0));
}
BENCHMARK(snap_synthetic_32g)->Unit(benchmark::kMillisecond)->Iterations(1);

void snap_compile_2k(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(compile_snap(*snap_shape_by_circuit_id("snap-2k")));
}
BENCHMARK(snap_compile_2k)->Unit(benchmark::kMillisecond);

void snap_digest_2k(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(snap_digest(*snap_shape_by_circuit_id("snap-2k")));
}
BENCHMARK(snap_digest_2k)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk
