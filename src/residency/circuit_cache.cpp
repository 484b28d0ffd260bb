#include "residency/circuit_cache.hpp"

#include <filesystem>

#include "base/memory_limit.hpp"
#include "circuit/compiled_file.hpp"
#include "filecoin/compiled_figures.hpp"

namespace cuzk {
namespace {

Error prefixed(const char* what, Error error) {
  error.message = std::string(what) + ": " + error.message;
  return error;
}

// The file's digest says that its content is what was written, not that it is this program's circuit.
Status check_counts(const CompiledCircuit& compiled, const CircuitSpec& circuit, const std::string& path) {
  const CircuitCounts counts = circuit.counts();
  if (compiled.num_inputs == counts.inputs && compiled.num_aux == counts.aux &&
      compiled.num_constraints == counts.constraints && compiled.num_bits == counts.bits &&
      compiled.num_fields == counts.fields) {
    return {};
  }
  return Error(ErrorClass::kCorrupt, "not the circuit " + std::string(circuit.id())).in_file(path);
}

Result<CompiledCircuit> read_kept(const CircuitSpec& circuit, const std::string& path, Progress& progress) {
  const ScopedStage stage(progress, "loading the circuit", circuit.counts().constraints, "constraints");
  CUZK_ASSIGN(CompiledCircuit compiled, load_compiled_circuit(path, circuit.id()));
  CUZK_TRY(check_counts(compiled, circuit, path));
  return compiled;
}

Status keep(const CompiledCircuit& compiled, const CircuitSpec& circuit, const std::string& directory,
            Progress& progress) {
  const ScopedStage stage(progress, "keeping the circuit");
  CUZK_TRY(make_cache_directory(directory));
  return write_compiled_circuit(compiled_circuit_path(circuit, directory), compiled, circuit.id());
}

}  // namespace

const char* to_string(CachedCircuit::Source source) {
  switch (source) {
    case CachedCircuit::Source::kCache: return "cache";
    case CachedCircuit::Source::kCompiledAndKept: return "compiled, cached";
    case CachedCircuit::Source::kCompiled: break;
  }
  return "compiled";
}

std::string compiled_circuit_path(const CircuitSpec& circuit, const std::string& directory) {
  const std::string name = std::string(circuit.id()) + "-v" + std::to_string(kCompiledFileVersion) + ".circuit";
  return (std::filesystem::path(directory) / name).string();
}

Status make_cache_directory(const std::string& directory) {
  std::error_code failure;
  if (std::filesystem::create_directories(directory, failure)) {
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, failure);
  }
  if (failure) return Error(ErrorClass::kIo, "cannot make this folder: " + failure.message()).in_file(directory);
  return {};
}

Result<CachedCircuit> load_or_compile(const CircuitSpec& circuit, const std::string& directory, const Warn& warn,
                                      Progress& progress) {
  if (!directory.empty()) {
    Result<CompiledCircuit> kept = read_kept(circuit, compiled_circuit_path(circuit, directory), progress);
    if (kept.ok()) return CachedCircuit{std::move(kept).value(), CachedCircuit::Source::kCache};
    if (kept.error().error_class != ErrorClass::kNotFound) {
      warn(prefixed("the compiled circuit is not used and is made anew", std::move(kept).error()));
    }
  }
  CUZK_TRY(check_memory(compiled_figures(circuit).compiling_bytes(), "compiling " + std::string(circuit.id())));
  CompiledCircuit compiled = [&] {
    const ScopedStage stage(progress, "compiling the circuit", circuit.counts().constraints, "constraints");
    return circuit.compile();
  }();
  if (directory.empty()) return CachedCircuit{std::move(compiled), CachedCircuit::Source::kCompiled};
  Status written = keep(compiled, circuit, directory, progress);
  if (written.ok()) return CachedCircuit{std::move(compiled), CachedCircuit::Source::kCompiledAndKept};
  warn(prefixed("the compiled circuit cannot be kept", std::move(written).error()));
  return CachedCircuit{std::move(compiled), CachedCircuit::Source::kCompiled};
}

}  // namespace cuzk
