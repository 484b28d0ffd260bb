// Reads what is named on the command line: a file, a pipe, or standard input.
#pragma once

#include <string>

#include "base/result.hpp"
#include "format/padded_buffer.hpp"

namespace cuzk::app {

// The whole of a file, a pipe, or standard input ("-"). Errors: kNotFound, kIo (a folder too), kInvalidInput above
// max_bytes; each with the path.
Result<PaddedBuffer> read_any_file(const std::string& path, uint64_t max_bytes);
// `path` as errors name it: "-" is "(standard input)".
std::string shown_path(const std::string& path);

}  // namespace cuzk::app
