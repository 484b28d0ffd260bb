// The prover's backend on a CUDA device, for one circuit and its parameters, which are resident there. Plain C++; in
// builds with CUZK_CUDA only.
#pragma once

#include <memory>

#include "gpu/device.hpp"
#include "groth16/backend.hpp"
#include "groth16/device_srs.hpp"
#include "groth16/toxic_waste.hpp"
#include "groth16/witness_source.hpp"
#include "matrix/matrix_cuda.hpp"
#include "ntt/ntt_cuda.hpp"

namespace cuzk {

class ByteSource;
class DeviceParamsLoader;

struct CudaBackendOptions {
  // Multiples of the points of h to keep in device memory (msm/).
  unsigned h_multiples = 1;
  // Entries of the sum over h that are sorted and added at a time; 0: by tuning. 88 bytes of scratch memory each.
  size_t h_max_entries = 0;
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

  // The same with the points of a .params file, which `loader` reads without a copy of all of them on the host. Errors
  // also: those of read_params().
  static Result<std::unique_ptr<CudaBackend>> create_from_file(const gpu::Device& device,
                                                               const CompiledCircuit& circuit, const ByteSource& params,
                                                               DeviceParamsLoader& loader,
                                                               const CudaBackendOptions& options, Progress& progress);

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

  // The same for the first of several witnesses, at most `most` (1 to MsmPlan::kMaxWitnesses), without a host copy of
  // the parameters; finish_proofs() of prove.hpp completes them. The points of boolean wires are added in one pass for
  // all of them. Fewer than `most` where the progress asks to yield or there is no more, and where one after the first
  // cannot be had or violates the circuit: an error is the first one's, or the device's. Reserves scratch_bytes(most).
  Result<std::vector<ProofSums>> evaluate(const CompiledCircuit& circuit, WitnessSource& witnesses, unsigned most,
                                          Progress& progress, ProveReport& report);
  // Of all of 1 to MsmPlan::kMaxWitnesses; the first error of any.
  Result<std::vector<ProofSums>> evaluate(const CompiledCircuit& circuit,
                                          std::span<const PackedWitness* const> witnesses, Progress& progress,
                                          ProveReport& report);

  uint64_t resident_bytes() const { return memory_.capacity_bytes(); }
  // Of an evaluation of so many witnesses, with however many of them it ends.
  Result<uint64_t> scratch_bytes(unsigned witnesses = 1) const;
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
  unsigned multiprocessors() const { return static_cast<unsigned>(device_.info().multiprocessors); }
  uint64_t words_of_bits() const;
  Result<bool> evaluate_witness(const CompiledCircuit& circuit, WitnessSource& witnesses, unsigned number,
                                Scratch& scratch, Sums& sums, Progress& progress, ProveReport& report) const;
  Status upload_witness(const PackedWitness& witness, std::span<uint64_t> bits, Scratch& scratch) const;
  Status evaluate_rows(std::span<const uint64_t> bits, Scratch& scratch) const;
  Status evaluate_quotient(Scratch& scratch) const;
  Status evaluate_values(size_t number, Scratch& scratch, Sums& sums, Progress& progress, ProveReport& report) const;
  Status evaluate_bits(Scratch& scratch, Sums& sums, unsigned witnesses) const;
  Status keep(std::vector<Fr> ProofSteps::*member, std::span<const Fr> values) const;
  Status keep_rows(std::vector<Fr> ProofSteps::*member, std::span<const Fr> rows) const;

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
