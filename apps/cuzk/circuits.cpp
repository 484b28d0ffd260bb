#include "cuzk/circuits.hpp"

#include <algorithm>
#include <cstdlib>

namespace cuzk::app {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
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

Result<CachedCircuit> load_circuit(const CircuitSpec& spec, const CacheOptions& options, Console& console) {
  const auto warn = [&](const Error& error) { console.warn("warning: " + error.describe()); };
  return load_or_compile(spec, cache_directory(options), warn, console.progress());
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
