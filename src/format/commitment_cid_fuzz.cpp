// Any text is read or refused, never worse. A CID that is read is the only text of its commitment; a commdr.txt that is
// read has the same commitments once it is written again. The first byte says which.
#include <cstdlib>

#include "format/commitment_cid.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto refused = [&](const auto& read) {
    if (read.ok()) return false;
    const Error& error = read.error();
    if (error.error_class != ErrorClass::kInvalidInput || error.message.empty()) std::abort();
    if (!error.offset || *error.offset > text.size()) std::abort();
    return true;
  };
  if (data[0] % 3 < 2) {
    const CommitmentKind kind = data[0] % 3 == 0 ? CommitmentKind::kSealed : CommitmentKind::kUnsealed;
    const Result<NodeBytes> read = read_commitment_cid(kind, text);
    if (!refused(read) && write_commitment_cid(kind, *read) != text) std::abort();
    return 0;
  }
  const Result<CommDr> read = read_commdr(text);
  if (refused(read)) return 0;
  const Result<CommDr> again = read_commdr(write_commdr(*read));
  if (!again.ok() || again->comm_d != read->comm_d || again->comm_r != read->comm_r) std::abort();
  return 0;
}
