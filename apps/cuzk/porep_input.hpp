// Reads a PoRep C1 output for `prove` and `verify`, and refuses it where this build cannot finish it.
#pragma once

#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "filecoin/porep_vanilla.hpp"
#include "format/padded_buffer.hpp"

namespace cuzk::app {

// The whole of a file, a pipe, or standard input ("-"). Errors: kNotFound, kIo (a folder too), kInvalidInput above
// max_bytes; each with the path.
Result<PaddedBuffer> read_any_file(const std::string& path, uint64_t max_bytes);

// Reads and parses a C1 output. Errors: as read_any_file; kInvalidInput with the field's path and the offset.
Result<PorepC1> read_porep_input(const std::string& path, Progress& progress);

// Refuses proofs that this build cannot finish: non-interactive ones, whose partitions are aggregated afterwards.
Status check_porep_supported(const PorepC1& c1);

}  // namespace cuzk::app
