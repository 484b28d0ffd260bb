#include "cuzk/command_line.hpp"
#include "cuzk/parameters.hpp"
#include "cuzk/read_file.hpp"
#include "cuzk/request_options.hpp"
#include "cuzk/verification.hpp"

namespace cuzk::app {
namespace {

struct VerifyOptions {
  RequestOptions request;
  std::string directory;
  std::string vk;
  std::string proof;
};

// More than any number of partitions makes; what is longer is another file.
constexpr uint64_t kMaxProofFileBytes = uint64_t{1} << 20;

Result<std::vector<Proof>> read_proofs(const std::string& path, size_t partitions) {
  CUZK_ASSIGN(const PaddedBuffer buffer, read_any_file(path, kMaxProofFileBytes));
  Result<std::vector<Proof>> proofs = decode_proofs(buffer.bytes(), partitions);
  if (!proofs.ok()) proofs.error().file = path;
  return proofs;
}

Result<Outcome> run_verify(const VerifyOptions& options, Console& console) {
  CUZK_ASSIGN(const ProofRequest request, read_request(options.request, RequestUse::kVerify, console.progress()));
  CUZK_ASSIGN(const std::vector<Proof> proofs, read_proofs(options.proof, request.partitions()));
  const ParameterFiles files = parameter_files(request.circuit(), parameter_directory(options.directory));
  hint_at_parameters(console, request.circuit(), files);
  CUZK_ASSIGN(const VerifyingKey vk, read_verifying_key(options.vk, files));
  {
    const ScopedStage stage(console.progress(), "verifying", proofs.size(), "proofs");
    CUZK_TRY(verify_proofs(PreparedVerifyingKey(vk), request, proofs));
  }
  const bool miner_checked = request.porep() != nullptr && options.request.miner_id.has_value();
  Outcome outcome;
  outcome.text = options.proof + ": valid proof of " + std::string(request.registered_proof()) + ", " +
                 std::to_string(proofs.size()) + (proofs.size() == 1 ? " partition" : " partitions") +
                 (miner_checked ? ", replica of miner " + std::to_string(*options.request.miner_id) : "");
  describe_request(request, outcome.json);
  outcome.json["proof_file"] = options.proof;
  outcome.json["valid"] = true;
  if (request.porep() != nullptr) outcome.json["replica_id_checked"] = miner_checked;
  return outcome;
}

}  // namespace

void add_verify_command(CommandLine& line) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = line.add(
      nullptr, "verify", "Verifies a proof against the request that it was made for",
      "  cuzk verify --kind porep --c1 c1.json --dir D --proof proof.bin\n"
      "  cuzk verify --kind porep --c1 c1.json --vk some.vk --proof proof.bin --json\n"
      "  cuzk verify --kind porep --c1 c1.json --dir D --proof proof.bin --miner-id 1000\n"
      "  cuzk verify --kind snap --registered-proof 3 --comm-r-old HEX --comm-r-new HEX --comm-d-new HEX --proof "
      "proof.bin\n"
      "  cuzk verify --kind window --registered-proof 13 --vanilla vanilla.json --randomness HEX --proof proof.bin\n",
      [options](Console& console) { return run_verify(*options, console); });
  add_request_options(command, options->request, RequestUse::kVerify);
  command->add_option("--proof", options->proof, "The proof: 192 bytes a partition")->required();
  command->add_option("--dir", options->directory,
                      "Folder of the parameters; default: $FIL_PROOFS_PARAMETER_CACHE, else upstream's default");
  command->add_option("--vk", options->vk, "Verifying key to use instead of the one in the folder");
}

}  // namespace cuzk::app
