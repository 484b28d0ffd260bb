#include "cuzk/circuits.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/parameters.hpp"
#include "cuzk/porep_input.hpp"
#include "groth16/proof.hpp"
#include "groth16/verify.hpp"
#include "srs/params_file.hpp"

namespace cuzk::app {
namespace {

struct VerifyOptions {
  std::string kind = "porep";
  std::string input;
  std::string directory;
  std::string vk;
  std::string proof;
  std::optional<uint64_t> miner_id;
  std::optional<uint64_t> sector;
};

// More than any number of partitions makes; what is longer is another file.
constexpr uint64_t kMaxProofFileBytes = uint64_t{1} << 20;

Result<std::vector<Proof>> read_proofs(const std::string& path, size_t partitions) {
  CUZK_ASSIGN(const PaddedBuffer buffer, read_any_file(path, kMaxProofFileBytes));
  Result<std::vector<Proof>> proofs = decode_proofs(buffer.bytes(), partitions);
  if (!proofs.ok()) proofs.error().file = path;
  return proofs;
}

// The small .vk file where there is one, else the head of the parameters.
Result<VerifyingKey> read_verifying_key(const VerifyOptions& options, const ParameterFiles& files) {
  if (!options.vk.empty()) return read_vk(options.vk);
  Result<VerifyingKey> vk = read_vk(files.vk);
  if (vk.ok() || vk.error().error_class != ErrorClass::kNotFound) return vk;
  Result<VerifyingKey> from_params = read_params_vk(files.params);
  if (!from_params.ok() && from_params.error().error_class == ErrorClass::kNotFound) return vk;
  return from_params;
}

Status check_miner(const VerifyOptions& options, const PorepC1& c1) {
  if (!options.miner_id) return {};
  const std::optional<uint64_t> sector = options.sector ? options.sector : c1.sector_number;
  if (!sector) return Error(ErrorClass::kUsage, "--miner-id needs --sector where the input has no SectorNum");
  return check_porep_replica_id(c1, *options.miner_id, *sector);
}

Result<Outcome> run_verify(const VerifyOptions& options, Console& console) {
  CUZK_TRY(check_proof_kind(options.kind));
  CUZK_ASSIGN(const PorepC1 c1, read_porep_input(options.input, console.progress()));
  CUZK_TRY(check_porep_supported(c1));
  CUZK_TRY(check_miner(options, c1));
  CUZK_ASSIGN(const std::vector<Proof> proofs, read_proofs(options.proof, c1.partitions.size()));
  const ParameterFiles files = parameter_files(c1.shape(), parameter_directory(options.directory));
  hint_at_parameters(console, c1.shape(), files);
  CUZK_ASSIGN(const VerifyingKey vk, read_verifying_key(options, files));
  {
    const ScopedStage stage(console.progress(), "verifying", proofs.size(), "proofs");
    const PreparedVerifyingKey prepared(vk);
    std::vector<std::vector<Fr>> inputs;
    for (uint32_t k = 0; k < proofs.size(); ++k) inputs.push_back(porep_public_inputs(c1, k));
    CUZK_TRY(verify_batch(prepared, proofs, inputs));
  }
  Outcome outcome;
  outcome.text = options.proof + ": valid proof of " + std::string(c1.proof->name) + ", " +
                 std::to_string(proofs.size()) + (proofs.size() == 1 ? " partition" : " partitions") +
                 (options.miner_id ? ", replica of miner " + std::to_string(*options.miner_id) : "");
  outcome.json = {{"kind", options.kind},
                  {"registered_proof", std::string(c1.proof->name)},
                  {"circuit", std::string(c1.shape().circuit_id)},
                  {"partitions", proofs.size()},
                  {"proof_file", options.proof},
                  {"valid", true},
                  {"replica_id_checked", options.miner_id.has_value()}};
  if (c1.sector_number) outcome.json["sector"] = *c1.sector_number;
  return outcome;
}

// CLI11 reads "-1" as 2^64 - 1.
std::string decimal_error(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 20 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "not a number from 0 to 2^64 - 1: " + text;
}

}  // namespace

void add_verify_command(CommandLine& line) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = line.add(nullptr, "verify", "Verifies a proof against the request that it was made for",
                               "  cuzk verify --kind porep --input c1.json --dir D --proof proof.bin\n"
                               "  cuzk verify --kind porep --input c1.json --vk some.vk --proof proof.bin --json\n"
                               "  cuzk verify --kind porep --input c1.json --dir D --proof proof.bin --miner-id 1000\n",
                               [options](Console& console) { return run_verify(*options, console); });
  command->add_option("--kind", options->kind, "Kind of proof: porep")->required();
  command->add_option("--input", options->input, "The C1 JSON that was proved; - for stdin")->required();
  command->add_option("--proof", options->proof, "The proof: 192 bytes a partition")->required();
  command->add_option("--dir", options->directory,
                      "Folder of the parameters; default: $FIL_PROOFS_PARAMETER_CACHE, else upstream's default");
  command->add_option("--vk", options->vk, "Verifying key to use instead of the one in the folder");
  command
      ->add_option("--miner-id", options->miner_id,
                   "Also recomputes the replica id from this miner's actor id and the sector number")
      ->check(decimal_error);
  command->add_option("--sector", options->sector, "Sector number; default: the input's SectorNum")
      ->check(decimal_error);
}

}  // namespace cuzk::app
