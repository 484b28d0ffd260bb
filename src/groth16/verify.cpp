#include "groth16/verify.hpp"

#include <algorithm>
#include <string>

#include "base/random.hpp"
#include "msm/msm.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

Status check_inputs(const PreparedVerifyingKey& key, size_t count) {
  if (count == key.num_inputs()) return {};
  return Error(ErrorClass::kInvalidInput, "the verifying key has " + std::to_string(key.num_inputs()) +
                                              " public inputs, not " + std::to_string(count));
}

bool has_identity(const Proof& proof) {
  return proof.a.is_infinity() || proof.b.is_infinity() || proof.c.is_infinity();
}

// first * ic[0] + sum of inputs[i] * ic[i+1].
G1Jacobian input_sum(const PreparedVerifyingKey& key, const Fr& first, std::span<const Fr> inputs) {
  std::vector<Fr> scalars = {first};
  scalars.insert(scalars.end(), inputs.begin(), inputs.end());
  return msm<G1Curve>(key.ic(), scalars);
}

// Uniform in 0 .. 2^128 - 1.
Result<std::vector<Fr>> random_weights(size_t count) {
  std::vector<uint8_t> bytes(16 * count);
  CUZK_TRY(os_random(bytes));
  std::vector<Fr> out(count);
  for (size_t i = 0; i < count; ++i) {
    Fr::Limbs limbs{};
    for (size_t k = 0; k < 16; ++k) limbs[k / 8] |= uint64_t{bytes[16 * i + k]} << (8 * (k % 8));
    out[i] = Fr::from_plain(limbs);
  }
  return out;
}

// The product over j of the Miller functions of (weights[j] * A_j, B_j).
Fp12 weighted_miller_product(std::span<const Proof> proofs, std::span<const Fr> weights) {
  std::vector<Fp12> parts(proofs.size());
  parallel_for(proofs.size(), 1, [&](size_t begin, size_t end) {
    for (size_t j = begin; j < end; ++j) {
      const G1Affine a = G1Jacobian::from_affine(proofs[j].a).mul(weights[j]).to_affine();
      const G2Prepared b(proofs[j].b);
      parts[j] = miller_loop(std::span(&a, 1), std::span(&b, 1));
    }
  });
  Fp12 product = Fp12::one();
  for (const Fp12& part : parts) product = product * part;
  return product;
}

// The batch equation of verify_batch(), for inputs of the right number. With z the sum of the weights z_j:
// prod e(z_j A_j, B_j) * e(z ic[0] + sum_i (sum_j z_j x_ji) ic[i], -gamma) * e(sum z_j C_j, -delta) = e(alpha, beta)^z.
bool weighted_product_holds(const PreparedVerifyingKey& key, std::span<const Proof> proofs,
                            std::span<const std::vector<Fr>> inputs, std::span<const Fr> weights) {
  Fr weight_sum = Fr::zero();
  std::vector<Fr> input_sums(key.num_inputs());
  std::vector<G1Affine> c;
  for (size_t j = 0; j < proofs.size(); ++j) {
    weight_sum += weights[j];
    for (size_t i = 0; i < input_sums.size(); ++i) input_sums[i] += weights[j] * inputs[j][i];
    c.push_back(proofs[j].c);
  }
  const std::array<G1Affine, 2> left = {input_sum(key, weight_sum, input_sums).to_affine(),
                                        msm<G1Curve>(c, weights).to_affine()};
  const std::array<const G2Prepared*, 2> right = {&key.minus_gamma(), &key.minus_delta()};
  const Fp12 product = weighted_miller_product(proofs, weights) * miller_loop(left, right);
  return final_exponentiation(product) == gt_pow(key.alpha_beta(), weight_sum.to_plain());
}

Error name_bad_proofs(const PreparedVerifyingKey& key, std::span<const Proof> proofs,
                      std::span<const std::vector<Fr>> inputs) {
  std::vector<uint8_t> bad(proofs.size());
  parallel_for(proofs.size(), 1, [&](size_t begin, size_t end) {
    for (size_t j = begin; j < end; ++j) bad[j] = !verify(key, proofs[j], inputs[j]).ok();
  });
  std::string names;
  size_t count = 0;
  for (size_t j = 0; j < bad.size(); ++j) {
    if (!bad[j]) continue;
    names += (count == 0 ? "" : ", ") + std::to_string(j);
    ++count;
  }
  if (count == 0) return Error(ErrorClass::kInternal, "a batch of proofs was refused, but each of them verifies");
  const auto first = static_cast<uint32_t>(std::find(bad.begin(), bad.end(), 1) - bad.begin());
  return Error(ErrorClass::kBadProof,
               std::to_string(count) + " of " + std::to_string(bad.size()) + " proofs do not verify: " + names)
      .of_partition(first);
}

}  // namespace

PreparedVerifyingKey::PreparedVerifyingKey(const VerifyingKey& vk)
    : alpha_beta_(pairing(vk.alpha_g1, vk.beta_g2)),
      minus_gamma_(-vk.gamma_g2),
      minus_delta_(-vk.delta_g2),
      ic_(vk.ic) {
  CUZK_ASSERT(!ic_.empty());
}

Status verify(const PreparedVerifyingKey& key, const Proof& proof, std::span<const Fr> inputs) {
  CUZK_TRY(check_inputs(key, inputs.size()));
  if (has_identity(proof)) return Error(ErrorClass::kBadProof, "a point of the proof is the identity");
  const G2Prepared b(proof.b);
  const std::array<G1Affine, 3> left = {proof.a, input_sum(key, Fr::one(), inputs).to_affine(), proof.c};
  const std::array<const G2Prepared*, 3> right = {&b, &key.minus_gamma(), &key.minus_delta()};
  if (pairing_product_is(left, right, key.alpha_beta())) return {};
  return Error(ErrorClass::kBadProof, "the proof does not verify for these public inputs");
}

Status verify_batch(const PreparedVerifyingKey& key, std::span<const Proof> proofs,
                    std::span<const std::vector<Fr>> inputs) {
  if (proofs.empty()) return Error(ErrorClass::kInvalidInput, "there is no proof to verify");
  if (proofs.size() != inputs.size()) {
    return Error(ErrorClass::kInvalidInput, std::to_string(proofs.size()) + " proofs come with the public inputs of " +
                                                std::to_string(inputs.size()));
  }
  for (size_t j = 0; j < inputs.size(); ++j) {
    if (Status status = check_inputs(key, inputs[j].size()); !status.ok()) {
      return std::move(status).error().of_partition(static_cast<uint32_t>(j));
    }
  }
  if (proofs.size() == 1) return verify(key, proofs[0], inputs[0]);
  if (std::none_of(proofs.begin(), proofs.end(), has_identity)) {
    CUZK_ASSIGN(const std::vector<Fr> weights, random_weights(proofs.size()));
    if (weighted_product_holds(key, proofs, inputs, weights)) return {};
  }
  return name_bad_proofs(key, proofs, inputs);
}

}  // namespace cuzk
