#include "filecoin/snap_prove.hpp"

#include <string>

#include "base/assert.hpp"
#include "circuit/checker.hpp"
#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"
#include "filecoin/snap_circuit.hpp"

namespace cuzk {
namespace {

SnapCircuitInput circuit_input(const SnapInput& input, uint32_t k) {
  CUZK_ASSERT(k < input.partitions.size() && snap_h_select(*input.shape, input.h) != 0);
  return {input.shape, &input.partitions[k], k, input.h, input.commitments};
}

SnapCircuitInput blank_input(const SnapShape& shape) { return {&shape, nullptr, 0, shape.default_h(), {}}; }

}  // namespace

CompiledCircuit compile_snap(const SnapShape& shape) {
  Recorder recorder;
  synthesize_snap(recorder, blank_input(shape));
  return recorder.finish();
}

PackedWitness snap_witness(const SnapInput& input, uint32_t k) {
  const CircuitCounts counts = snap_circuit_counts(*input.shape);
  PackedWriter writer(counts.bits, counts.fields);
  synthesize_snap(writer, circuit_input(input, k));
  return writer.finish();
}

Status snap_check(const SnapInput& input, uint32_t k) {
  Checker checker;
  synthesize_snap(checker, circuit_input(input, k));
  if (checker.satisfied()) return {};
  const Checker::Violation& violation = *checker.first_violation();
  Error error = Error(ErrorClass::kUnsatisfied, "constraint " + std::to_string(violation.constraint) +
                                                    " does not hold (of " + std::to_string(checker.num_constraints()) +
                                                    ", " + std::to_string(checker.num_violations()) + " do not)")
                    .at_field(violation.path)
                    .of_partition(k);
  error.sector = input.sector_number;
  return error;
}

namespace {

// Most of the circuit is its challenges.
struct ChallengeProgress {
  Progress& progress;
  uint64_t challenges = 0;
  void operator()(SnapStep step, uint32_t) {
    if (step == SnapStep::kChallenge) progress.advance(++challenges);
  }
};

}  // namespace

CircuitSummary snap_digest(const SnapShape& shape) {
  NoProgress nobody;
  return snap_digest(shape, nobody);
}

CircuitSummary snap_digest(const SnapShape& shape, Progress& progress) {
  progress.begin_stage("digest", shape.challenges, "challenges");
  Digester digester;
  SnapSynthesizer<Digester, SnapHashers, ChallengeProgress>(digester, blank_input(shape), ChallengeProgress{progress})
      .run();
  const CircuitSummary summary = digester.summary();
  progress.end_stage();
  return summary;
}

}  // namespace cuzk
