#include <algorithm>
#include <filesystem>
#include <future>

#include "base/atomic_file.hpp"
#include "base/hex.hpp"
#include "cuzk/circuits.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/device_option.hpp"
#include "cuzk/memory.hpp"
#include "cuzk/parameters.hpp"
#include "cuzk/request_options.hpp"
#include "groth16/proof.hpp"
#include "worker/backend.hpp"

namespace cuzk::app {
namespace {

struct ProveOptions {
  RequestOptions request;
  CacheOptions cache;
  std::string directory;
  std::string out;
  std::string device = "auto";
};

// Fills in what only the request knows.
Error of_request(Error error, const ProofRequest& request, uint32_t partition) {
  if (request.partitions() > 1) error.partition = partition;
  if (!error.sector) error.sector = request.sector();
  return error;
}

// The witnesses of the partitions from `first` on, each made when it is its turn, or with `ahead` (on a GPU, where
// processors are idle and memory has been counted for two) while the one before is proved.
class PartitionWitnesses final : public WitnessSource {
 public:
  PartitionWitnesses(const ProofRequest& request, uint32_t first, bool ahead, Console& console)
      : request_(request), first_(first), ahead_(ahead), console_(console) {}
  unsigned size() const override { return std::min(request_.partitions() - first_, kMostTogether); }
  Result<const PackedWitness*> get(unsigned k) override {
    witness_ = {};
    if (next_.valid()) {
      const ScopedStage stage(console_.progress(), "witness");
      CUZK_ASSIGN(witness_, next_.get());
    } else {
      CUZK_ASSIGN(witness_, make_witness(request_, first_ + k, console_.progress()));
    }
    if (ahead_ && k + 1 < size()) {
      next_ = std::async(std::launch::async, [this, partition = first_ + k + 1] {
        NoProgress quiet;
        return make_witness(request_, partition, quiet);
      });
    }
    return &witness_;
  }

 private:
  const ProofRequest& request_;
  const uint32_t first_;
  const bool ahead_;
  Console& console_;
  PackedWitness witness_;
  std::future<Result<PackedWitness>> next_;
};

// The prover knows the number of a violated constraint; the circuit run with its values knows the path.
Error explain(Error error, const ProofRequest& request, uint32_t partition) {
  // No file's fault, but this program's or this machine's.
  if (error.error_class == ErrorClass::kBadProof) error.error_class = ErrorClass::kInternal;
  if (error.error_class != ErrorClass::kUnsatisfied) return error;
  const Status found = request.check(partition);
  return found.ok() ? error : found.error();
}

Result<std::vector<Proof>> prove_partitions(WorkerBackend& backend, bool on_gpu, const ProofRequest& request,
                                            Console& console) {
  std::vector<Proof> proofs;
  const auto next = [&] { return static_cast<uint32_t>(proofs.size()); };
  while (next() < request.partitions()) {
    PartitionWitnesses witnesses(request, next(), on_gpu, console);
    auto made = backend.prove(request.circuit(), witnesses, console.progress());
    if (!made.ok()) return of_request(explain(made.error(), request, next()), request, next());
    for (const Result<Proof>& proof : *made) {
      if (!proof.ok()) return of_request(explain(proof.error(), request, next()), request, next());
      proofs.push_back(*proof);
    }
  }
  return proofs;
}

// A proof that cannot be written down is not worth making: the file is made before the work.
Result<AtomicFile> create_output(const std::string& path) {
  std::error_code ignored;
  // A rename would replace a device or a socket, not write to it.
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return Error(ErrorClass::kUsage, "--out is a folder or a device; name a file").in_file(path);
  }
  return AtomicFile::create(path);
}

Result<Outcome> run_prove(const ProveOptions& options, Console& console) {
  // The input is refused, if it must be, before anything expensive is touched.
  CUZK_ASSIGN(ProofRequest request, read_request(options.request, RequestUse::kProve, console.progress()));
  {
    const ScopedStage stage(console.progress(), "checking the input");
    CUZK_TRY(request.validate());
  }
  const CircuitSpec& spec = request.circuit();
  const ParameterFiles files = parameter_files(spec, parameter_directory(options.directory));
  CUZK_ASSIGN(AtomicFile out, create_output(options.out));
  hint_at_parameters(console, spec, files);
  CUZK_TRY(check_parameter_head(spec, files.params));
  CUZK_ASSIGN(const DeviceChoice device, find_device_option(options.device));
  CUZK_TRY(device.info.is_gpu ? check_device_prove_memory(spec) : check_prove_memory(spec));
  CUZK_ASSIGN(const std::unique_ptr<WorkerBackend> backend, make_worker_backend(device.device, 0));
  CUZK_ASSIGN(CachedCircuit loaded, load_circuit(spec, options.cache, console));
  CUZK_TRY(backend->load(spec, std::move(loaded.circuit), files.params, DeviceTables(), console.progress()));

  CUZK_ASSIGN(const std::vector<Proof> proofs, prove_partitions(*backend, device.info.is_gpu, request, console));
  const std::vector<uint8_t> proof = encode_proofs(proofs);
  CUZK_TRY(out.write(proof));
  CUZK_TRY(out.commit());
  Outcome outcome;
  outcome.text = "proved " + std::string(request.registered_proof()) + ": " + std::to_string(proofs.size()) +
                 (proofs.size() == 1 ? " partition, " : " partitions, ") + std::to_string(proof.size()) + " bytes in " +
                 options.out + ", verified before they were written";
  describe_request(request, outcome.json);
  outcome.json["proof_file"] = options.out;
  outcome.json["proof"] = to_hex(proof);
  outcome.json["parameters"] = files.params;
  outcome.json["circuit_source"] = to_string(loaded.source);
  outcome.json["device"] = device.device;
  return outcome;
}

}  // namespace

void add_prove_command(CommandLine& line) {
  const auto options = std::make_shared<ProveOptions>();
  CLI::App* command = line.add(
      nullptr, "prove", "Makes the proof of one request and verifies it",
      "  cuzk prove --kind porep --c1 c1.json --dir D --out proof.bin\n"
      "  cuzk prove --kind porep --c1 - --miner-id 1000 --out proof.bin --json < c1.json\n"
      "  cuzk prove --kind snap --registered-proof 3 --vanilla snap-vproof.json --comm-r-old HEX --comm-r-new HEX \\\n"
      "      --comm-d-new HEX --out proof.bin\n"
      "  cuzk prove --kind window --registered-proof 13 --vanilla wpost-vanilla.json --randomness HEX --out proof.bin\n"
      "  cuzk prove --kind winning --registered-proof 3 --vanilla vanilla.bin --randomness HEX --out proof.bin\n",
      [options](Console& console) { return run_prove(*options, console); });
  add_request_options(command, options->request, RequestUse::kProve);
  command->add_option("--dir", options->directory,
                      "Folder of the parameters; default: $FIL_PROOFS_PARAMETER_CACHE, else upstream's default");
  add_cache_options(command, options->cache);
  add_device_option(command, options->device);
  command->add_option("--out", options->out, "Where the proof goes: 192 bytes a partition")->required();
}

}  // namespace cuzk::app
