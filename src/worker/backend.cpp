#include "worker/backend.hpp"

#include <malloc.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "circuit/compiled_file.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "parallel/parallel.hpp"
#include "srs/params_file.hpp"
#include "worker/gpu_worker.hpp"

namespace cuzk {
namespace {

constexpr std::string_view kCuda = "cuda";

// The file's digest says that its content is what was written, not that it is this program's circuit.
Status check_counts(const CompiledCircuit& circuit, const CircuitFiles& files) {
  const CircuitCounts counts = files.spec->counts();
  if (circuit.num_inputs == counts.inputs && circuit.num_aux == counts.aux &&
      circuit.num_constraints == counts.constraints && circuit.num_bits == counts.bits &&
      circuit.num_fields == counts.fields) {
    return {};
  }
  return Error(ErrorClass::kCorrupt, "not the circuit " + std::string(files.spec->id())).in_file(files.circuit_file);
}

class CpuWorker final : public WorkerBackend {
 public:
  explicit CpuWorker(uint32_t ordinal) : ordinal_(ordinal) {}

  DeviceInfo info() const override {
    const size_t threads = parallel_threads();
    DeviceInfo info;
    info.ordinal = ordinal_;
    info.name = "CPU, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    return info;
  }

  Result<LoadReport> load(const CircuitSpec& spec, CompiledCircuit circuit, const std::string& params_file,
                          const DeviceTables&, Progress& progress) override {
    unload(spec);  // never twice in memory
    Held held{std::move(circuit), {}};
    CUZK_ASSIGN(held.srs, read_params(params_file, {.expected = srs_shape(held.circuit)}, progress));
    LoadReport report;
    report.parameter_bytes = srs_bytes(held.srs.shape());
    report.circuit_bytes = held.circuit.bytes();
    held_.emplace(spec.id(), std::move(held));
    return report;
  }

  void unload(const CircuitSpec& circuit) override {
    if (held_.erase(std::string(circuit.id())) == 0) return;
#if defined(__GLIBC__)
    malloc_trim(0);  // what was freed is wanted by others, and now
#endif
  }

  using WorkerBackend::prove;
  Result<std::vector<Result<Proof>>> prove(const CircuitSpec& circuit, WitnessSource& witnesses,
                                           Progress& progress) override {
    const auto held = held_.find(std::string(circuit.id()));
    if (held == held_.end()) {
      return Error(ErrorClass::kUsage, "the circuit " + std::string(circuit.id()) + " is not loaded");
    }
    // One after the other: nothing is shared between them here.
    std::vector<Result<Proof>> out;
    for (unsigned k = 0; k < witnesses.size() && !(k > 0 && progress.yield_requested()); ++k) {
      const Result<const PackedWitness*> witness = witnesses.get(k);
      if (k > 0 && (!witness.ok() || *witness == nullptr)) break;
      if (!witness.ok()) return witness.error();
      Result<Proof> proof = cuzk::prove(backend_, held->second.circuit, held->second.srs, **witness, progress);
      const bool cancelled = !proof.ok() && proof.error().error_class == ErrorClass::kCancelled;
      if (cancelled || (k == 0 && !proof.ok())) return std::move(proof).error();
      out.push_back(std::move(proof));
    }
    return Result<std::vector<Result<Proof>>>(std::move(out));
  }

 private:
  struct Held {
    CompiledCircuit circuit;
    Srs srs;
  };
  const uint32_t ordinal_;
  CpuBackend backend_;
  std::map<std::string, Held> held_;  // by the id of the circuit
};

}  // namespace

Result<Proof> WorkerBackend::prove(const CircuitSpec& circuit, const PackedWitness& witness, Progress& progress) {
  const PackedWitness* const only = &witness;
  WitnessList list(std::span(&only, 1));
  CUZK_ASSIGN(std::vector<Result<Proof>> proofs, prove(circuit, list, progress));
  return std::move(proofs.front());
}

Result<LoadReport> WorkerBackend::load(const CircuitFiles& files, Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  unload(*files.spec);  // never twice in memory
  progress.begin_stage("loading the circuit", files.spec->counts().constraints, "constraints");
  Result<CompiledCircuit> circuit = load_compiled_circuit(files.circuit_file, files.spec->id());
  progress.end_stage();
  if (!circuit.ok()) return std::move(circuit).error();
  CUZK_TRY(check_counts(*circuit, files));
  CUZK_ASSIGN(LoadReport report,
              load(*files.spec, std::move(circuit).value(), files.params_file, files.tables, progress));
  report.load_ms = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count());
  return report;
}

std::optional<std::string> cuda_device_name(std::string_view device) {
  if (device == kCuda) return "";
  if (!device.starts_with(kCuda) || device.size() < kCuda.size() + 2 || device[kCuda.size()] != ':')
    return std::nullopt;
  return std::string(device.substr(kCuda.size() + 1));
}

Result<std::unique_ptr<WorkerBackend>> make_worker_backend(std::string_view device, uint32_t ordinal) {
  if (device == "cpu") return std::unique_ptr<WorkerBackend>(std::make_unique<CpuWorker>(ordinal));
  if (const std::optional<std::string> name = cuda_device_name(device)) return make_cuda_worker(*name, ordinal);
  return Error(ErrorClass::kUnsupported, "there is no device '" + std::string(device) + "', only 'cpu' and 'cuda'");
}

}  // namespace cuzk
