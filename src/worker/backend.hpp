// What a worker computes with: circuits and parameters that it holds, and the proofs that it makes of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "groth16/proof.hpp"
#include "groth16/witness_source.hpp"
#include "worker/device.hpp"

namespace cuzk {

// One call at a time.
class WorkerBackend {
 public:
  virtual ~WorkerBackend() = default;
  virtual DeviceInfo info() const = 0;
  // Replaces what is held for the circuit. Errors: kNotFound, kCorrupt, kIo of the files; kResource. Nothing is held
  // for the circuit then.
  virtual Result<LoadReport> load(const CircuitFiles& files, Progress& progress);
  // The same with the circuit in memory. `tables` are a GPU's.
  virtual Result<LoadReport> load(const CircuitSpec& spec, CompiledCircuit circuit, const std::string& params_file,
                                  const DeviceTables& tables, Progress& progress) = 0;
  // Nothing where it is not loaded.
  virtual void unload(const CircuitSpec& circuit) = 0;
  // Of the first witnesses, at least one, in order: a proof, or what was wrong with it. Not of all where `progress`
  // asks to yield, where memory is short, and where one after the first is wrong or cannot be had. Errors: those of
  // prove() of groth16/prove.hpp, for the first; kUsage where the circuit is not loaded.
  virtual Result<std::vector<Result<Proof>>> prove(const CircuitSpec& circuit, WitnessSource& witnesses,
                                                   Progress& progress) = 0;
  // Of one witness.
  Result<Proof> prove(const CircuitSpec& circuit, const PackedWitness& witness, Progress& progress);
  // For tests: the GPU's context is lost, as after a fault of it. Nothing where there is none.
  virtual void lose_device() {}
};

// "cpu"; "cuda", "cuda:N" or "cuda:UUID" (gpu::find_device; the first without a name). `ordinal` is what info() says.
// Errors: kUnsupported where this build knows no such device; kNotFound where the machine has none of that name;
// kDeviceUnusable; kResource where the GPU's memory cannot be had.
Result<std::unique_ptr<WorkerBackend>> make_worker_backend(std::string_view device, uint32_t ordinal);
using MakeWorkerBackend =
    std::function<Result<std::unique_ptr<WorkerBackend>>(std::string_view device, uint32_t ordinal)>;

// Of a device's name as make_worker_backend() takes it: what stands behind "cuda:", empty for "cuda"; nothing where it
// is no GPU's.
std::optional<std::string> cuda_device_name(std::string_view device);

}  // namespace cuzk
