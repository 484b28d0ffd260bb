// How much processor time a proof or a setup takes on a machine whose rates are known.
#pragma once

#include <string_view>
#include <vector>

#include "circuit/compiled_circuit.hpp"
#include "circuit/packed_witness.hpp"
#include "groth16/memory.hpp"

namespace cuzk {

// Processor seconds, of all threads together and while all are at it: what else a machine does changes them little,
// unlike the time on the wall. `serial_seconds` of them are spent by one thread while the others have nothing to do:
// vectors that are cleared, parts put together.
struct Work {
  double cpu_seconds = 0, serial_seconds = 0;

  // On a machine that has nothing else to do.
  double wall_seconds(size_t threads) const;
  friend Work operator+(const Work& a, const Work& b) {
    return {a.cpu_seconds + b.cpu_seconds, a.serial_seconds + b.serial_seconds};
  }
  friend Work operator*(double times, const Work& w) { return {times * w.cpu_seconds, times * w.serial_seconds}; }
};

// What one unit of a kind of work takes; a step takes units times rate.
// A rate that grows with the memory that is accessed, by `growth` from each size to its double: caches, which other
// processes may fill, serve ever less of it.
struct SizedRate {
  Work small, growth;
  unsigned log2_small = 0;

  Work at(uint64_t size) const;
};

// What part of a query's points are ones, and how many others there are to those that CircuitSizes tells at most.
struct QueryShares {
  double ones = 0, others = 0;
};

struct ProofRates {
  Work read_g1, read_g2, read_ic;      // a point decoded and checked, and its place made
  Work wire;                           // expanded
  Work row;                            // of the domain: places in a, b and c, and the check
  Work term;                           // of the matrices
  Work classified_wire;                // classified, and taken into the three queries
  SizedRate quotient_point;            // an element of the domain in one of its log2 levels
  SizedRate addition_g1, addition_g2;  // of msm(): msm_additions()
  Work selected_g1, selected_g2;       // a base of sum_selected() that is taken
  Work cleared_byte;                   // of memory that is new
  Work assemble, self_check;           // without what is due to the inputs
  QueryShares l, a, b;
};

struct SetupRates {
  Work evaluated_term;            // of the matrices at tau, its part of the rows and wires included
  Work multiple_g1, multiple_g2;  // a point by a table of the size that the circuit needs, and encoded
  Work tables;                    // made, once
};

struct StepTime {
  std::string_view name;  // as in StepMemory
  Work work;
};

// Of CpuBackend::evaluate() and what prove() adds to it ("assemble", "self-check").
std::vector<StepTime> prove_times(const CircuitSizes& circuit, const ProofRates& rates);
// Of read_params(), reading bytes apart.
Work read_params_work(const SrsShape& shape, const ProofRates& rates);
// Of setup_to_file(), the disk apart. Names as in setup_memory().
std::vector<StepTime> setup_times(const CircuitSizes& circuit, const SetupRates& rates);

// Processor seconds so far, of this process and of the calling thread.
struct ProcessorClock {
  double process = 0, thread = 0;

  static ProcessorClock now();
  // What was done since, if all of it was begun by this thread, which takes part in its loops: what it took more than
  // its share is serial. Other work on the machine can make that too much, never too little.
  Work elapsed() const;
};

template <class F>
Work measure_work(const F& f) {
  const ProcessorClock start = ProcessorClock::now();
  f();
  return start.elapsed();
}

// Measures the real operations on parallel_threads() threads, each for some 100 ms; about two seconds on two cores.
// `sample` is a small circuit like the one that is planned for, whose mix of wires and terms the rates will have, and
// `witness` one of it. Errors: those of expand_witness().
Result<ProofRates> measure_proof_rates(const CompiledCircuit& sample, const PackedWitness& witness);
Result<SetupRates> measure_setup_rates(const CompiledCircuit& sample, const SrsShape& planned);

}  // namespace cuzk
