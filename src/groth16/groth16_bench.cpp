// Verification and what a proof costs beside its sums, for a key with the 39 public inputs of the 2 KiB PoRep.
#include <benchmark/benchmark.h>

#include "groth16/cpu_backend.hpp"
#include "groth16/groth16_test_support.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "groth16/verify.hpp"

namespace cuzk {
namespace {

struct Fixture {
  test::Instance instance;
  Srs srs;
  Proof proof;
  std::vector<Fr> inputs;
};

const Fixture& fixture() {
  static const Fixture made = [] {
    std::mt19937_64 rng(1);
    test::InstanceBuilder builder;
    for (int i = 0; i < 39; ++i) {
      const Wire x = builder.field(test::random_fr(rng));
      const Wire in = builder.input(builder.value(x));
      builder.row({{x, Fr::one()}}, {{Wire::one(), Fr::one()}}, {{in, Fr::one()}});
    }
    Fixture out{builder.finish(), {}, {}, {}};
    NoProgress quiet;
    CpuBackend backend;
    out.srs = setup(out.instance.circuit, test::random_toxic(rng), quiet).value();
    out.proof = prove(backend, out.instance.circuit, out.srs, out.instance.witness, quiet).value();
    out.inputs.assign(out.instance.witness.inputs.begin() + 1, out.instance.witness.inputs.end());
    return out;
  }();
  return made;
}

void BM_DecodeProof(benchmark::State& state) {
  const auto bytes = encode(fixture().proof);
  for (auto _ : state) benchmark::DoNotOptimize(decode_proof(bytes).ok());
}

void BM_PrepareKey(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(PreparedVerifyingKey(fixture().srs.vk).num_inputs());
}

void BM_Verify(benchmark::State& state) {
  const PreparedVerifyingKey key(fixture().srs.vk);
  for (auto _ : state) {
    if (!verify(key, fixture().proof, fixture().inputs).ok()) return state.SkipWithError("refused");
  }
}

void BM_VerifyBatch(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const PreparedVerifyingKey key(fixture().srs.vk);
  const std::vector<Proof> proofs(count, fixture().proof);
  const std::vector<std::vector<Fr>> inputs(count, fixture().inputs);
  for (auto _ : state) {
    if (!verify_batch(key, proofs, inputs).ok()) return state.SkipWithError("refused");
  }
}

BENCHMARK(BM_DecodeProof)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PrepareKey)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Verify)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(BM_VerifyBatch)->Arg(2)->Arg(10)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace cuzk
