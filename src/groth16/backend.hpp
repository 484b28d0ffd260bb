// The part of the prover that a device may do: from a packed witness to five group elements.
#pragma once

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/packed_witness.hpp"
#include "groth16/report.hpp"
#include "srs/srs.hpp"

namespace cuzk {

// Sums over the queries of the parameters. h: with the quotient's coefficients; l: with the aux wires; a, b_g1, b_g2:
// with inputs and aux wires, in query order.
struct ProofSums {
  G1Jacobian h, l, a, b_g1;
  G2Jacobian b_g2;
};

class Backend {
 public:
  virtual ~Backend() = default;
  // `srs` has the shape of `circuit` (prove() checks it). Appends its steps to `report`. Errors: kUnsatisfied, naming
  // the first constraint that the witness violates, before any sum is made; kInternal where the witness was not made
  // for the circuit; kResource; that of check_wanted(), before a step.
  virtual Result<ProofSums> evaluate(const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                                     Progress& progress, ProveReport& report) = 0;
};

}  // namespace cuzk
