// Reads what is named on the command line: a file, a pipe, or standard input.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "format/padded_buffer.hpp"

namespace cuzk::app {

// How long a document may be that begins so; `head` is its first 4096 bytes, or all of it where it is shorter. What
// cannot become a document, such as a device without end, is given up early.
using LengthLimit = std::function<uint64_t(std::span<const uint8_t> head)>;

// The whole of a file, a pipe, or standard input ("-"). Errors: kNotFound, kIo (a folder too), kInvalidInput above
// the limit; each with the path. Memory: once the content; while a pipe is read up to twice that.
Result<PaddedBuffer> read_any_file(const std::string& path, const LengthLimit& limit);
Result<PaddedBuffer> read_any_file(const std::string& path, uint64_t max_bytes);
// `path` as errors name it: "-" is "(standard input)".
std::string shown_path(const std::string& path);

}  // namespace cuzk::app
