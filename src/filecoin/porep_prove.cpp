#include "filecoin/porep_prove.hpp"

#include "base/assert.hpp"
#include "circuit/checker.hpp"
#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"
#include "filecoin/porep_challenges.hpp"
#include "filecoin/porep_circuit.hpp"
#include "filecoin/porep_graph.hpp"

namespace cuzk {
namespace {

PorepCircuitInput input_of(const PorepC1& c1, uint32_t partition) {
  CUZK_ASSERT(partition < c1.partitions.size());
  const PorepPartition& proofs = c1.partitions[partition];
  return {&c1.shape(), proofs.challenges(), &proofs, c1.replica_id, c1.comm_d, c1.comm_r};
}

}  // namespace

CompiledCircuit compile_porep(const PorepShape& shape, uint32_t challenges) {
  Recorder recorder;
  synthesize_porep(recorder, {&shape, challenges, nullptr, {}, {}, {}});
  return recorder.finish();
}

PackedWitness porep_witness(const PorepC1& c1, uint32_t partition) {
  const PorepCircuitInput input = input_of(c1, partition);
  const CircuitCounts counts = porep_circuit_counts(*input.shape, input.challenges);
  PackedWriter writer(counts.bits, counts.fields);
  synthesize_porep(writer, input);
  return writer.finish();
}

Status porep_check(const PorepC1& c1, uint32_t partition) {
  Checker checker;
  synthesize_porep(checker, input_of(c1, partition));
  if (checker.satisfied()) return {};
  const Checker::Violation& violation = *checker.first_violation();
  Error error = Error(ErrorClass::kUnsatisfied, "constraint " + std::to_string(violation.constraint) +
                                                    " does not hold (of " + std::to_string(checker.num_constraints()) +
                                                    ", " + std::to_string(checker.num_violations()) + " do not)")
                    .at_field(violation.path)
                    .of_partition(partition);
  error.sector = c1.sector_number;
  return error;
}

namespace {

// Labels are four fifths of the circuit and evenly spread over it.
struct LabelProgress {
  Progress& progress;
  uint64_t labels = 0;
  void operator()(PorepStep step, uint32_t) {
    if (step == PorepStep::kLabel) progress.advance(++labels);
  }
};

}  // namespace

CircuitSummary porep_digest(const PorepShape& shape, uint32_t challenges) {
  NoProgress nobody;
  return porep_digest(shape, challenges, nobody);
}

CircuitSummary porep_digest(const PorepShape& shape, uint32_t challenges, Progress& progress) {
  progress.begin_stage("digest", uint64_t{challenges} * shape.layers, "labels");
  Digester digester;
  const PorepCircuitInput blank{&shape, challenges, nullptr, {}, {}, {}};
  PorepSynthesizer<Digester, LabelProgress>(digester, blank, LabelProgress{progress}).run();
  const CircuitSummary summary = digester.summary();
  progress.end_stage();
  return summary;
}

std::vector<Fr> porep_public_inputs(const PorepC1& c1, uint32_t partition) {
  const PorepShape& shape = c1.shape();
  const PorepGraph graph(*c1.proof);
  const PorepChallengeSource source{c1.proof->feature, shape.nodes(), c1.replica_id.to_bytes_le(),
                                    c1.comm_r.to_bytes_le(), c1.seed};
  std::vector<Fr> inputs = {c1.replica_id, c1.comm_d, c1.comm_r};
  for (const uint64_t node : porep_challenges(source, partition, shape.challenges)) {
    inputs.push_back(Fr::from_u64(node));
    for (const uint32_t parent : graph.base_parents(node)) inputs.push_back(Fr::from_u64(parent));
    for (const uint32_t parent : graph.expander_parents(node)) inputs.push_back(Fr::from_u64(parent));
    for (int i = 0; i < 3; ++i) inputs.push_back(Fr::from_u64(node));
  }
  return inputs;
}

}  // namespace cuzk
