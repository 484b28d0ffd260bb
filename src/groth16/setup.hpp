// Parameter generation from a known trapdoor, as bellperson's generate_parameters does it (src/groth16/generator.rs).
// Filecoin's real parameters come from a ceremony and have the same form.
#pragma once

#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "groth16/memory.hpp"
#include "groth16/toxic_waste.hpp"
#include "srs/srs.hpp"

namespace cuzk {

// The lengths that the parameters of a circuit have.
SrsShape srs_shape(const CompiledCircuit& circuit);

// Parameters for the circuit; byte-identical to upstream's for the same trapdoor once encoded. Parallel. Memory: the
// points and setup_memory(). Cost: one fixed-base multiplication a point.
// Errors: kInvalidInput, with the wire ("aux[17]"), where a wire occurs in no constraint; kUsage where the trapdoor is
// degenerate (a zero, tau in the domain, or a value for which a wire's polynomial vanishes: choose another).
Result<Srs> setup(const CompiledCircuit& circuit, const ToxicWaste& toxic, Progress& progress);

// The same straight into a .params file, a few million points at a time, so that the points need not fit in memory.
// Returns the verifying key. Errors: as setup, and those of the file (base/atomic_file.hpp).
Result<VerifyingKey> setup_to_file(const CompiledCircuit& circuit, const ToxicWaste& toxic, const std::string& path,
                                   Progress& progress);

// What the steps of setup_to_file() take beyond the circuit: 32 bytes a row and three times 32 bytes a wire, then two
// tables of multiples and the points of one batch.
std::vector<StepMemory> setup_memory(const CircuitSizes& circuit, size_t threads);

}  // namespace cuzk
