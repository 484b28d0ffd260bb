// What parameter files are called, and whether a file can be one.
#pragma once

#include <string>

#include "base/result.hpp"
#include "filecoin/circuit_spec.hpp"

namespace cuzk {

struct ParameterFiles {
  std::string directory;
  std::string params;  // path of the .params file
  std::string vk;      // path of the .vk file
};

// The names are upstream's: a folder can be shared with other programs.
ParameterFiles parameter_files(const CircuitSpec& circuit, const std::string& directory);

// What the head of a .params file and its length tell: that it is no web page or other text that a failed download
// left, has exactly the counts of the circuit, and begins with a verifying key whose points are on the curve and in the
// subgroup. Milliseconds. Errors, with file, section and offset: kNotFound, kIo, kCorrupt.
Status check_parameter_head(const CircuitSpec& circuit, const std::string& path);

}  // namespace cuzk
