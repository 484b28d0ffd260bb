// Where parameters lie, and what to tell a user who does not have them.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cuzk/console.hpp"
#include "filecoin/circuit_spec.hpp"
#include "residency/parameter_files.hpp"

namespace cuzk::app {

// `option` where it is not empty, else the environment's FIL_PROOFS_PARAMETER_CACHE, else upstream's default.
std::string parameter_directory(const std::string& option);

// The circuit "porep-2k" and the like. Errors: kUsage, with the list of those that exist.
Result<const CircuitSpec*> circuit_by_id(const std::string& id);

// Sets the hints for parameter files that are absent or damaged.
void hint_at_parameters(Console& console, const CircuitSpec& circuit, const ParameterFiles& files);

}  // namespace cuzk::app
