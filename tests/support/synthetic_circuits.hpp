// Circuits of every kind and size with a witness that satisfies them, made without a sector.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "circuit/compiled_circuit.hpp"
#include "circuit/packed_witness.hpp"
#include "filecoin/porep_prove.hpp"
#include "filecoin/porep_synthetic_input.hpp"
#include "filecoin/post_circuit.hpp"
#include "filecoin/post_synthetic.hpp"
#include "filecoin/snap_prove.hpp"
#include "filecoin/snap_synthetic.hpp"

namespace cuzk::test {

struct SyntheticCircuit {
  std::string id;
  CompiledCircuit circuit;
  PackedWitness witness;
};

// Partition 0 of the circuit `id`, say "snap-2k"; an id that does not exist is a bug.
inline SyntheticCircuit synthetic_circuit(std::string_view id) {
  SyntheticCircuit out;
  out.id = id;
  if (const PorepShape* porep = porep_shape_by_circuit_id(id)) {
    PorepSyntheticInput input;
    for (const RegisteredSealProof& proof : registered_seal_proofs()) {
      if (proof.shape == porep && proof.feature == PorepFeature::kNone) input.proof = &proof;
    }
    const PorepC1 c1 = make_synthetic_porep(input).value();
    out.circuit = compile_porep(*porep, porep->challenges);
    out.witness = porep_witness(c1, 0);
  } else if (const SnapShape* snap = snap_shape_by_circuit_id(id)) {
    SnapSyntheticInput input;
    input.shape = snap;
    input.partitions = 1;
    out.circuit = compile_snap(*snap);
    out.witness = snap_witness(make_synthetic_snap(input), 0);
  } else {
    const PostShape* post = post_shape_by_circuit_id(id);
    CUZK_ASSERT(post != nullptr);
    const bool winning = post->kind == PostKind::kWinning;
    const PostRequest request{post, winning ? PostApiVersion::kV1_0_0 : PostApiVersion::kV1_2_0, {}, 0};
    std::vector<uint64_t> sectors(post->max_real_sectors());
    std::iota(sectors.begin(), sectors.end(), uint64_t{1});
    out.circuit = compile_post(*post, post->sectors);
    out.witness = post_witness(make_synthetic_post(request, sectors, NodeBytes{}));
  }
  return out;
}

}  // namespace cuzk::test
