// The proofs of Filecoin as the engine sees them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "engine/proof_service.hpp"
#include "residency/circuit_store.hpp"

namespace cuzk {

class FilecoinProofService final : public ProofService {
 public:
  // `device_threads`: of a device's process, for the memory that loading and proving take. `h_multiples`:
  // choose_tables().
  FilecoinProofService(std::shared_ptr<CircuitStore> store, uint32_t device_threads, uint32_t h_multiples = 0);

  RequestNeeds request_needs(const Submission& submission) const override;
  WitnessNeeds witness_needs(const CircuitSpec& circuit) const override;
  using ProofService::device_needs;
  DeviceNeeds device_needs(const CircuitSpec& circuit, const DeviceInfo& device, uint32_t together) const override;
  Result<std::shared_ptr<const JobWork>> read(const Submission& submission) const override;
  Result<CircuitFiles> prepare(const CircuitSpec& circuit, Progress& progress) override;

 private:
  struct Needs {
    WitnessNeeds witness;
    DeviceNeeds on_cpu;
  };
  size_t index_of(const CircuitSpec& circuit) const;
  const std::vector<DeviceNeeds>& on_gpu(const DeviceInfo& device, uint32_t together) const;

  const std::shared_ptr<CircuitStore> store_;
  std::vector<Needs> needs_;  // as circuit_specs()
  mutable std::mutex mutex_;
  // By multiprocessors, memory and partitions together; as circuit_specs().
  mutable std::map<std::tuple<uint32_t, uint64_t, uint32_t>, std::vector<DeviceNeeds>> on_gpu_;
  const uint32_t h_multiples_;
};

}  // namespace cuzk
