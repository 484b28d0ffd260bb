// The worker's side: a process that loads and proves what the daemon at the other end of its socket asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "worker/backend.hpp"

namespace cuzk {

struct WorkerOptions {
  int descriptor = 3;  // a SOCK_SEQPACKET socket
  std::string device = "cpu";
  uint32_t ordinal = 0;
  unsigned threads = 0;
  int niceness = 0;
  uint64_t memory_bytes = 0;
  bool core_dumps = false;
  std::chrono::milliseconds beat{1'000};
  std::string faults;  // worker/faults.hpp

  friend bool operator==(const WorkerOptions&, const WorkerOptions&) = default;
};

// What stands on the worker's command line. Errors: kUsage.
std::vector<std::string> to_arguments(const WorkerOptions& options);
Result<WorkerOptions> read_arguments(std::span<const std::string> arguments);

// Serves the socket until the other side closes it, or dies; returns the exit status, or ends the process itself. For
// main() alone, before it has done anything else: signals that are meant for the daemon (SIGINT, SIGTERM, SIGHUP) are
// ignored from now on, the process is killed when the thread that started it ends, and the options' limits are set.
// Prints nothing. `make_backend`: another one in tests. Errors: kUsage where the descriptor is no such socket.
Result<int> worker_main(const WorkerOptions& options, const MakeWorkerBackend& make_backend = make_worker_backend);

}  // namespace cuzk
