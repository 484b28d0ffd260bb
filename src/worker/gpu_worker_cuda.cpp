#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu/lose_context.hpp"
#include "groth16/cuda_backend.hpp"
#include "groth16/device_params.hpp"
#include "groth16/prove.hpp"
#include "srs/params_file.hpp"
#include "worker/gpu_worker.hpp"

namespace cuzk {
namespace {

// What a proof needs of its circuit on the host: the counts. The arrays are on the device.
CompiledCircuit without_arrays(const CompiledCircuit& circuit) {
  CompiledCircuit out;
  out.num_inputs = circuit.num_inputs;
  out.num_aux = circuit.num_aux;
  out.num_constraints = circuit.num_constraints;
  out.num_bits = circuit.num_bits;
  out.num_fields = circuit.num_fields;
  return out;
}

// Keeps of each witness what its proof is verified with.
class KeepInputs final : public WitnessSource {
 public:
  explicit KeepInputs(WitnessSource& source) : source_(source) {}
  unsigned size() const override { return source_.size(); }
  Result<const PackedWitness*> get(unsigned k) override {
    CUZK_ASSIGN(const PackedWitness* const witness, source_.get(k));
    if (witness != nullptr) inputs.push_back(witness->inputs);
    return witness;
  }
  std::vector<std::vector<Fr>> inputs;

 private:
  WitnessSource& source_;
};

class CudaWorker final : public WorkerBackend {
 public:
  CudaWorker(gpu::Device device, DeviceParamsLoader loader, uint32_t ordinal)
      : device_(std::move(device)), loader_(std::move(loader)), ordinal_(ordinal) {}

  DeviceInfo info() const override {
    const gpu::DeviceInfo& gpu = device_.info();
    const gpu::ArenaUsage usage = device_.usage();
    DeviceInfo info;
    info.ordinal = ordinal_;
    info.name = gpu.name;
    info.uuid = gpu.uuid;
    info.is_gpu = true;
    info.multiprocessors = static_cast<uint32_t>(gpu.multiprocessors);
    info.memory_total_bytes = gpu.memory_bytes;
    info.memory_usable_bytes = usage.capacity_bytes;
    info.memory_free_bytes = usage.capacity_bytes - usage.used_bytes;
    return info;
  }

  using WorkerBackend::load;
  Result<LoadReport> load(const CircuitSpec& spec, CompiledCircuit circuit, const std::string& params_file,
                          const DeviceTables& tables, Progress& progress) override {
    unload(spec);
    CUZK_ASSIGN(const auto file, open_file_source(params_file));
    Held held;
    CUZK_ASSIGN(held.backend, CudaBackend::create_from_file(device_, circuit, *file, loader_,
                                                            {tables.h_multiples, tables.h_max_entries}, progress));
    CUZK_TRY(check_scratch(*held.backend));
    LoadReport report;
    report.parameter_bytes = srs_bytes(held.backend->shape());
    report.circuit_bytes = held.backend->resident_bytes() - report.parameter_bytes;
    held.circuit = without_arrays(circuit);
    held_.emplace(spec.id(), std::move(held));
    return report;
  }

  void unload(const CircuitSpec& circuit) override { held_.erase(std::string(circuit.id())); }

  using WorkerBackend::prove;
  Result<std::vector<Result<Proof>>> prove(const CircuitSpec& circuit, WitnessSource& witnesses,
                                           Progress& progress) override {
    const auto held = held_.find(std::string(circuit.id()));
    if (held == held_.end()) {
      return Error(ErrorClass::kUsage, "the circuit " + std::string(circuit.id()) + " is not loaded");
    }
    CudaBackend& backend = *held->second.backend;
    ProveReport report;
    CUZK_ASSIGN(const unsigned most, fitting(backend, witnesses.size()));
    KeepInputs kept(witnesses);
    CUZK_ASSIGN(const std::vector<ProofSums> sums,
                backend.evaluate(held->second.circuit, kept, most, progress, report));
    return finish_proofs(backend.vk(), sums, std::span(kept.inputs).first(sums.size()), progress, report);
  }

  void lose_device() override { (void)gpu::lose_context(device_); }

 private:
  struct Held {
    CompiledCircuit circuit;
    std::unique_ptr<CudaBackend> backend;
  };

  // How many of so many can be proved together in what is free.
  Result<unsigned> fitting(const CudaBackend& backend, unsigned witnesses) const {
    const uint64_t free = device_.usage().largest_free_bytes;
    static_assert(kMostTogether <= MsmPlan::kMaxWitnesses);
    unsigned most = std::min<unsigned>(witnesses, kMostTogether);
    for (; most > 1; --most) {
      CUZK_ASSIGN(const uint64_t bytes, backend.scratch_bytes(most));
      if (bytes <= free) break;
    }
    return most;
  }

  // What is free must hold the scratch memory of each circuit that is held, in one piece. Where parts that were given
  // up have left holes, the engine unloads the others and loads again.
  Status check_scratch(const CudaBackend& loaded) const {
    CUZK_ASSIGN(uint64_t most, loaded.scratch_bytes());
    for (const auto& [id, held] : held_) {
      CUZK_ASSIGN(const uint64_t bytes, held.backend->scratch_bytes());
      most = std::max(most, bytes);
    }
    const uint64_t free = device_.usage().largest_free_bytes;
    if (most <= free) return {};
    return Error(ErrorClass::kResource, "device memory: " + std::to_string(most) + " bytes for proving do not fit; " +
                                            std::to_string(free) + " are free in one piece");
  }

  const gpu::Device device_;
  DeviceParamsLoader loader_;
  const uint32_t ordinal_;
  std::map<std::string, Held> held_;  // by the id of the circuit
};

}  // namespace

Result<std::unique_ptr<WorkerBackend>> make_cuda_worker(std::string_view name, uint32_t ordinal) {
  CUZK_ASSIGN(const std::vector<gpu::DeviceInfo> devices, gpu::list_devices());
  CUZK_ASSIGN(const gpu::DeviceInfo info, gpu::find_device(devices, name.empty() ? "0" : name));
  CUZK_ASSIGN(const gpu::Device device, gpu::Device::open(info, {}));
  CUZK_ASSIGN(DeviceParamsLoader loader, DeviceParamsLoader::create(device));
  return std::unique_ptr<WorkerBackend>(std::make_unique<CudaWorker>(device, std::move(loader), ordinal));
}

}  // namespace cuzk
