// Valid PoRep inputs of any size without a sector: sparse trees over the opened nodes, everything else random. They
// pass the vanilla check and satisfy the circuit, so full-size proofs can be made and measured anywhere.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "filecoin/porep_vanilla.hpp"

namespace cuzk {

struct PorepSyntheticInput {
  const RegisteredSealProof* proof = nullptr;  // not owned; without a feature, whose challenges depend on comm_r
  uint64_t miner_id = 1000;
  uint64_t sector_number = 42;
  NodeBytes ticket{};
  NodeBytes seed{};
  NodeBytes randomness{};  // decides every free value; equal inputs give equal outputs
};

// The data is all zero, as in a committed-capacity sector. Labels of challenges are computed from their parents'
// labels, which are random where they are not challenges themselves. Errors: kUnsupported for synthetic and
// non-interactive proofs. 32 GiB (180 challenges): about a second.
Result<PorepC1> make_synthetic_porep(const PorepSyntheticInput& input);

}  // namespace cuzk
