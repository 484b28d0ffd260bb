#include "format/commitment_cid.hpp"

#include <algorithm>
#include <array>

namespace cuzk {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
constexpr char kMultibase = 'b';
constexpr std::string_view kBlanks = " \t\r\n";

// Version 1, codec, multihash, length 32; as varints.
constexpr std::array<uint8_t, 8> kSealedPrefix = {0x01, 0x82, 0xe2, 0x03, 0x81, 0xe8, 0x02, 0x20};
constexpr std::array<uint8_t, 7> kUnsealedPrefix = {0x01, 0x81, 0xe2, 0x03, 0x92, 0x20, 0x20};

std::span<const uint8_t> prefix_of(CommitmentKind kind) {
  if (kind == CommitmentKind::kSealed) return kSealedPrefix;
  return kUnsealedPrefix;
}

Error invalid(size_t offset, std::string message) {
  return Error(ErrorClass::kInvalidInput, std::move(message)).at_offset(offset);
}

// `value` of the field `key`, as a word that begins with "key:"; `at` moves behind it.
Result<NodeBytes> read_field(std::string_view text, size_t& at, std::string_view key, CommitmentKind kind) {
  at = std::min(text.find_first_not_of(kBlanks, at), text.size());
  const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
  const std::string_view word = text.substr(at, end - at);
  const std::string name(key);
  if (!word.starts_with(name + ":")) return invalid(at, "'" + name + ":' and a CID must stand here").at_field(name);
  const size_t start = at + name.size() + 1;
  at = end;
  Result<NodeBytes> commitment = read_commitment_cid(kind, word.substr(name.size() + 1));
  if (commitment.ok()) return commitment;
  Error error = std::move(commitment).error();
  error.field = name;
  error.offset = start + error.offset.value_or(0);
  return error;
}

}  // namespace

std::string write_commitment_cid(CommitmentKind kind, const NodeBytes& commitment) {
  const std::span<const uint8_t> prefix = prefix_of(kind);
  std::vector<uint8_t> bytes(prefix.begin(), prefix.end());
  bytes.insert(bytes.end(), commitment.begin(), commitment.end());
  std::string out(1, kMultibase);
  uint32_t pending = 0, bits = 0;
  for (const uint8_t byte : bytes) {
    pending = pending << 8 | byte;
    for (bits += 8; bits >= 5; bits -= 5) out += kAlphabet[pending >> (bits - 5) & 31];
    pending &= 31;
  }
  if (bits > 0) out += kAlphabet[pending << (5 - bits) & 31];
  return out;
}

Result<NodeBytes> read_commitment_cid(CommitmentKind kind, std::string_view text) {
  const std::span<const uint8_t> prefix = prefix_of(kind);
  const size_t bytes = prefix.size() + kNodeBytes, digits = (bytes * 8 + 4) / 5;
  if (text.size() != 1 + digits) {
    return invalid(std::min(text.size(), 1 + digits), "has " + std::to_string(text.size()) +
                                                          " characters, the CID of a " +
                                                          (kind == CommitmentKind::kSealed ? "sealed" : "unsealed") +
                                                          " commitment has " + std::to_string(1 + digits));
  }
  if (text[0] != kMultibase) return invalid(0, "must begin with 'b', for base32");
  std::vector<uint8_t> decoded;
  uint32_t pending = 0, bits = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    const size_t digit = kAlphabet.find(text[i]);
    if (digit == std::string_view::npos) return invalid(i, "this is no digit of base32 (a-z, 2-7)");
    pending = pending << 5 | static_cast<uint32_t>(digit);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    decoded.push_back(static_cast<uint8_t>(pending >> bits));
    pending &= (1u << bits) - 1;
    const size_t at = decoded.size() - 1;
    if (at < prefix.size() && decoded[at] != prefix[at]) {
      return invalid(i, kind == CommitmentKind::kSealed ? "this is no CID of comm_r (bagboea4b5abc...)"
                                                        : "this is no CID of comm_d (baga6ea4seaq...)");
    }
  }
  if (pending != 0) return invalid(text.size() - 1, "the last digit has bits that belong to no byte");
  NodeBytes out{};
  std::copy(decoded.begin() + static_cast<std::ptrdiff_t>(prefix.size()), decoded.end(), out.begin());
  return out;
}

std::string write_commdr(const CommDr& commitments) {
  return "d:" + write_commitment_cid(CommitmentKind::kUnsealed, commitments.comm_d) +
         " r:" + write_commitment_cid(CommitmentKind::kSealed, commitments.comm_r) + "\n";
}

Result<CommDr> read_commdr(std::string_view text) {
  CommDr out;
  size_t at = 0;
  CUZK_ASSIGN(out.comm_d, read_field(text, at, "d", CommitmentKind::kUnsealed));
  CUZK_ASSIGN(out.comm_r, read_field(text, at, "r", CommitmentKind::kSealed));
  at = text.find_first_not_of(kBlanks, at);
  if (at != std::string_view::npos) return invalid(at, "something follows the two commitments");
  return out;
}

}  // namespace cuzk
