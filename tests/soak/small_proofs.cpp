#include "soak/small_proofs.hpp"

#include <cstring>
#include <filesystem>
#include <utility>

#include "circuit/boolean.hpp"
#include "circuit/compiled_file.hpp"
#include "circuit/num.hpp"
#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/memory.hpp"
#include "groth16/setup.hpp"
#include "srs/params_file.hpp"

namespace cuzk::soak {
namespace {

constexpr int kChain = 160, kBits = 64;

std::string params_file(const std::string& folder, std::string_view circuit) {
  return folder + "/" + std::string(circuit) + ".params";
}
std::string circuit_file(const std::string& folder, std::string_view circuit) {
  return folder + "/" + std::string(circuit) + ".circuit";
}

template <class CS>
void small_circuit(CS& cs, uint64_t number) {
  const Num<CS> first = gadget::alloc_input(cs, Fr::from_u64(number));
  Num<CS> last = first;
  for (int i = 0; i < kChain; ++i) last = gadget::mul(cs, last, i % 3 == 0 ? last : first);
  Boolean<CS> both = gadget::alloc_bit(cs, true);
  for (int i = 0; i < kBits; ++i) both = gadget::boolean_and(cs, both, gadget::alloc_bit(cs, (number >> i) % 2 != 0));
  gadget::inputize(cs, last);
}

CompiledCircuit compile_small() {
  Recorder recorder;
  small_circuit(recorder, 0);
  return recorder.finish();
}

class SmallWork final : public JobWork {
 public:
  SmallWork(const CircuitSpec& circuit, uint64_t number, std::shared_ptr<const PreparedVerifyingKey> key)
      : circuit_(circuit), number_(number), key_(std::move(key)) {}

  const CircuitSpec& circuit() const override { return circuit_; }
  uint32_t partitions() const override { return 1; }
  uint64_t bytes() const override { return sizeof *this; }
  Result<PackedWitness> witness(uint32_t) const override {
    PackedWriter writer;
    small_circuit(writer, number_);
    return writer.finish();
  }
  Status check(uint32_t) const override { return {}; }
  Result<std::vector<uint32_t>> wrong_proofs(std::span<const ProofBytes> proofs) const override {
    const Result<Proof> proof = decode_proof(proofs[0]);
    const bool right = proof.ok() && verify(*key_, *proof, public_inputs(number_)).ok();
    return right ? std::vector<uint32_t>{} : std::vector<uint32_t>{0};
  }

 private:
  const CircuitSpec& circuit_;
  const uint64_t number_;
  const std::shared_ptr<const PreparedVerifyingKey> key_;
};

class SmallService final : public ProofService {
 public:
  SmallService(std::string folder, std::shared_ptr<const PreparedVerifyingKey> key, uint64_t leak_bytes)
      : folder_(std::move(folder)), key_(std::move(key)), leak_bytes_(leak_bytes), sizes_(sizes_of(compile_small())) {}

  RequestNeeds request_needs(const Submission& submission) const override {
    return {circuit_of(submission.kind), submission.bytes() + sizeof(SmallWork), 4096};
  }
  WitnessNeeds witness_needs(const CircuitSpec&) const override { return {sizes_.witness_bytes(), 1024}; }
  DeviceNeeds device_needs(const CircuitSpec&, const DeviceInfo&, uint32_t) const override {
    DeviceNeeds needs;
    needs.parameters = srs_bytes(sizes_.srs_shape());
    needs.circuit = sizes_.compiled_bytes;
    needs.load_scratch = kProcessBytes + read_params_scratch_bytes(1);
    needs.prove_scratch = kProcessBytes + peak_bytes(CpuBackend::memory(sizes_, 1)) + sizes_.witness_bytes();
    return needs;
  }
  Result<std::shared_ptr<const JobWork>> read(const Submission& submission) const override {
    uint64_t number = 0;
    if (submission.vanilla_proofs.size() != 1 || submission.vanilla_proofs[0].size() != sizeof number) {
      return Error(ErrorClass::kInvalidInput, "not one number of 8 bytes").at_field("vanilla_proofs");
    }
    std::memcpy(&number, submission.vanilla_proofs[0].data(), sizeof number);
    if (leak_bytes_ > 0) lose(leak_bytes_);
    return std::shared_ptr<const JobWork>(std::make_shared<SmallWork>(*circuit_of(submission.kind), number, key_));
  }
  Result<CircuitFiles> prepare(const CircuitSpec& circuit, Progress&) override {
    const CircuitFiles files{&circuit, params_file(folder_, circuit.id()), circuit_file(folder_, circuit.id())};
    if (!std::filesystem::exists(files.params_file)) {
      return Error(ErrorClass::kNotFound, "no parameters").in_file(files.params_file);
    }
    return files;
  }

 private:
  static constexpr uint64_t kProcessBytes = uint64_t{8} << 20;

  static const CircuitSpec* circuit_of(ProofKind kind) {
    return circuit_spec_by_id(kind == ProofKind::kWinning ? kWinning : kWindow);
  }
  static void lose(uint64_t bytes) {
    auto* lost = new std::vector<uint8_t>(bytes, 1);
    asm volatile("" : : "r"(lost) : "memory");
  }

  const std::string folder_;
  const std::shared_ptr<const PreparedVerifyingKey> key_;
  const uint64_t leak_bytes_;
  const CircuitSizes sizes_;
};

class SmallBackend final : public WorkerBackend {
 public:
  explicit SmallBackend(std::unique_ptr<WorkerBackend> cpu) : cpu_(std::move(cpu)) {}

  DeviceInfo info() const override { return cpu_->info(); }
  Result<LoadReport> load(const CircuitFiles& files, Progress& progress) override {
    CUZK_ASSIGN(CompiledCircuit circuit, load_compiled_circuit(files.circuit_file, files.spec->id()));
    return cpu_->load(*files.spec, std::move(circuit), files.params_file, files.tables, progress);
  }
  Result<LoadReport> load(const CircuitSpec& spec, CompiledCircuit circuit, const std::string& params,
                          const DeviceTables& tables, Progress& progress) override {
    return cpu_->load(spec, std::move(circuit), params, tables, progress);
  }
  void unload(const CircuitSpec& circuit) override { cpu_->unload(circuit); }
  Result<std::vector<Result<Proof>>> prove(const CircuitSpec& circuit, WitnessSource& witnesses,
                                           Progress& progress) override {
    return cpu_->prove(circuit, witnesses, progress);
  }

 private:
  const std::unique_ptr<WorkerBackend> cpu_;
};

}  // namespace

Submission submission_of(ProofKind kind, uint64_t number) {
  Submission out;
  out.kind = kind;
  out.vanilla_proofs.emplace_back(reinterpret_cast<const char*>(&number), sizeof number);
  return out;
}

std::vector<Fr> public_inputs(uint64_t number) {
  const Fr first = Fr::from_u64(number);
  Fr last = first;
  for (int i = 0; i < kChain; ++i) last *= i % 3 == 0 ? last : first;
  return {first, last};
}

Status make_files(const std::string& folder) {
  NoProgress quiet;
  const CompiledCircuit circuit = compile_small();
  for (const char* id : {kWindow, kWinning}) {
    CUZK_TRY(write_compiled_circuit(circuit_file(folder, id), circuit, id));
    CUZK_ASSIGN(const VerifyingKey key,
                setup_to_file(circuit, toxic_waste_from_seed({}), params_file(folder, id), quiet));
    CUZK_TRY(write_vk(folder + "/soak.vk", key));
  }
  return {};
}

Result<VerifyingKey> read_key(const std::string& folder) { return read_vk(folder + "/soak.vk"); }

std::shared_ptr<ProofService> make_small_service(const std::string& folder, uint64_t leak_bytes) {
  return std::make_shared<SmallService>(folder, std::make_shared<PreparedVerifyingKey>(read_key(folder).value()),
                                        leak_bytes);
}

Result<std::unique_ptr<WorkerBackend>> make_small_backend(std::string_view device, uint32_t ordinal) {
  CUZK_ASSIGN(std::unique_ptr<WorkerBackend> cpu, make_worker_backend(device, ordinal));
  return std::unique_ptr<WorkerBackend>(std::make_unique<SmallBackend>(std::move(cpu)));
}

}  // namespace cuzk::soak
