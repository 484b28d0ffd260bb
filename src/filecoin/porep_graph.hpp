// The stacked graph of a PoRep: base parents by bucket sampling, expander parents by a Feistel permutation.
// Source: storage-proofs-core drgraph.rs and feistel of storage-proofs-porep stacked/vanilla/graph.rs; the sampling is
// DRSample of Alwen, Blocki, Harsha, "Practical graphs for optimal side-channel resistant memory-hard functions"
// (2017).
#pragma once

#include <array>
#include <cstdint>

#include "filecoin/porep.hpp"

namespace cuzk {

class PorepGraph {
 public:
  // `nodes` is a power of two, at least 8. The graph depends on the porep id, the size and the api version alone.
  PorepGraph(const NodeBytes& porep_id, PorepApiVersion version, uint64_t nodes);
  PorepGraph(const RegisteredSealProof& proof)
      : PorepGraph(proof.porep_id(), proof.api_version, proof.shape->nodes()) {}

  // Parents in the same layer, all below node (0 for nodes 0 and 1). node < nodes.
  std::array<uint32_t, kPorepBaseParents> base_parents(uint64_t node) const;
  // Parents in the layer before. About 24 BLAKE2b hashes or a few times that.
  std::array<uint32_t, kPorepExpanderParents> expander_parents(uint64_t node) const;

  uint64_t nodes() const { return nodes_; }
  const std::array<uint8_t, 28>& drg_seed() const { return drg_seed_; }

 private:
  uint64_t feistel_round(uint64_t right, uint64_t key) const;
  uint64_t permute(uint64_t x) const;

  uint64_t nodes_;
  PorepApiVersion version_;
  std::array<uint8_t, 28> drg_seed_{};
  std::array<uint64_t, 3> feistel_keys_{};
  uint32_t half_bits_ = 1;
};

}  // namespace cuzk
