#include <filesystem>

#include "base/atomic_file.hpp"
#include "base/hex.hpp"
#include "cuzk/circuits.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/parameters.hpp"
#include "cuzk/porep_input.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/proof.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "srs/params_file.hpp"

namespace cuzk::app {
namespace {

struct ProveOptions {
  std::string kind = "porep";
  std::string input;
  std::string directory;
  std::string out;
};

// Memory of a proof beyond the parameters: matrices, a, b, c and the expanded witness, per row of the domain.
constexpr uint64_t kBytesPerDomainRow = 256;

Status check_prove_memory(const PorepShape& shape, const SrsShape& srs) {
  const uint64_t rows = uint64_t{1} << porep_circuit_counts(shape, shape.challenges).log2_domain();
  return check_memory(params_file_bytes(srs) + rows * kBytesPerDomainRow,
                      "proving " + std::string(shape.circuit_id) + " on the CPU");
}

Result<std::vector<Proof>> prove_partitions(const PorepC1& c1, const CompiledCircuit& circuit, const Srs& srs,
                                            Console& console) {
  CpuBackend backend;
  std::vector<Proof> proofs;
  for (uint32_t k = 0; k < c1.partitions.size(); ++k) {
    const PackedWitness witness = make_witness(c1, k, console.progress());
    Result<Proof> proof = prove(backend, circuit, srs, witness, console.progress());
    if (!proof.ok()) {
      // The prover knows the constraint's number; the circuit run with its values knows the path.
      if (proof.error().error_class == ErrorClass::kUnsatisfied) CUZK_TRY(porep_check(c1, k));
      proof.error().partition = k;
      proof.error().sector = c1.sector_number;
      return std::move(proof).error();
    }
    proofs.push_back(*proof);
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
  CUZK_TRY(check_proof_kind(options.kind));
  // The input is refused, if it must be, before anything expensive is touched.
  CUZK_ASSIGN(const PorepC1 c1, read_porep_input(options.input, console.progress()));
  CUZK_TRY(check_porep_supported(c1));
  {
    const ScopedStage stage(console.progress(), "checking the input");
    CUZK_TRY(validate_porep_vanilla(c1));
  }
  const PorepShape& shape = c1.shape();
  const ParameterFiles files = parameter_files(shape, parameter_directory(options.directory));
  CUZK_ASSIGN(AtomicFile out, create_output(options.out));
  hint_at_parameters(console, shape, files);
  CUZK_ASSIGN(const SrsShape present, inspect_params(files.params));
  CUZK_TRY(check_prove_memory(shape, present));
  CUZK_ASSIGN(const CompiledCircuit circuit, compile_circuit(shape, console.progress()));
  CUZK_ASSIGN(const Srs srs, read_params(files.params, {.expected = srs_shape(circuit)}, console.progress()));

  CUZK_ASSIGN(const std::vector<Proof> proofs, prove_partitions(c1, circuit, srs, console));
  const std::vector<uint8_t> proof = encode_proofs(proofs);
  CUZK_TRY(out.write(proof));
  CUZK_TRY(out.commit());
  Outcome outcome;
  outcome.text = "proved " + std::string(c1.proof->name) + ": " + std::to_string(c1.partitions.size()) +
                 (c1.partitions.size() == 1 ? " partition, " : " partitions, ") + std::to_string(proof.size()) +
                 " bytes in " + options.out + ", verified before they were written";
  outcome.json = {{"kind", options.kind},
                  {"registered_proof", std::string(c1.proof->name)},
                  {"circuit", std::string(shape.circuit_id)},
                  {"partitions", c1.partitions.size()},
                  {"proof_file", options.out},
                  {"proof", to_hex(proof)},
                  {"parameters", files.params}};
  if (c1.sector_number) outcome.json["sector"] = *c1.sector_number;
  return outcome;
}

}  // namespace

void add_prove_command(CommandLine& line) {
  const auto options = std::make_shared<ProveOptions>();
  CLI::App* command = line.add(nullptr, "prove", "Makes the proof of one request and verifies it",
                               "  cuzk prove --kind porep --input c1.json --dir D --out proof.bin\n"
                               "  cuzk prove --kind porep --input - --out proof.bin --json < c1.json\n",
                               [options](Console& console) { return run_prove(*options, console); });
  command->add_option("--kind", options->kind, "Kind of proof: porep")->required();
  command->add_option("--input", options->input, "C1 JSON, with or without the SectorNum wrapper; - for stdin")
      ->required();
  command->add_option("--dir", options->directory,
                      "Folder of the parameters; default: $FIL_PROOFS_PARAMETER_CACHE, else upstream's default");
  command->add_option("--out", options->out, "Where the proof goes: 192 bytes a partition")->required();
}

}  // namespace cuzk::app
