// The nodes that a PoRep must open. Source: storage-proofs-porep stacked/vanilla/challenges.rs.
#pragma once

#include <cstdint>
#include <vector>

#include "filecoin/porep.hpp"

namespace cuzk {

// What the challenges of a proof are drawn from. seed is not used by non-interactive proofs, comm_r not by
// interactive ones.
struct PorepChallengeSource {
  PorepFeature feature = PorepFeature::kNone;
  uint64_t nodes = 0;
  NodeBytes replica_id{};
  NodeBytes comm_r{};
  NodeBytes seed{};
};

// The challenges of partition k, `count` a partition, each in 1..nodes-1, in order; repetitions occur.
std::vector<uint64_t> porep_challenges(const PorepChallengeSource& source, uint32_t partition, uint32_t count);

// Members [first, first + count) of the synthetic challenge set, of which min(nodes, 2^18) exist.
std::vector<uint64_t> porep_synthetic_set(const PorepChallengeSource& source, uint64_t first, uint64_t count);
// The same with another size of the set, for upstream's test.
std::vector<uint64_t> porep_synthetic_challenges(const PorepChallengeSource& source, uint64_t set_size, uint64_t first,
                                                 uint64_t count);

}  // namespace cuzk
