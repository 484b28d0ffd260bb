// The prover's backend on host processors.
#pragma once

#include "groth16/backend.hpp"

namespace cuzk {

// Uses all threads of parallel/ for every step. Memory beyond circuit and parameters: 3 x 32 bytes a domain element,
// 32 bytes a wire, and the scratch of msm/.
class CpuBackend final : public Backend {
 public:
  Result<ProofSums> evaluate(const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                             Progress& progress, ProveReport& report) override;
};

}  // namespace cuzk
