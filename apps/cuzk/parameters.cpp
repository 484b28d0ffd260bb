#include "cuzk/parameters.hpp"

#include <unistd.h>

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

ParameterFiles parameter_files(const PorepShape& shape, const std::string& directory) {
  std::string stem = directory;
  if (!stem.empty() && stem.back() != '/') stem += '/';
  stem += porep_parameter_file_stem(shape);
  return {directory, stem + ".params", stem + ".vk"};
}

Result<const PorepShape*> shape_by_circuit_id(const std::string& circuit_id) {
  if (const PorepShape* shape = porep_shape_by_circuit_id(circuit_id)) return shape;
  std::string known;
  for (const PorepShape& shape : porep_shapes()) {
    known += known.empty() ? "" : ", ";
    known += shape.circuit_id;
  }
  return Error(ErrorClass::kUsage, "there is no circuit '" + circuit_id + "'; there are " + known);
}

Status check_proof_kind(const std::string& kind) {
  if (kind == "porep") return {};
  for (const char* planned : {"window-post", "winning-post", "snap"}) {
    if (kind == planned) return Error(ErrorClass::kUnsupported, "proofs of kind '" + kind + "' are not built yet");
  }
  return Error(ErrorClass::kUsage, "there is no kind of proof '" + kind + "'; there is porep");
}

void hint_at_parameters(Console& console, const PorepShape& shape, const ParameterFiles& files) {
  const std::string setup = "cuzk setup --circuit " + std::string(shape.circuit_id) + " --dir " + files.directory;
  const std::string fetch = shape.published ? "fetch Filecoin's published file of that name into " + files.directory +
                                                  ", or make parameters for development with `" + setup + "`"
                                            : "make parameters for development with `" + setup + "`";
  console.hint(ErrorClass::kNotFound, fetch);
  console.hint(ErrorClass::kCorrupt, "remove the file and " + fetch);
}

uint64_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
}

Status check_memory(uint64_t needed_bytes, std::string_view what) {
  const uint64_t present = physical_memory_bytes();
  if (present == 0 || needed_bytes <= present) return {};
  return Error(ErrorClass::kResource, std::string(what) + " needs about " + human_bytes(needed_bytes) +
                                          " of memory, and this machine has " + human_bytes(present));
}

}  // namespace cuzk::app
