#include <benchmark/benchmark.h>

#include <vector>

#include "circuit/assignment.hpp"
#include "circuit/checker.hpp"
#include "circuit/digester.hpp"
#include "circuit/hasher.hpp"
#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"

namespace cuzk {
namespace {

// One PoRep label: 256 bits of a number, then 9,728 bits, 20 compressions, about 520,000 variables.
template <class CS>
void label(CS& cs) {
  std::vector<Boolean<CS>> message;
  const Num<CS> x = gadget::alloc_num(cs, Fr::from_u64(1234567).inverse());
  const auto bits = gadget::reverse_bit_numbering(gadget::to_bits_le(cs, x));
  for (int i = 0; i < 39; ++i) message.insert(message.end(), bits.begin(), bits.end());
  Sha256CircuitHasher::hash_bits<CS>(cs, message);
}

void BM_LabelPacked(benchmark::State& state) {
  for (auto _ : state) {
    PackedWriter cs(1 << 20);
    label(cs);
    benchmark::DoNotOptimize(cs.finish());
  }
}
BENCHMARK(BM_LabelPacked)->Unit(benchmark::kMicrosecond);

template <class CS>
void BM_Label(benchmark::State& state) {
  CS cs;
  for (auto _ : state) label(cs);
}
BENCHMARK(BM_Label<Digester>)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Label<Recorder>)->Unit(benchmark::kMillisecond)->Iterations(10);
BENCHMARK(BM_Label<Checker>)->Unit(benchmark::kMillisecond)->Iterations(10);

template <class CS>
void BM_Poseidon8(benchmark::State& state) {
  CS cs;
  std::vector<Num<CS>> preimage;
  for (uint64_t i = 0; i < 8; ++i) preimage.push_back(gadget::alloc_num(cs, Fr::from_u64(i)));
  gadget::poseidon_hash<CS>(cs, preimage);
  for (auto _ : state) benchmark::DoNotOptimize(gadget::poseidon_hash<CS>(cs, preimage));
}
BENCHMARK(BM_Poseidon8<PackedWriter>)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Poseidon8<Digester>)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Poseidon8<Checker>)->Unit(benchmark::kMicrosecond)->Iterations(1000);

void BM_ExpandAndCheckLabel(benchmark::State& state) {
  Recorder recorder;
  label(recorder);
  const CompiledCircuit circuit = recorder.finish();
  PackedWriter writer;
  label(writer);
  const PackedWitness witness = writer.finish();
  for (auto _ : state) {
    const auto aux = expand_witness(circuit, witness);
    if (state.range(0) == 1) benchmark::DoNotOptimize(first_unsatisfied(circuit, witness.inputs, aux.value()));
  }
}
BENCHMARK(BM_ExpandAndCheckLabel)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk
