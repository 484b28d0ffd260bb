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
  std::vector<PackedWitness> others;
};

inline PackedWitness synthetic_porep_witness(const PorepShape& porep, uint32_t number) {
  PorepSyntheticInput input;
  for (const RegisteredSealProof& proof : registered_seal_proofs()) {
    if (proof.shape == &porep && proof.feature == PorepFeature::kNone) input.proof = &proof;
  }
  const uint32_t partitions = input.proof->partitions();
  input.randomness[0] = static_cast<uint8_t>(number / partitions);
  return porep_witness(make_synthetic_porep(input).value(), number % partitions);
}

inline PackedWitness synthetic_snap_witness(const SnapShape& snap, uint32_t number) {
  SnapSyntheticInput input;
  input.shape = &snap;
  input.randomness[0] = static_cast<uint8_t>(number / snap.partitions());
  input.partitions = number % snap.partitions() + 1;
  return snap_witness(make_synthetic_snap(input), number % snap.partitions());
}

inline PackedWitness synthetic_post_witness(const PostShape& post, uint32_t number) {
  const bool winning = post.kind == PostKind::kWinning;
  const PostRequest request{&post, winning ? PostApiVersion::kV1_0_0 : PostApiVersion::kV1_2_0, {}, 0};
  std::vector<uint64_t> sectors(post.max_real_sectors());
  std::iota(sectors.begin(), sectors.end(), uint64_t{1} + number);
  return post_witness(make_synthetic_post(request, sectors, NodeBytes{}));
}

// The circuit `id`, say "snap-2k", with `witnesses` witnesses: the partitions of a sector, then those of others. An id
// that does not exist is a bug.
inline SyntheticCircuit synthetic_circuit(std::string_view id, uint32_t witnesses = 1) {
  SyntheticCircuit out;
  out.id = id;
  const auto make_all = [&](const auto& make) {
    out.witness = make(0);
    for (uint32_t number = 1; number < witnesses; ++number) out.others.push_back(make(number));
  };
  if (const PorepShape* porep = porep_shape_by_circuit_id(id)) {
    out.circuit = compile_porep(*porep, porep->challenges);
    make_all([&](uint32_t number) { return synthetic_porep_witness(*porep, number); });
  } else if (const SnapShape* snap = snap_shape_by_circuit_id(id)) {
    out.circuit = compile_snap(*snap);
    make_all([&](uint32_t number) { return synthetic_snap_witness(*snap, number); });
  } else {
    const PostShape* post = post_shape_by_circuit_id(id);
    CUZK_ASSERT(post != nullptr);
    out.circuit = compile_post(*post, post->sectors);
    make_all([&](uint32_t number) { return synthetic_post_witness(*post, number); });
  }
  return out;
}

}  // namespace cuzk::test
