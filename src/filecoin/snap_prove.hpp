// The circuit of a sector update in its four uses: matrices, packed witness, satisfaction, digest.
#pragma once

#include <cstdint>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/digester.hpp"
#include "circuit/packed_witness.hpp"
#include "filecoin/snap.hpp"
#include "filecoin/snap_vanilla.hpp"

namespace cuzk {

// The matrices of one partition's circuit, those of a challenge and of an apex node stored once: 50 MB for 32 GiB.
CompiledCircuit compile_snap(const SnapShape& shape);

// The packed witness of partition k of the input. Its values alone decide; whether they satisfy the circuit is
// snap_check's to say. The partition must have the shape's counts, h must be one of the shape's (as after reading).
PackedWitness snap_witness(const SnapInput& input, uint32_t k);

// Checks every constraint with partition k of the input. Errors: kUnsatisfied with the namespace path of the first
// violated constraint as the field, the partition and the sector. 32 bytes of memory a wire.
Status snap_check(const SnapInput& input, uint32_t k);

// Streams the blank circuit through the digest without keeping it.
CircuitSummary snap_digest(const SnapShape& shape);
// The same as a stage of `progress`, in challenges.
CircuitSummary snap_digest(const SnapShape& shape, Progress& progress);

}  // namespace cuzk
