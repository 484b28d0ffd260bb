// The PoRep circuit in its four uses: matrices, packed witness, satisfaction, digest; and the public inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/digester.hpp"
#include "circuit/packed_witness.hpp"
#include "filecoin/porep.hpp"
#include "filecoin/porep_vanilla.hpp"

namespace cuzk {

// The matrices of one partition's circuit, those of a challenge stored once: 61 MB for 2 KiB; for 32 GiB 328 MB,
// made in 0.9 s.
CompiledCircuit compile_porep(const PorepShape& shape, uint32_t challenges);

// The packed witness of partition `partition` of c1. The values of c1 decide alone; whether they satisfy the circuit is
// porep_check's to say. c1 must be one that read_porep_c1 accepted (or has that form), partition <
// c1.partitions.size().
PackedWitness porep_witness(const PorepC1& c1, uint32_t partition);

// Checks every constraint with partition `partition` of c1. Errors: kUnsatisfied with the namespace path of the first
// violated constraint as the field, and the partition.
Status porep_check(const PorepC1& c1, uint32_t partition);

// Streams the blank circuit through the digest without keeping it.
CircuitSummary porep_digest(const PorepShape& shape, uint32_t challenges);
// The same as a stage of `progress`, in labels: a challenge has one a layer.
CircuitSummary porep_digest(const PorepShape& shape, uint32_t challenges, Progress& progress);

// The public inputs of partition `partition`, without ONE: replica_id, comm_d, comm_r, then 18 node indices a
// challenge. Computed from the registered proof, the commitments and the seed alone, as a verifier does; c1's vanilla
// proofs are not looked at.
std::vector<Fr> porep_public_inputs(const PorepC1& c1, uint32_t partition);

}  // namespace cuzk
