// The digest by which upstream's parameters.json names a file.
#pragma once

#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "srs/byte_source.hpp"

namespace cuzk {

// The first 32 hex digits (16 bytes) of the BLAKE2b-512 of all bytes. One thread, about 1 GB/s; 1 MiB of memory.
// Errors: those of the source; "cancelled" where `progress` asks to stop. Source: rust-fil-proofs
// filecoin-proofs/parameters.json, "digest".
Result<std::string> file_digest(const ByteSource& source, Progress& progress);
Result<std::string> file_digest(const std::string& path, Progress& progress);

}  // namespace cuzk
