// Commitments on the command line: CIDs, hexadecimal digits, commdr.txt files.
#pragma once

#include <string>

#include "base/result.hpp"
#include "field/fr.hpp"

namespace cuzk::app {

struct CommDrInput {
  Fr comm_d, comm_r;
};

// The two commitments in a commdr.txt. Errors, with the path: those of the file; kInvalidInput with field and offset.
Result<CommDrInput> read_commdr_file(const std::string& path);

// comm_r from its CID, 64 hexadecimal digits, or the path of a commdr.txt. Errors: as above; `option` is named in those
// that have no file.
Result<Fr> read_comm_r(const std::string& text, const char* option);

}  // namespace cuzk::app
