// A device whose work is done by a process of its own: what it computes with may crash, hang or lose its GPU, and the
// daemon goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/device.hpp"

namespace cuzk {

// How long the supervisor waits for what, and how often it tries.
struct WorkerTimes {
  std::chrono::milliseconds start{60'000};    // from its start until it says that it is ready; a GPU's driver is slow
  std::chrono::milliseconds beat{1'000};      // a working process says so this often
  std::chrono::milliseconds silence{20'000};  // working, and not even that: it is stopped or starved
  // Working, and no further: the longest that a step may take that tells nothing in between.
  std::chrono::milliseconds load_step{180'000};
  std::chrono::milliseconds prove_step{60'000};
  std::chrono::microseconds prove_step_per_constraint{10};  // more for each constraint of the circuit
  std::chrono::milliseconds end{2'000};                     // to end by itself when it is told to, before it is killed
  // Before the first new start, doubled for each further failure in a row.
  std::chrono::milliseconds backoff{100}, most_backoff{10'000};
  // A process that lived this long since it was ready did not fail fast.
  std::chrono::milliseconds stable{60'000};
  unsigned failures_to_give_up = 5;            // in a row, none of them after a proof or a stable life
  std::chrono::milliseconds give_up{120'000};  // until the next try after that
};

struct WorkerProcessOptions {
  uint32_t ordinal = 0;
  std::string device = "cpu";  // what worker/backend.hpp makes
  DeviceInfo info;             // what is known of it; info() says this until the process says more
  unsigned threads = 0;        // 0: as many as the process may run on
  int niceness = 0;            // added to the daemon's
  uint64_t memory_bytes = 0;   // most private memory of the process (RLIMIT_DATA); 0: no limit
  bool core_dumps = false;     // of a process with 50 GB they take longer than all the rest of a restart
  WorkerTimes times;
  // The program and what comes before the worker's own options; empty: this one.
  std::string program = "/proc/self/exe";
  std::vector<std::string> arguments = {"worker"};
  // Of the process, "NAME=value": apps/ read the daemon's own.
  std::vector<std::string> environment;
  // A line of what the process wrote to its stdout and stderr: printable, of limited length and number. From a thread
  // of the device.
  std::function<void(std::string_view line)> on_line;
  // The process ended, hung or was killed; also when nothing was being done. From a thread of the device.
  std::function<void(const Error&)> on_fault;
  // For tests: faults that the process makes on purpose (worker/faults.hpp), in the first so many processes.
  std::string faults;
  uint64_t faulty_processes = std::numeric_limits<uint64_t>::max();
};

// Starts the process when it is made, and starts it again when it has ended: at once after good work, later and later
// after failures in a row; given up after some of them, and tried again after a longer time. Not tried again where the
// process says that its device cannot be used.
//
// Where state() is not kIdle, load(), unload() and prove() call back with kUsage (busy), kDeviceFault or (given up)
// kDeviceUnusable. Witnesses are copied for the process one after the other by the device's thread (30 ms for the 70 MB
// of a 32 GiB PoRep partition), all but the first while the process works.
class WorkerProcess final : public Device {
 public:
  explicit WorkerProcess(WorkerProcessOptions options);
  // Ends the process, whatever it does: what is being done calls back with kDeviceFault. Not from a callback.
  ~WorkerProcess() override;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  DeviceInfo info() const override;
  DeviceState state() const override;
  uint64_t generation() const override;
  // Is also called once soon after it was set.
  void on_change(std::function<void()> changed) override;
  void load(const CircuitFiles& files, std::function<void(Result<LoadReport>)> done) override;
  void unload(const CircuitSpec& circuit, std::function<void(Status)> done) override;
  void prove(const CircuitSpec& circuit, Witnesses witnesses, std::function<void(Result<Proofs>)> done) override;
  void cancel() override;
  void yield() override;
  void replace(const std::string& why, bool out_of_use) override;

  // Of the process that runs now; nothing where there is none. For the status and for tests that kill it.
  std::optional<int> process_id() const;
  // What was wrong last.
  std::optional<Error> last_fault() const;

 private:
  class Supervisor;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace cuzk
