// The folder that keeps compiled circuits: one file a circuit, used where it is good, made anew where it is not.
#pragma once

#include <functional>
#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "filecoin/circuit_spec.hpp"

namespace cuzk {

// For what is no failure but worth telling: a file that is made anew, a folder that cannot be written.
using Warn = std::function<void(const Error&)>;

struct CachedCircuit {
  enum class Source : uint8_t { kCache, kCompiledAndKept, kCompiled };
  CompiledCircuit circuit;
  Source source = Source::kCompiled;
};
// "cache", "compiled, cached", "compiled".
const char* to_string(CachedCircuit::Source source);

// "porep-32g-v1.circuit" in the folder.
std::string compiled_circuit_path(const CircuitSpec& circuit, const std::string& directory);

// The matrices of one partition's circuit, from the folder or compiled and kept there; nothing is kept where
// `directory` is empty. A file that is damaged, of another circuit or another version is replaced with a warning; that
// the new one cannot be kept is a warning too. Errors: kResource where compiling needs more memory than there is.
Result<CachedCircuit> load_or_compile(const CircuitSpec& circuit, const std::string& directory, const Warn& warn,
                                      Progress& progress);

// Makes the folder where there is none, for its owner only. Error kIo.
Status make_cache_directory(const std::string& directory);

}  // namespace cuzk
