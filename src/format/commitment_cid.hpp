// CIDs of commitments, and the commdr.txt files that name a sector's two.
// Source: go-fil-commcid, multiformats (CIDv1, base32 lower case without padding).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "filecoin/porep.hpp"

namespace cuzk {

enum class CommitmentKind : uint8_t {
  kSealed,    // comm_r: "bagboea4b5abc..."
  kUnsealed,  // comm_d: "baga6ea4seaq..."
};

// The text of a commitment's CID.
std::string write_commitment_cid(CommitmentKind kind, const NodeBytes& commitment);

// The commitment in a CID of that kind, which must be as write_commitment_cid writes it. Errors: kInvalidInput with the
// offset of the first character that is not; whether the 32 bytes are a field element is not looked at.
Result<NodeBytes> read_commitment_cid(CommitmentKind kind, std::string_view text);

struct CommDr {
  NodeBytes comm_d{}, comm_r{};
};

// "d:<CID> r:<CID>" and a line feed.
std::string write_commdr(const CommDr& commitments);
// That, with any blanks and line feeds around the two. Errors: kInvalidInput with the field ("d", "r") and the offset.
Result<CommDr> read_commdr(std::string_view text);
// No commdr.txt is longer.
inline constexpr uint64_t kMaxCommDrBytes = 1024;

}  // namespace cuzk
