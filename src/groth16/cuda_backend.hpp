// The prover's backend on a CUDA device, for one circuit and its parameters, which are resident there. Plain C++; in
// builds with CUZK_CUDA only.
#pragma once

#include <memory>

#include "gpu/device.hpp"
#include "groth16/backend.hpp"
#include "groth16/device_srs.hpp"
#include "groth16/toxic_waste.hpp"
#include "matrix/matrix_cuda.hpp"
#include "ntt/ntt_cuda.hpp"

namespace cuzk {

struct CudaBackendOptions {
  // Multiples of the points of h to keep in device memory (msm/).
  unsigned h_multiples = 1;
};

// Intermediate values of a proof, for tests that compare backends step by step.
struct ProofSteps {
  std::vector<Fr> values;  // packed (matrix/packed_system.hpp)
  std::vector<Fr> a, b, c, h;
};

// Nothing but the packed witness and a few hundred points per sum cross the bus. Not thread-safe: one proof at a time.
class CudaBackend final : public Backend {
 public:
  // Copies circuit and parameters to the device: resident_bytes() of its arena for as long as the backend lives.
  // Errors: kResource; kUnsupported where the circuit has hashes that matrix/ has no kernel for.
  static Result<std::unique_ptr<CudaBackend>> create(const gpu::Device& device, const CompiledCircuit& circuit,
                                                     const Srs& srs, const CudaBackendOptions& options);

  // The same with parameters that are made on the device from a trapdoor (groth16/device_setup.hpp), and no host copy.
  static Result<std::unique_ptr<CudaBackend>> create_with_setup(const gpu::Device& device,
                                                                const CompiledCircuit& circuit, const ToxicWaste& toxic,
                                                                const CudaBackendOptions& options, Progress& progress);
  // Of the parameters on the device.
  const VerifyingKey& vk() const { return vk_; }
  const SrsShape& shape() const { return shape_; }

  // `circuit` and `srs` must be those of create() (kInternal where their sizes differ); their arrays are not read.
  // Reserves scratch_bytes() of the arena meanwhile.
  Result<ProofSums> evaluate(const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                             Progress& progress, ProveReport& report) override;

  // The same without a host copy of the parameters; finish_proof() of prove.hpp completes the proof.
  Result<ProofSums> evaluate(const CompiledCircuit& circuit, const PackedWitness& witness, Progress& progress,
                             ProveReport& report);

  uint64_t resident_bytes() const { return memory_.capacity_bytes(); }
  uint64_t scratch_bytes() const;
  // Most that evaluate() has used of its scratch memory.
  uint64_t peak_scratch_bytes() const { return peak_scratch_bytes_; }
  // Fills *steps in each evaluate() from now on; null: no more. For tests.
  void keep_steps(ProofSteps* steps) { steps_ = steps; }

 private:
  struct Scratch;
  struct Sums;
  CudaBackend(gpu::Device device, gpu::Stream stream) : device_(std::move(device)), stream_(std::move(stream)) {}
  Status reserve(const PackedSystem& system, const PackedQueries& queries, const SrsShape& shape,
                 const CompiledCircuit& circuit, const CudaBackendOptions& options);
  DeviceSrsOptions srs_options(const CudaBackendOptions& options) const;
  Status upload_witness(const PackedWitness& witness, Scratch& scratch) const;
  Status evaluate_rows(Scratch& scratch) const;
  Status evaluate_quotient(Scratch& scratch) const;
  Status keep(std::vector<Fr> ProofSteps::*member, std::span<const Fr> values) const;

  gpu::Device device_;
  gpu::Stream stream_;
  gpu::Reservation memory_;  // of all that follows
  std::optional<DeviceSystem> system_;
  std::optional<DeviceDomain> domain_;
  DeviceSrs srs_;
  SrsShape shape_;
  VerifyingKey vk_;
  uint64_t peak_scratch_bytes_ = 0;
  ProofSteps* steps_ = nullptr;
};

}  // namespace cuzk
