#include "cuzk/commitment_input.hpp"

#include "base/hex.hpp"
#include "cuzk/read_file.hpp"
#include "format/commitment_cid.hpp"

namespace cuzk::app {
namespace {

Result<Fr> to_element(std::span<const uint8_t> commitment, const char* field) {
  const auto element = Fr::from_bytes_le(commitment);
  if (!element) return Error(ErrorClass::kInvalidInput, "is not a canonical field element").at_field(field);
  if (element->is_zero()) return Error(ErrorClass::kInvalidInput, "is zero").at_field(field);
  return *element;
}

template <class T>
Result<T> in_file(Result<T> result, const std::string& path) {
  if (!result.ok()) result.error().file = path;
  return result;
}

}  // namespace

Result<CommDrInput> read_commdr_file(const std::string& path) {
  CUZK_ASSIGN(const PaddedBuffer content, read_any_file(path, kMaxCommDrBytes));
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  CUZK_ASSIGN(const CommDr commitments, in_file(read_commdr(text), path));
  CommDrInput out;
  CUZK_ASSIGN(out.comm_d, in_file(to_element(commitments.comm_d, "d"), path));
  CUZK_ASSIGN(out.comm_r, in_file(to_element(commitments.comm_r, "r"), path));
  return out;
}

Result<Fr> read_comm_r(const std::string& text, const char* option) {
  if (text.starts_with("bag")) {
    Result<NodeBytes> commitment = read_commitment_cid(CommitmentKind::kSealed, text);
    if (!commitment.ok()) {
      commitment.error().field = option;
      return std::move(commitment).error();
    }
    return to_element(*commitment, option);
  }
  if (const auto digits = from_hex(text); digits && digits->size() == kNodeBytes) return to_element(*digits, option);
  CUZK_ASSIGN(const CommDrInput commitments, read_commdr_file(text));
  return commitments.comm_r;
}

}  // namespace cuzk::app
