// Circuits by shape, as stages of a command, refused where they would not fit into this machine's memory.
#pragma once

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/packed_witness.hpp"
#include "filecoin/porep_prove.hpp"
#include "srs/layout.hpp"

namespace cuzk::app {

// The matrices of one partition's circuit. Errors: kResource.
Result<CompiledCircuit> compile_circuit(const PorepShape& shape, Progress& progress);

// The packed witness of one partition.
PackedWitness make_witness(const PorepC1& c1, uint32_t partition, Progress& progress);

// The number of points in each vector of a circuit's parameters, without keeping its matrices.
SrsShape srs_shape_of(const PorepShape& shape, Progress& progress);

}  // namespace cuzk::app
