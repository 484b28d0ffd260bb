// From a submission's bytes to a request that can be proved. What clients of the reference send is taken as it took it.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "filecoin/proof_request.hpp"
#include "queue/submission.hpp"

namespace cuzk {

// Reads and checks everything that can be computed before proving, the replica id of a PoRep included. Of a winning
// proof only the first vanilla proof counts; those of a window proof may come in any order; bytes that follow a vanilla
// proof are ignored; the sector size that is stated does not matter, nor does PoRep's registered proof. Errors:
// kInvalidInput, with the field, and a message that begins as the reference's did ("C1 parse failed: ...").
Result<ProofRequest> read_submission(const Submission& submission);

// The circuit, as far as it can be told without reading all of the input; nullptr where only that says it. Of a PoRep a
// guess (porep_c1_proof_in_head()).
const CircuitSpec* circuit_of_submission(const Submission& submission);

// The circuit of that id, ours or one of the reference's ("wpost-32g", "snap-deals-32g"); nullptr where there is none.
const CircuitSpec* circuit_by_any_name(std::string_view name);

}  // namespace cuzk
