#include "cuzk/parameters.hpp"

#include <cstdlib>

namespace cuzk::app {
namespace {

constexpr const char* kDirectoryVariable = "FIL_PROOFS_PARAMETER_CACHE";
constexpr const char* kDefaultDirectory = "/var/tmp/filecoin-proof-parameters";

}  // namespace

std::string parameter_directory(const std::string& option) {
  if (!option.empty()) return option;
  const char* variable = std::getenv(kDirectoryVariable);
  return variable != nullptr && *variable != '\0' ? variable : kDefaultDirectory;
}

Result<const CircuitSpec*> circuit_by_id(const std::string& id) {
  if (const CircuitSpec* circuit = circuit_spec_by_id(id)) return circuit;
  std::string known;
  for (const CircuitSpec& circuit : circuit_specs()) {
    known += known.empty() ? "" : ", ";
    known += circuit.id();
  }
  return Error(ErrorClass::kUsage, "there is no circuit '" + id + "'; there are " + known);
}

void hint_at_parameters(Console& console, const CircuitSpec& circuit, const ParameterFiles& files) {
  const std::string setup = "cuzk setup --circuit " + std::string(circuit.id()) + " --dir " + files.directory;
  const std::string fetch = circuit.published()
                                ? "fetch Filecoin's published file of that name into " + files.directory +
                                      ", or make parameters for development with `" + setup + "`"
                                : "make parameters for development with `" + setup + "`";
  console.hint(ErrorClass::kNotFound, fetch);
  console.hint(ErrorClass::kCorrupt, "remove the file and " + fetch);
}

}  // namespace cuzk::app
