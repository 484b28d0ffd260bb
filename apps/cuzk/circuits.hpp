// Circuits as stages of a command: compiled ones from a folder that keeps them, or compiled now; witnesses.
#pragma once

#include <string>

#include "base/result.hpp"
#include "circuit/packed_witness.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/console.hpp"
#include "filecoin/circuit_spec.hpp"
#include "filecoin/proof_request.hpp"
#include "residency/circuit_cache.hpp"

namespace cuzk::app {

struct CacheOptions {
  std::string directory;
  bool off = false;
};
void add_cache_options(CLI::App* command, CacheOptions& options);
// --cache-dir, else $CUZK_CACHE_DIR, else the folder "cuzk" in $XDG_CACHE_HOME or ~/.cache. Empty where there is none,
// or with --no-cache.
std::string cache_directory(const CacheOptions& options);

// residency/circuit_cache.hpp, with its warnings on the console.
Result<CachedCircuit> load_circuit(const CircuitSpec& spec, const CacheOptions& options, Console& console);

// The packed witness of one partition. Errors: kInternal where its inputs are not those that a verifier computes.
Result<PackedWitness> make_witness(const ProofRequest& request, uint32_t partition, Progress& progress);

}  // namespace cuzk::app
