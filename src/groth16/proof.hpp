// A Groth16 proof and its 192 bytes: A (48, G1), B (96, G2), C (48, G1), compressed.
// Source: filecoin-project/bellperson src/groth16/proof.rs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

namespace cuzk {

inline constexpr size_t kProofBytes = 192;

struct Proof {
  G1Affine a;
  G2Affine b;
  G1Affine c;
  friend bool operator==(const Proof&, const Proof&) = default;
};

std::array<uint8_t, kProofBytes> encode(const Proof& proof);
// Reads one proof. Errors: kInvalidInput where the length is not 192; kBadProof, with the field ("a", "b", "c") and
// offset, where a point is malformed, off the curve, outside the subgroup or the identity. About 0.3 ms.
Result<Proof> decode_proof(std::span<const uint8_t> bytes);

// The proofs of a sector's partitions are concatenated in partition order, without separators.
std::vector<uint8_t> encode_proofs(std::span<const Proof> proofs);
// Reads exactly `count` proofs. Errors: as decode_proof, with the partition.
Result<std::vector<Proof>> decode_proofs(std::span<const uint8_t> bytes, size_t count);

}  // namespace cuzk
