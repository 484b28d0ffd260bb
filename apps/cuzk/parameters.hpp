// Where parameters lie, what they are called, and what to tell a user who does not have them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cuzk/console.hpp"
#include "filecoin/porep.hpp"

namespace cuzk::app {

struct ParameterFiles {
  std::string directory;
  std::string params;  // path of the .params file
  std::string vk;      // path of the .vk file
};

// `option` where it is not empty, else the environment's FIL_PROOFS_PARAMETER_CACHE, else upstream's default.
std::string parameter_directory(const std::string& option);
ParameterFiles parameter_files(const PorepShape& shape, const std::string& directory);

// The shape of "porep-2k" and the like. Errors: kUsage, with the list of those that exist.
Result<const PorepShape*> shape_by_circuit_id(const std::string& circuit_id);
// Refuses kinds of proof that are not built yet (kUnsupported) and those that do not exist (kUsage).
Status check_proof_kind(const std::string& kind);

// Sets the hints for parameter files that are absent or damaged.
void hint_at_parameters(Console& console, const PorepShape& shape, const ParameterFiles& files);

// Bytes of memory this machine has; 0 where that cannot be told.
uint64_t physical_memory_bytes();
// kResource where `needed` bytes are more than the machine has, with both numbers.
Status check_memory(uint64_t needed_bytes, std::string_view what);

}  // namespace cuzk::app
