#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "filecoin/post_circuit.hpp"
#include "filecoin/post_synthetic.hpp"

namespace cuzk {
namespace {

PostRequest request_for(const char* id) {
  const PostShape* shape = post_shape_by_circuit_id(id);
  return {shape, shape->kind == PostKind::kWinning ? PostApiVersion::kV1_0_0 : PostApiVersion::kV1_2_0, {}, 0};
}

PostVanilla synthetic(const PostRequest& request) {
  std::vector<uint64_t> ids(request.shape->max_real_sectors());
  std::iota(ids.begin(), ids.end(), uint64_t{1});
  return make_synthetic_post(request, ids, NodeBytes{});
}

size_t bytes_of(const PackedWitness& witness) {
  return witness.bits.words().size() * 8 + (witness.fields.size() + witness.inputs.size()) * sizeof(Fr);
}

void witness(benchmark::State& state, const char* id, bool hashes_known) {
  const PostRequest request = request_for(id);
  const PostVanilla vanilla = synthetic(request);
  const Result<PostPathHashes> hashes = validate_post_vanilla(request, vanilla);
  size_t bytes = 0;
  for (auto _ : state) {
    const PackedWitness made = hashes_known ? post_witness(vanilla, *hashes) : post_witness(vanilla);
    bytes = bytes_of(made);
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK_CAPTURE(witness, winning_2k, "winning-2k", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(witness, winning_32g, "winning-32g", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(witness, winning_32g_hashes_known, "winning-32g", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(witness, window_32g, "window-32g", false)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(witness, window_32g_hashes_known, "window-32g", true)->Unit(benchmark::kMillisecond)->Iterations(3);

void validate(benchmark::State& state, const char* id) {
  const PostRequest request = request_for(id);
  const PostVanilla vanilla = synthetic(request);
  for (auto _ : state) benchmark::DoNotOptimize(validate_post_vanilla(request, vanilla).ok());
}
BENCHMARK_CAPTURE(validate, winning_32g, "winning-32g")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(validate, window_32g, "window-32g")->Unit(benchmark::kMillisecond)->Iterations(1);

void synthetic_window_32g(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(synthetic(request_for("window-32g")));
}
BENCHMARK(synthetic_window_32g)->Unit(benchmark::kMillisecond)->Iterations(1);

void public_inputs_window_32g(benchmark::State& state) {
  const PostRequest request = request_for("window-32g");
  const std::vector<PostPublicSector> sectors(2349);
  for (auto _ : state) benchmark::DoNotOptimize(post_public_inputs(request, sectors));
}
BENCHMARK(public_inputs_window_32g)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk
