// The proofs of Filecoin as the engine sees them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/proof_service.hpp"
#include "residency/circuit_store.hpp"

namespace cuzk {

class FilecoinProofService final : public ProofService {
 public:
  // `device_threads`: of a device's process, for the memory that loading and proving take.
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
  size_t index_of(const CircuitSpec& circuit) const;
  const std::vector<DeviceNeeds>& on_gpu(uint32_t multiprocessors) const;

  const std::shared_ptr<CircuitStore> store_;
  std::vector<Needs> needs_;  // as circuit_specs()
  mutable std::mutex mutex_;
  mutable std::map<uint32_t, std::vector<DeviceNeeds>> on_gpu_;  // by multiprocessors; as circuit_specs()
};

}  // namespace cuzk
