#include "cuzk/circuits.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "circuit/compiled_file.hpp"
#include "cuzk/memory.hpp"
#include "cuzk/stage_progress.hpp"

namespace cuzk::app {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string cache_file(const CircuitSpec& spec, const std::string& directory) {
  return (std::filesystem::path(directory) /
          (std::string(spec.id()) + "-v" + std::to_string(kCompiledFileVersion) + ".circuit"))
      .string();
}

// The file's digest says that its content is what was written, not that it is this program's circuit.
Status check_counts(const CompiledCircuit& circuit, const CircuitSpec& spec, const std::string& path) {
  const CircuitCounts counts = spec.counts();
  if (circuit.num_inputs == counts.inputs && circuit.num_aux == counts.aux &&
      circuit.num_constraints == counts.constraints && circuit.num_bits == counts.bits &&
      circuit.num_fields == counts.fields) {
    return {};
  }
  return Error(ErrorClass::kCorrupt, "not the circuit " + std::string(spec.id())).in_file(path);
}

Result<CompiledCircuit> read_cached(const CircuitSpec& spec, const std::string& path, Console& console) {
  const ScopedStage stage(console.progress(), "loading the circuit", spec.counts().constraints, "constraints");
  CUZK_ASSIGN(CompiledCircuit circuit, load_compiled_circuit(path, spec.id()));
  CUZK_TRY(check_counts(circuit, spec, path));
  return circuit;
}

Status write_cached(const CompiledCircuit& circuit, const CircuitSpec& spec, const std::string& path,
                    Console& console) {
  const ScopedStage stage(console.progress(), "keeping the circuit");
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code failure;
  if (std::filesystem::create_directories(directory, failure)) {
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, failure);
  }
  if (failure) return Error(ErrorClass::kIo, "cannot make this folder: " + failure.message()).in_file(directory);
  return write_compiled_circuit(path, circuit, spec.id());
}

}  // namespace

void add_cache_options(CLI::App* command, CacheOptions& options) {
  CLI::Option* directory = command->add_option(
      "--cache-dir", options.directory,
      "Folder that keeps compiled circuits; default: $CUZK_CACHE_DIR, else cuzk in $XDG_CACHE_HOME or ~/.cache");
  command->add_flag("--no-cache", options.off, "Compiles the circuit, and keeps nothing")->excludes(directory);
}

std::string cache_directory(const CacheOptions& options) {
  if (options.off) return "";
  if (!options.directory.empty()) return options.directory;
  if (const std::string own = variable("CUZK_CACHE_DIR"); !own.empty()) return own;
  // Relative paths in XDG's variables are to be ignored.
  if (const std::string base = variable("XDG_CACHE_HOME"); base.starts_with('/')) return base + "/cuzk";
  if (const std::string home = variable("HOME"); home.starts_with('/')) return home + "/.cache/cuzk";
  return "";
}

Result<LoadedCircuit> load_circuit(const CircuitSpec& spec, const CacheOptions& options, Console& console) {
  const std::string directory = cache_directory(options);
  const std::string path = directory.empty() ? "" : cache_file(spec, directory);
  if (!path.empty()) {
    Result<CompiledCircuit> cached = read_cached(spec, path, console);
    if (cached.ok()) return LoadedCircuit{std::move(cached).value(), "cache"};
    if (cached.error().error_class != ErrorClass::kNotFound) {
      console.warn("warning: the compiled circuit is not used and is made anew: " + cached.error().describe());
    }
  }
  CUZK_TRY(check_compile_memory(spec));
  CompiledCircuit circuit = [&] {
    const ScopedStage stage(console.progress(), "compiling the circuit", spec.counts().constraints, "constraints");
    return spec.compile();
  }();
  if (path.empty()) return LoadedCircuit{std::move(circuit), "compiled"};
  const Status kept = write_cached(circuit, spec, path, console);
  if (kept.ok()) return LoadedCircuit{std::move(circuit), "compiled, cached"};
  console.warn("warning: the compiled circuit cannot be kept: " + kept.error().describe());
  return LoadedCircuit{std::move(circuit), "compiled"};
}

Result<PackedWitness> make_witness(const ProofRequest& request, uint32_t partition, Progress& progress) {
  const ScopedStage stage(progress, "witness", request.circuit().counts().constraints, "constraints");
  PackedWitness witness = request.witness(partition);
  const std::vector<Fr> inputs = request.public_inputs(partition);
  if (std::equal(witness.inputs.begin() + 1, witness.inputs.end(), inputs.begin(), inputs.end())) return witness;
  return Error(ErrorClass::kInternal, "the witness has other public inputs than a verifier computes")
      .of_partition(partition);
}

}  // namespace cuzk::app
