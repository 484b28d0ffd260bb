// Clients of the daemon of small proofs, all different: they wait or not, change their mind, repeat themselves, make
// mistakes and go away. They judge every answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "groth16/verify.hpp"

namespace cuzk::soak {

struct Tally {
  uint64_t completed = 0, cancelled = 0, expired = 0, failed = 0;  // jobs that were seen to end so
  // Jobs of which nobody saw the end: the call's time was up, perhaps before the daemon took it; or the result is not
  // kept any more.
  uint64_t unknown = 0;
  uint64_t proofs = 0;      // that came back and were verified
  uint64_t for_memory = 0;  // of those that failed
  uint64_t attached = 0, evictions = 0, preloads = 0, refusals = 0;
  std::map<std::string, uint64_t> complaints;  // what must not be

  void add(const Tally& other);
};

struct ClientsOptions {
  std::vector<std::string> addresses;  // taken in turn
  uint32_t clients = 32, jobs = 10;    // jobs of each
  uint64_t seed = 1;
  bool memory_fails = false;  // the daemon's: what ends for that is tried again, and is no reason to complain
};

// Each a connection and a thread of its own. `on_job` is called after each job, from any of them.
Tally run_clients(const ClientsOptions& options, const VerifyingKey& key, const std::function<void()>& on_job);

}  // namespace cuzk::soak
