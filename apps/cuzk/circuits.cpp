#include "cuzk/circuits.hpp"

#include "cuzk/parameters.hpp"
#include "cuzk/stage_progress.hpp"

namespace cuzk::app {
namespace {

// Of one challenge, whose constraints are stored once: 45, and what growing arrays take meanwhile.
constexpr uint64_t kBytesPerConstraint = 64;

uint64_t constraints_of(const PorepShape& shape, uint32_t challenges) {
  return porep_circuit_counts(shape, challenges).constraints;
}

}  // namespace

Result<CompiledCircuit> compile_circuit(const PorepShape& shape, Progress& progress) {
  const uint64_t constraints = constraints_of(shape, shape.challenges);
  CUZK_TRY(check_memory(constraints_of(shape, 1) * kBytesPerConstraint, "compiling " + std::string(shape.circuit_id)));
  const ScopedStage stage(progress, "compiling the circuit", constraints, "constraints");
  return compile_porep(shape, shape.challenges);
}

PackedWitness make_witness(const PorepC1& c1, uint32_t partition, Progress& progress) {
  const ScopedStage stage(progress, "witness", constraints_of(c1.shape(), c1.shape().challenges), "constraints");
  return porep_witness(c1, partition);
}

SrsShape srs_shape_of(const PorepShape& shape, Progress& progress) {
  const CircuitSummary digest = porep_digest(shape, shape.challenges, progress);
  const uint64_t domain = uint64_t{1} << porep_circuit_counts(shape, shape.challenges).log2_domain();
  SrsShape out;
  out.ic = digest.num_inputs;
  out.h = domain - 1;
  out.l = digest.num_aux;
  out.a = digest.num_inputs + digest.a_aux_density;
  out.b_g1 = out.b_g2 = digest.b_input_density + digest.b_aux_density;
  return out;
}

}  // namespace cuzk::app
