// The PoSt circuit of one proof, for every kind and sector size, and its uses.
// Source: storage-proofs-post fallback/circuit.rs; the sectors of a circuit: fallback/compound.rs, filecoin-proofs
// api/post_util.rs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/block.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/digester.hpp"
#include "circuit/hasher.hpp"
#include "circuit/num.hpp"
#include "circuit/packed_witness.hpp"
#include "circuit/por.hpp"
#include "filecoin/post.hpp"
#include "filecoin/post_vanilla.hpp"

namespace cuzk {

// Synthesises sectors into a fresh system, in upstream's order of inputs, variables and constraints. Sectors share no
// wire but ONE, so any run of them is a circuit of its own.
// Hasher: PoseidonCircuitHasher, or one with the same functions that knows the hashes already.
template <class CS, class Hasher = PoseidonCircuitHasher>
class PostSynthesizer {
 public:
  // vanilla: nullptr for a blank circuit; otherwise its sectors are at most shape.max_real_sectors().
  PostSynthesizer(CS& cs, const PostShape& shape, const PostVanilla* vanilla)
      : cs_(cs), shape_(shape), blank_(shape, vanilla ? 0 : 1), vanilla_(vanilla ? *vanilla : blank_) {
    CUZK_ASSERT(vanilla_.sectors() > 0 && vanilla_.sectors() <= shape.max_real_sectors());
  }

  // Sectors [begin, end) of the circuit.
  void run(uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
      auto scope = cs_.scope("sector", i);
      gadget::block(cs_, "sector", BlockWires<CS>{}, [&](const BlockWires<CS>&) {
        sector(i);
        return BlockWires<CS>{};
      });
    }
  }

 private:
  // Winning: sector i of the circuit has opening i of the one real sector. Window: the last real sector is repeated.
  void sector(uint32_t i) {
    const bool winning = shape_.kind == PostKind::kWinning;
    const uint32_t real = std::min(i, vanilla_.sectors() - 1);
    const PostSector& values = vanilla_.sector(real);
    const Num<CS> comm_r_last = gadget::alloc_num(cs_, values.comm_r_last);
    const Num<CS> comm_c = gadget::alloc_num(cs_, values.comm_c);
    const Num<CS> comm_r = gadget::alloc_num(cs_, values.comm_r);
    gadget::inputize(cs_, comm_r);
    {
      auto scope = cs_.scope("comm_r");
      gadget::equal(cs_, comm_r, Hasher::hash2(cs_, comm_c, comm_r_last));
    }
    for (uint32_t n = 0; n < shape_.challenges; ++n) {
      auto scope = cs_.scope("challenge", n);
      include(vanilla_.path(real, winning ? i * shape_.challenges + n : n), comm_r_last);
    }
  }

  void include(const MerkleProofView& view, const Num<CS>& root) {
    path_.clear();
    size_t sibling = 0;
    unsigned shift = 0;
    for (uint32_t level = 0; level < shape_.tree.levels(); ++level) {
      const uint32_t arity = shape_.tree.arity(level);
      path_.push_back({arity, static_cast<uint32_t>(view.leaf_index >> shift) & (arity - 1),
                       view.siblings.subspan(sibling, arity - 1)});
      sibling += arity - 1;
      shift += shape_.tree.index_bits(level);
    }
    gadget::por<Hasher>(cs_, Root<CS>::val(view.leaf), path_, Root<CS>::var(root), true);
  }

  CS& cs_;
  const PostShape& shape_;
  PostVanilla blank_;
  const PostVanilla& vanilla_;
  std::vector<PathLevel> path_;
};

// Sectors of the circuit that differ: the rest of a window circuit repeats the last one.
inline uint32_t post_distinct_sectors(const PostVanilla& vanilla) {
  return vanilla.shape().kind == PostKind::kWinning ? vanilla.shape().sectors : vanilla.sectors();
}

// The matrices of a circuit of `sectors` sectors (shape.sectors: all of them), those of a sector stored once: 4 MB for
// a full 32 GiB window partition.
CompiledCircuit compile_post(const PostShape& shape, uint32_t sectors);

// The packed witness of the whole circuit. The values decide alone; whether they satisfy the circuit is post_check's to
// say. Parallel over sectors; what padding repeats is copied. The second form takes the hashes that
// validate_post_vanilla computed from these very proofs, and computes none.
PackedWitness post_witness(const PostVanilla& vanilla);
PackedWitness post_witness(const PostVanilla& vanilla, const PostPathHashes& hashes);

// Checks every constraint of the sectors that differ, parallel over runs of them. Errors: kUnsatisfied with the
// namespace path of the first violated constraint as the field, and the sector number.
Status post_check(const PostVanilla& vanilla);

// Streams the blank circuit of `sectors` sectors through the digest without keeping it.
CircuitSummary post_digest(const PostShape& shape, uint32_t sectors);
// The same as a stage of `progress`, in sectors.
CircuitSummary post_digest(const PostShape& shape, uint32_t sectors, Progress& progress);

}  // namespace cuzk
