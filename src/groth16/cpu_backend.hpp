// The prover's backend on host processors.
#pragma once

#include "groth16/backend.hpp"
#include "groth16/memory.hpp"

namespace cuzk {

// Uses all threads of parallel/ for every step.
class CpuBackend final : public Backend {
 public:
  Result<ProofSums> evaluate(const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                             Progress& progress, ProveReport& report) override;

  // What the steps of evaluate() take beyond circuit, parameters and packed witness: 32 bytes a wire, 3 x 32 bytes an
  // element of the domain up to the quotient, and then the scratch of the sums.
  static std::vector<StepMemory> memory(const CircuitSizes& circuit, size_t threads);
};

}  // namespace cuzk
