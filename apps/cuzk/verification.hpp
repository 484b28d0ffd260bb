// Whether proofs are those of a request: what `verify` decides, and what commands that get proofs from a daemon ask.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "cuzk/parameters.hpp"
#include "filecoin/proof_request.hpp"
#include "groth16/proof.hpp"
#include "groth16/verify.hpp"

namespace cuzk::app {

// `vk` where it is not empty; else the small .vk file where there is one, else the head of the parameters. Errors:
// kNotFound, kCorrupt, kIo, with the file.
Result<VerifyingKey> read_verifying_key(const std::string& vk, const ParameterFiles& files);

// All proofs, one a partition, against the request's public inputs. Errors: kBadProof, with the partition.
Status verify_proofs(const PreparedVerifyingKey& vk, const ProofRequest& request, std::span<const Proof> proofs);

}  // namespace cuzk::app
