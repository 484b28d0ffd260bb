#include <benchmark/benchmark.h>

#include "filecoin/porep_synthetic_input.hpp"
#include "format/base64.hpp"
#include "format/porep_c1.hpp"

namespace cuzk {
namespace {

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Documents of a 32 GiB sector: 180 challenges, 38 MB bare.
const std::string& inner() {
  static const std::string text = [] {
    PorepSyntheticInput input;
    input.proof = &registered_seal_proofs()[8];
    input.seed.fill(5);
    return write_porep_c1_inner(std::move(make_synthetic_porep(input)).value());
  }();
  return text;
}

void read_bare_32g(benchmark::State& state) {
  const PaddedBuffer document(bytes_of(inner()));
  for (auto _ : state) benchmark::DoNotOptimize(read_porep_c1(document).ok());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * document.size()));
}
BENCHMARK(read_bare_32g)->Unit(benchmark::kMillisecond);

void read_wrapper_32g(benchmark::State& state) {
  const std::string text = write_porep_c1_wrapper(bytes_of(inner()), 42, uint64_t{32} << 30);
  const PaddedBuffer document(bytes_of(text));
  for (auto _ : state) benchmark::DoNotOptimize(read_porep_c1(document).ok());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * document.size()));
}
BENCHMARK(read_wrapper_32g)->Unit(benchmark::kMillisecond);

void base64_decode_32g(benchmark::State& state) {
  const std::string text = base64_encode(bytes_of(inner()));
  std::vector<uint8_t> out(base64_decoded_size(text));
  for (auto _ : state) benchmark::DoNotOptimize(base64_decode(text, out).ok());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(base64_decode_32g)->Unit(benchmark::kMillisecond);

void write_32g(benchmark::State& state) {
  const PorepC1 c1 = std::move(read_porep_c1(bytes_of(inner()))).value();
  for (auto _ : state) benchmark::DoNotOptimize(write_porep_c1_inner(c1).size());
}
BENCHMARK(write_32g)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk
