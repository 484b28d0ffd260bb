// The daemon of small proofs as a process of its own, started and watched by a test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cuzk::soak {

// What the program does where its first argument says "serve" or "worker"; nothing (-1) where it is to run tests.
int run_as_daemon_or_worker(int argc, char** argv);

// What goes wrong in the daemon, on purpose.
struct Mischief {
  uint64_t leak_bytes = 0;           // of each request
  uint64_t failing_allocations = 0;  // of so many one, once it serves; not in gRPC's own threads
};

// What a process tree takes.
struct Usage {
  uint64_t memory_bytes = 0;              // of all processes; what is shared is divided among those who share it
  uint64_t descriptors = 0, threads = 0;  // of the first one
  uint64_t worker_descriptors = 0, worker_threads = 0;
  uint64_t processes = 0;
  uint64_t journal_bytes = 0;
};

class SmallDaemon {
 public:
  // Starts this program again. `folder` has the files of make_files().
  SmallDaemon(std::string folder, const Mischief& mischief);
  ~SmallDaemon();
  SmallDaemon(const SmallDaemon&) = delete;
  SmallDaemon& operator=(const SmallDaemon&) = delete;

  // Of its unix socket and its port, then the HTTP pages'. Empty where it did not start.
  const std::vector<std::string>& addresses() const { return addresses_; }
  Usage usage() const;
  // No allocation fails any more.
  void mend() const;
  // SIGTERM, and its exit status; 128 more where a signal ended it.
  int stop();

 private:
  const std::string folder_;
  int pid_ = -1;
  std::vector<std::string> addresses_;
};

}  // namespace cuzk::soak
