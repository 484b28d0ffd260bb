// Verification, one proof at a time and in batches.
// Sources: Groth (2016), section 3.2; filecoin-project/bellperson src/groth16/verifier.rs.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "groth16/proof.hpp"
#include "pairing/pairing.hpp"
#include "srs/srs.hpp"

namespace cuzk {

// A verifying key with what every verification needs computed once: e(alpha, beta) and the lines of -gamma and -delta.
// The points must be finite and in the subgroup, as the readers of srs/ make sure. About 1 ms. Immutable.
class PreparedVerifyingKey {
 public:
  explicit PreparedVerifyingKey(const VerifyingKey& vk);

  size_t num_inputs() const { return ic_.size() - 1; }  // without ONE
  const Fp12& alpha_beta() const { return alpha_beta_; }
  const G2Prepared& minus_gamma() const { return minus_gamma_; }
  const G2Prepared& minus_delta() const { return minus_delta_; }
  std::span<const G1Affine> ic() const { return ic_; }

 private:
  Fp12 alpha_beta_;
  G2Prepared minus_gamma_, minus_delta_;
  std::vector<G1Affine> ic_;
};

// Accepts exactly where e(A, B) = e(alpha, beta) * e(ic[0] + sum x_i * ic[i], gamma) * e(C, delta); inputs are x_1 ..
// x_k, without ONE. The points of the proof must be on the curve and in the subgroup (decode_proof() makes sure).
// Errors: kInvalidInput where the number of inputs is wrong; kBadProof where the proof is refused.
Status verify(const PreparedVerifyingKey& key, const Proof& proof, std::span<const Fr> inputs);

// All proofs at once, as one product of pairings weighted with random 128-bit numbers: a batch with a bad proof passes
// with probability 2^-128. inputs[i] are those of proofs[i]. Where the batch fails, every proof is verified apart and
// the error (kBadProof) names each bad one; its partition is the first. Errors: as verify, kInvalidInput where there is
// no proof, or inputs of another number; kIo where there is no randomness. Cost: a Miller loop a proof and two more.
Status verify_batch(const PreparedVerifyingKey& key, std::span<const Proof> proofs,
                    std::span<const std::vector<Fr>> inputs);

}  // namespace cuzk
