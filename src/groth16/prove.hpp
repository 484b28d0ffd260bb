// From a witness to a proof that has been verified.
#pragma once

#include <span>
#include <vector>

#include "base/secret.hpp"
#include "groth16/backend.hpp"
#include "groth16/proof.hpp"

namespace cuzk {

// The randomness r, s that hides the witness; one per proof, never used twice. Fixed values exist for tests only
// (tests/support/fixed_blinding.hpp).
class Blinding {
 public:
  // From the operating system. Errors: kIo.
  static Result<Blinding> random();

  const Fr& r() const { return r_.expose(); }
  const Fr& s() const { return s_.expose(); }

 private:
  friend struct BlindingForTests;
  Blinding(Secret<Fr> r, Secret<Fr> s) : r_(std::move(r)), s_(std::move(s)) {}
  Secret<Fr> r_, s_;
};

// A proof that the witness satisfies the circuit, for the public inputs witness.inputs without ONE. Nothing leaves
// unverified: the proof is checked against srs.vk first. `report`, where given, gets the steps and their times.
// Branches and memory accesses of what uses r and s do not depend on them.
// Errors: kUnsatisfied, naming the constraint, before the expensive steps; kCorrupt where the parameters are not those
// of the circuit or delta is the identity; kBadProof where the self-check fails (the proof is dropped); kInternal where
// the witness was made for another circuit; kIo where there is no randomness; kResource; kUsage where `progress` asks
// to stop (check_wanted()), before the next step.
Result<Proof> prove(Backend& backend, const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                    const Blinding& blinding, Progress& progress, ProveReport* report = nullptr);
// The same with fresh blinding.
Result<Proof> prove(Backend& backend, const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                    Progress& progress, ProveReport* report = nullptr);

// The end of prove(), for backends that hold the parameters themselves: the blinding is added, and the proof verified
// for `inputs` (ONE first). Errors: kBadProof where the self-check fails.
Result<Proof> finish_proof(const VerifyingKey& vk, const ProofSums& sums, std::span<const Fr> inputs,
                           const Blinding& blinding, Progress& progress, ProveReport& report);
// The same for several, side by side, with fresh blinding for each: inputs[k] are those of sums[k]. What is wrong with
// one of them is told in its place. Errors of all: that of check_wanted().
Result<std::vector<Result<Proof>>> finish_proofs(const VerifyingKey& vk, std::span<const ProofSums> sums,
                                                 std::span<const std::vector<Fr>> inputs, Progress& progress,
                                                 ProveReport& report);

}  // namespace cuzk
