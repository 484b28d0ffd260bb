#include "groth16/prove.hpp"

#include <array>
#include <string>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "curve/mul_secret.hpp"
#include "groth16/scalar.hpp"
#include "groth16/setup.hpp"
#include "groth16/verify.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// 1/x by Fermat: the exponent is public and fixed, so the time does not depend on x (inverse() does).
Fp invert_secret(const Fp& x) {
  Fp::Limbs exponent = Fp::kModulus;
  exponent[0] -= 2;
  return x.pow(std::span<const uint64_t>(exponent));
}
Fp2 invert_secret(const Fp2& x) {
  const Fp norm_inverse = invert_secret(x.c0.square() + x.c1.square());  // u^2 = -1
  return Fp2{x.c0 * norm_inverse, -(x.c1 * norm_inverse)};
}

// z depends on the blinding, so it must leak neither as a value nor through the time of its inversion.
template <class Curve>
Affine<Curve> to_affine_secret(const Jacobian<Curve>& p) {
  const auto zi = invert_secret(p.z);
  const auto zi2 = zi.square();
  return {p.x * zi2, p.y * (zi2 * zi)};
}

Status check_parameters(const CompiledCircuit& circuit, const Srs& srs) {
  const SrsShape have = srs.shape(), need = srs_shape(circuit);
  for (const Section section : kSections) {
    if (have.count(section) == need.count(section)) continue;
    const std::string name = to_string(section);
    return Error(ErrorClass::kCorrupt, "the parameters belong to another circuit: the length of " + name + " is " +
                                           std::to_string(have.count(section)) + ", the circuit needs " +
                                           std::to_string(need.count(section)))
        .at_field(name);
  }
  // Source: bellperson src/groth16/prover/native.rs; such a key hides nothing and proves nothing.
  if (srs.vk.delta_g1.is_infinity() || srs.vk.delta_g2.is_infinity()) {
    return Error(ErrorClass::kCorrupt, "delta of the parameters is the identity").at_field("delta");
  }
  return {};
}

// A = alpha + a + r*delta, B = beta + b + s*delta, C = h + l + s*A + r*B1 - r*s*delta.
// Source: Groth, "On the size of pairing-based non-interactive arguments" (2016), section 3.2.
Proof assemble(const VerifyingKey& vk, const ProofSums& sums, const Blinding& blinding) {
  Proof proof;
  proof.a = to_affine_secret(mul_secret(vk.delta_g1, blinding.r()) + vk.alpha_g1 + sums.a);
  proof.b = to_affine_secret(mul_secret(vk.delta_g2, blinding.s()) + vk.beta_g2 + sums.b_g2);
  const G1Affine b_g1 = to_affine_secret(mul_secret(vk.delta_g1, blinding.s()) + vk.beta_g1 + sums.b_g1);
  const Secret<Fr> rs(blinding.r() * blinding.s());
  proof.c = to_affine_secret(mul_secret(proof.a, blinding.s()) + mul_secret(b_g1, blinding.r()) -
                             mul_secret(vk.delta_g1, rs.expose()) + sums.h + sums.l);
  return proof;
}

// `inputs` with ONE.
Status self_check(const PreparedVerifyingKey& key, const Proof& proof, std::span<const Fr> inputs) {
  const Status verified = verify(key, proof, inputs.subspan(1));
  if (verified.ok()) return {};
  return Error(ErrorClass::kBadProof, "the self-check of the proof failed: " + verified.error().message);
}

Result<Secret<Fr>> random_scalar() {
  std::array<uint8_t, 64> bytes{};
  CUZK_TRY(os_random(bytes));
  Secret<Fr> out(fr_from_wide_bytes(bytes));
  secure_clear(bytes.data(), bytes.size());
  return out;
}

}  // namespace

Result<Blinding> Blinding::random() {
  CUZK_ASSIGN(Secret<Fr> r, random_scalar());
  CUZK_ASSIGN(Secret<Fr> s, random_scalar());
  return Blinding(std::move(r), std::move(s));
}

Result<Proof> finish_proof(const VerifyingKey& vk, const ProofSums& sums, std::span<const Fr> inputs,
                           const Blinding& blinding, Progress& progress, ProveReport& report) {
  CUZK_TRY(check_wanted(progress));
  Proof proof;
  {
    const StepTimer timer(report, progress, "assemble", 1, "proofs");
    proof = assemble(vk, sums, blinding);
  }
  CUZK_TRY(check_wanted(progress));
  const StepTimer timer(report, progress, "self-check", 1, "proofs");
  CUZK_TRY(self_check(PreparedVerifyingKey(vk), proof, inputs));
  return proof;
}

Result<std::vector<Result<Proof>>> finish_proofs(const VerifyingKey& vk, std::span<const ProofSums> sums,
                                                 std::span<const std::vector<Fr>> inputs, Progress& progress,
                                                 ProveReport& report) {
  CUZK_ASSERT(sums.size() == inputs.size());
  CUZK_TRY(check_wanted(progress));
  const StepTimer timer(report, progress, "assemble and self-check", sums.size(), "proofs");
  const PreparedVerifyingKey key(vk);
  const auto finish = [&](size_t k) -> Result<Proof> {
    CUZK_ASSIGN(const Blinding blinding, Blinding::random());
    const Proof proof = assemble(vk, sums[k], blinding);
    CUZK_TRY(self_check(key, proof, inputs[k]));
    return proof;
  };
  std::vector<Result<Proof>> out(sums.size(), Error(ErrorClass::kInternal, "not finished"));
  parallel_for(sums.size(), 1, [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) out[k] = finish(k);
  });
  return Result<std::vector<Result<Proof>>>(std::move(out));
}

Result<Proof> prove(Backend& backend, const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                    const Blinding& blinding, Progress& progress, ProveReport* report) {
  ProveReport unused;
  ProveReport& steps = report == nullptr ? unused : *report;
  CUZK_TRY(check_parameters(circuit, srs));
  if (witness.inputs.size() != circuit.num_inputs) {
    return Error(ErrorClass::kInternal, "the witness was made for another circuit: it has " +
                                            std::to_string(witness.inputs.size()) + " inputs, not " +
                                            std::to_string(circuit.num_inputs));
  }
  CUZK_ASSIGN(const ProofSums sums, backend.evaluate(circuit, srs, witness, progress, steps));
  return finish_proof(srs.vk, sums, witness.inputs, blinding, progress, steps);
}

Result<Proof> prove(Backend& backend, const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                    Progress& progress, ProveReport* report) {
  CUZK_ASSIGN(const Blinding blinding, Blinding::random());
  return prove(backend, circuit, srs, witness, blinding, progress, report);
}

}  // namespace cuzk
