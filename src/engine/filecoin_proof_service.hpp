// The proofs of Filecoin as the engine sees them.
#pragma once

#include <memory>
#include <vector>

#include "engine/proof_service.hpp"
#include "residency/circuit_store.hpp"

namespace cuzk {

class FilecoinProofService final : public ProofService {
 public:
  // `device_threads`: of a CPU device, for the memory that proving takes.
  FilecoinProofService(std::shared_ptr<CircuitStore> store, uint32_t device_threads);

  RequestNeeds request_needs(const Submission& submission) const override;
  WitnessNeeds witness_needs(const CircuitSpec& circuit) const override;
  DeviceNeeds device_needs(const CircuitSpec& circuit, const DeviceInfo& device) const override;
  Result<std::shared_ptr<const JobWork>> read(const Submission& submission) const override;
  Result<CircuitFiles> prepare(const CircuitSpec& circuit, Progress& progress) override;

 private:
  struct Needs {
    WitnessNeeds witness;
    DeviceNeeds on_cpu;
  };
  const Needs& needs_of(const CircuitSpec& circuit) const;

  const std::shared_ptr<CircuitStore> store_;
  std::vector<Needs> needs_;  // as circuit_specs()
};

}  // namespace cuzk
