// How much processor time a proof or a setup takes on a machine whose rates are known.
#pragma once

#include <string_view>
#include <vector>

#include "circuit/compiled_circuit.hpp"
#include "circuit/packed_witness.hpp"
#include "groth16/memory.hpp"

namespace cuzk {

// Processor seconds, of all threads together and while all are at it, that one unit of each kind of work takes; those
// of a step are units times rate. What else a machine does changes them little, unlike the time on the wall.
// A rate that grows with the memory that is accessed, by `growth` from each size to its double: caches, which other
// processes may fill, serve ever less of it.
struct SizedRate {
  double small = 0, growth = 0;
  unsigned log2_small = 0;

  double at(uint64_t size) const;
};

struct ProofRates {
  double read_g1 = 0, read_g2 = 0;          // a point decoded and checked
  double wire = 0;                          // expanded
  double term = 0;                          // of the matrices, the check of the rows included
  SizedRate quotient_point;                 // an element of the domain in one of its log2 levels
  SizedRate addition_g1, addition_g2;       // of msm(): msm_additions()
  double selected_g1 = 0, selected_g2 = 0;  // a base of sum_selected() that is taken
  double self_check = 0;                    // assembling and verifying, without what is due to the inputs
};

struct SetupRates {
  double lagrange_row = 0;
  double transposed_term = 0;
  double multiple_g1 = 0, multiple_g2 = 0;  // a point by a table of the size that the circuit needs, and encoded
  double tables = 0;                        // made, once
};

struct StepTime {
  std::string_view name;  // as in StepMemory
  double cpu_seconds = 0;
  bool parallel = true;  // on all threads
};

// Of CpuBackend::evaluate() and what prove() adds to it ("assemble", "self-check").
std::vector<StepTime> prove_times(const CircuitSizes& circuit, const ProofRates& rates);
// Of read_params() from the page cache.
double read_params_cpu_seconds(const SrsShape& shape, const ProofRates& rates);
// Of setup_to_file(), the disk apart. Names as in setup_memory().
std::vector<StepTime> setup_times(const CircuitSizes& circuit, const SetupRates& rates);

// Measures the real operations on parallel_threads() threads, each for some 100 ms; about two seconds on two cores.
// `sample` is a small circuit like the one that is planned for, whose mix of wires and terms the rates will have.
ProofRates measure_proof_rates(const CompiledCircuit& sample);
SetupRates measure_setup_rates(const CompiledCircuit& sample, const SrsShape& planned);

}  // namespace cuzk
