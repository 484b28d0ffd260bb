#include "groth16/proof.hpp"

#include <algorithm>
#include <string>

#include "curve/encoding.hpp"

namespace cuzk {
namespace {

template <class Curve>
Status decode_part(std::span<const uint8_t> proof, size_t offset, const char* name, Affine<Curve>& out) {
  const size_t size = std::is_same_v<Curve, G1Curve> ? kG1CompressedBytes : kG2CompressedBytes;
  const PointError wrong = read_compressed(proof.subspan(offset, size), PointCheck::kSubgroup, out);
  if (wrong == PointError::kNone && !out.is_infinity()) return {};
  const std::string what =
      wrong == PointError::kNone ? std::string("the point is the identity") : to_error(wrong, Curve::kName).message;
  return Error(ErrorClass::kBadProof, std::string("point ") + name + " of the proof: " + what)
      .at_field(name)
      .at_offset(offset);
}

}  // namespace

std::array<uint8_t, kProofBytes> encode(const Proof& proof) {
  std::array<uint8_t, kProofBytes> out{};
  const auto a = compress(proof.a);
  const auto b = compress(proof.b);
  const auto c = compress(proof.c);
  std::copy(c.begin(), c.end(), std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), out.begin())));
  return out;
}

Result<Proof> decode_proof(std::span<const uint8_t> bytes) {
  if (bytes.size() != kProofBytes) {
    return Error(ErrorClass::kInvalidInput,
                 "a proof has " + std::to_string(kProofBytes) + " bytes, not " + std::to_string(bytes.size()));
  }
  Proof proof;
  CUZK_TRY(decode_part(bytes, 0, "a", proof.a));
  CUZK_TRY(decode_part(bytes, kG1CompressedBytes, "b", proof.b));
  CUZK_TRY(decode_part(bytes, kG1CompressedBytes + kG2CompressedBytes, "c", proof.c));
  return proof;
}

std::vector<uint8_t> encode_proofs(std::span<const Proof> proofs) {
  std::vector<uint8_t> out;
  out.reserve(proofs.size() * kProofBytes);
  for (const Proof& proof : proofs) {
    const auto bytes = encode(proof);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

Result<std::vector<Proof>> decode_proofs(std::span<const uint8_t> bytes, size_t count) {
  // Divides instead of multiplying, since count may come from outside.
  if (bytes.size() % kProofBytes != 0 || bytes.size() / kProofBytes != count) {
    return Error(ErrorClass::kInvalidInput, std::to_string(count) + " proofs of " + std::to_string(kProofBytes) +
                                                " bytes are expected, not " + std::to_string(bytes.size()) + " bytes");
  }
  std::vector<Proof> proofs;
  proofs.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    Result<Proof> proof = decode_proof(bytes.subspan(i * kProofBytes, kProofBytes));
    if (!proof.ok()) {
      Error error = std::move(proof).error();
      error.offset = error.offset.value_or(0) + i * kProofBytes;
      return std::move(error).of_partition(static_cast<uint32_t>(i));
    }
    proofs.push_back(*proof);
  }
  return proofs;
}

}  // namespace cuzk
