#include <benchmark/benchmark.h>

#include <vector>

#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

void BM_Sha256(benchmark::State& state) {
  const std::vector<uint8_t> data(1 << 20, 0x5a);
  for (auto _ : state) benchmark::DoNotOptimize(sha256(data));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * data.size()));
}
BENCHMARK(BM_Sha256);

void BM_Sha256Portable(benchmark::State& state) {
  const std::vector<uint8_t> data(1 << 20, 0x5a);
  std::array<uint32_t, 8> words = kSha256InitialState;
  for (auto _ : state) sha256_compress_portable(words, data);
  benchmark::DoNotOptimize(words);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * data.size()));
}
BENCHMARK(BM_Sha256Portable);

void BM_FrMul(benchmark::State& state) {
  Fr x = Fr::from_u64(12345), y = x.square().square();
  for (auto _ : state) {
    for (int i = 0; i < 100; ++i) x *= y;
    benchmark::DoNotOptimize(x);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * 100));
}
BENCHMARK(BM_FrMul);

void BM_Poseidon(benchmark::State& state) {
  std::vector<Fr> preimage;
  for (int64_t i = 0; i < state.range(0); ++i) preimage.push_back(Fr::from_u64(static_cast<uint64_t>(i)).inverse());
  poseidon_hash(preimage);
  for (auto _ : state) {
    preimage[0] = poseidon_hash(preimage);
    benchmark::DoNotOptimize(preimage[0]);
  }
}
BENCHMARK(BM_Poseidon)->Arg(2)->Arg(8)->Arg(11)->Arg(36);

// Sixteen at once.
void BM_PoseidonHashes(benchmark::State& state) {
  std::vector<Fr> preimages, out(16);
  for (int64_t i = 0; i < 16 * state.range(0); ++i)
    preimages.push_back(Fr::from_u64(static_cast<uint64_t>(i)).inverse());
  const unsigned arity = static_cast<unsigned>(state.range(0));
  poseidon_hashes(arity, preimages, out);
  for (auto _ : state) {
    poseidon_hashes(arity, preimages, out);
    preimages[0] = out[0];
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * 16));
}
BENCHMARK(BM_PoseidonHashes)->Arg(2)->Arg(8)->Arg(11)->Arg(36);

void BM_PoseidonTrace(benchmark::State& state) {
  std::vector<Fr> preimage(static_cast<size_t>(state.range(0)), Fr::from_u64(99));
  std::vector<Fr> out(poseidon_trace_size(static_cast<unsigned>(preimage.size())));
  for (auto _ : state) {
    poseidon_trace(preimage, 255, out);
    preimage[0] = out.back();
  }
}
BENCHMARK(BM_PoseidonTrace)->Arg(8)->Arg(11);

}  // namespace
}  // namespace cuzk
