// What the engine needs to know of proofs, and nothing of circuits and formats: the real one is
// engine/filecoin_proof_service.hpp, simulations have their own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/packed_witness.hpp"
#include "filecoin/circuit_spec.hpp"
#include "groth16/proof.hpp"
#include "queue/submission.hpp"
#include "worker/device.hpp"

namespace cuzk {

using ProofBytes = std::array<uint8_t, kProofBytes>;

// A request that has been read and checked. Immutable, so thread safe.
class JobWork {
 public:
  virtual ~JobWork() = default;

  virtual const CircuitSpec& circuit() const = 0;
  virtual uint32_t partitions() const = 0;
  // Memory that it holds.
  virtual uint64_t bytes() const = 0;

  // Errors: kInternal, kResource.
  virtual Result<PackedWitness> witness(uint32_t partition) const = 0;
  // Names the constraint that partition's values violate (kUnsatisfied).
  virtual Status check(uint32_t partition) const = 0;
  // The partitions whose proofs are not accepted; proofs[k] is partition k's. Errors: those of the verifying key's
  // file.
  virtual Result<std::vector<uint32_t>> wrong_proofs(std::span<const ProofBytes> proofs) const = 0;
};

// Bytes of host memory.
struct RequestNeeds {
  const CircuitSpec* circuit = nullptr;  // nullptr: only its input says
  uint64_t held = 0;                     // from the submission to the end: as it came, or as it was read
  uint64_t check_scratch = 0;            // while it is read and checked
};
struct WitnessNeeds {
  uint64_t witness = 0;  // until the device has proved it
  uint64_t scratch = 0;  // while it is made
};
// Of a circuit on a device: host memory, and the device's own where it has some.
struct DeviceNeeds {
  uint64_t parameters = 0, circuit = 0;  // while loaded
  uint64_t load_scratch = 0, prove_scratch = 0;
  uint64_t device_resident = 0, device_scratch = 0;
  DeviceTables tables;  // with these

  uint64_t resident() const { return parameters + circuit; }
};

// Thread safe.
class ProofService {
 public:
  virtual ~ProofService() = default;

  // Pure and cheap. What cannot be known is guessed on the large side.
  virtual RequestNeeds request_needs(const Submission& submission) const = 0;
  virtual WitnessNeeds witness_needs(const CircuitSpec& circuit) const = 0;
  // `together`: the most partitions that are proved together.
  virtual DeviceNeeds device_needs(const CircuitSpec& circuit, const DeviceInfo& device, uint32_t together) const = 0;
  DeviceNeeds device_needs(const CircuitSpec& circuit, const DeviceInfo& device) const {
    return device_needs(circuit, device, 1);
  }

  // Reads everything and checks everything that can be computed about the input before it is proved. Seconds. Errors:
  // kInvalidInput, with the field; kUnsupported.
  virtual Result<std::shared_ptr<const JobWork>> read(const Submission& submission) const = 0;

  // The files that a device is to load, checked. Minutes the first time, then nothing. Errors: kNotFound, kCorrupt,
  // kIo, kResource.
  virtual Result<CircuitFiles> prepare(const CircuitSpec& circuit, Progress& progress) = 0;
};

}  // namespace cuzk
