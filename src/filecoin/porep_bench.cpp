#include <benchmark/benchmark.h>

#include "filecoin/circuit_spec.hpp"
#include "filecoin/porep_circuit.hpp"
#include "filecoin/porep_dev_sealer.hpp"
#include "filecoin/porep_graph.hpp"
#include "filecoin/porep_prove.hpp"

namespace cuzk {
namespace {

const PorepC1& sealed_2k() {
  static const PorepC1 c1 = [] {
    const std::vector<NodeBytes> data(64, NodeBytes{1});
    PorepSealInput input;
    input.proof = &registered_seal_proofs()[5];
    input.seed.fill(2);
    input.data = data;
    return std::move(seal_porep(input)).value().c1;
  }();
  return c1;
}

void packed_witness_2k(benchmark::State& state) {
  const PorepC1& c1 = sealed_2k();
  for (auto _ : state) benchmark::DoNotOptimize(porep_witness(c1, 0));
}
BENCHMARK(packed_witness_2k)->Unit(benchmark::kMillisecond);

// One partition of 32 GiB; values do not matter for the time, so they are zero.
void packed_witness_32g(benchmark::State& state) {
  PorepC1 c1;
  c1.proof = &registered_seal_proofs()[8];
  c1.partitions.emplace_back(c1.shape(), c1.shape().challenges);
  size_t bytes = 0;
  for (auto _ : state) {
    const PackedWitness made = porep_witness(c1, 0);
    bytes = made.bits.words().size() * 8 + (made.fields.size() + made.inputs.size()) * sizeof(Fr);
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(packed_witness_32g)->Unit(benchmark::kMillisecond);

void compile(benchmark::State& state, const char* id) {
  for (auto _ : state) benchmark::DoNotOptimize(circuit_spec_by_id(id)->compile().num_aux);
}
BENCHMARK_CAPTURE(compile, porep_32g, "porep-32g")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile, snap_32g, "snap-32g")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile, window_32g, "window-32g")->Unit(benchmark::kMillisecond);

void compile_2k(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(compile_porep(*porep_shape_by_circuit_id("porep-2k"), 2));
}
BENCHMARK(compile_2k)->Unit(benchmark::kMillisecond);

void digest_2k(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(porep_digest(*porep_shape_by_circuit_id("porep-2k"), 2));
}
BENCHMARK(digest_2k)->Unit(benchmark::kMillisecond);

void validate_2k(benchmark::State& state) {
  const PorepC1& c1 = sealed_2k();
  for (auto _ : state) benchmark::DoNotOptimize(validate_porep_vanilla(c1).ok());
}
BENCHMARK(validate_2k)->Unit(benchmark::kMillisecond);

void parents_of_a_node_32g(benchmark::State& state) {
  const PorepGraph graph(registered_seal_proofs()[8]);
  uint64_t node = 12345;
  for (auto _ : state) {
    benchmark::DoNotOptimize(graph.base_parents(node));
    benchmark::DoNotOptimize(graph.expander_parents(node));
    node = (node * 5 + 1) & (graph.nodes() - 1);
  }
}
BENCHMARK(parents_of_a_node_32g)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cuzk
