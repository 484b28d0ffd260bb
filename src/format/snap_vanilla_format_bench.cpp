#include <benchmark/benchmark.h>

#include "filecoin/snap_synthetic.hpp"
#include "format/snap_vanilla_format.hpp"

namespace cuzk {
namespace {

void read_snap_partition_32g(benchmark::State& state) {
  SnapSyntheticInput synthetic;
  synthetic.shape = snap_shape_by_circuit_id("snap-32g");
  synthetic.partitions = 1;
  const SnapInput input = make_synthetic_snap(synthetic);
  const std::vector<uint8_t> bytes = write_snap_partition(*input.shape, input.partitions[0]);
  for (auto _ : state) benchmark::DoNotOptimize(read_snap_partition(*input.shape, 0, bytes).ok());
  state.SetBytesProcessed(static_cast<int64_t>(bytes.size()) * static_cast<int64_t>(state.iterations()));
}
BENCHMARK(read_snap_partition_32g)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cuzk
