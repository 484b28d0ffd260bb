// Times of the stages of `cuzk prove` and `cuzk setup` on this machine, estimated from two seconds of measuring.
#pragma once

#include <string>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "filecoin/circuit_spec.hpp"
#include "groth16/cost.hpp"

namespace cuzk::app {

struct StageTime {
  std::string name;  // as in prove_memory() and setup_memory() of cuzk/memory.hpp
  Work work;
  bool each_partition = false;  // of one partition; else once
  double disk_seconds = 0;      // beside it

  // On a machine that has nothing else to do.
  double seconds() const;
};

// Compiles a small circuit of the same kind, makes a request for it, and measures. `cache`: the folder that keeps
// compiled circuits, from which this one is loaded if it is there; else empty. Where the parameters are there, 64 MB of
// them are read; where `directory` is there, 64 MB are written to it, flushed and removed. What is not there is
// taken to be in memory.
Result<std::vector<StageTime>> prove_times(const CircuitSpec& circuit, const std::string& params_file,
                                           const std::string& cache, Progress& progress);
Result<std::vector<StageTime>> setup_times(const CircuitSpec& circuit, const std::string& directory,
                                           const std::string& cache, Progress& progress);

}  // namespace cuzk::app
