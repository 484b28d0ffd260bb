// What the engine keeps of a job while it is not finished, and of a device.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "budget/host_budget.hpp"
#include "engine/proof_service.hpp"
#include "engine/status.hpp"
#include "queue/job_table.hpp"
#include "queue/task_queue.hpp"

namespace cuzk {

// Index into circuit_specs().
using CircuitIndex = size_t;

struct Partition {
  PartitionState state = PartitionState::kPending;
  std::shared_ptr<const PackedWitness> witness;
  Reservation witness_memory;
  ProofBytes proof{};
  uint32_t faults = 0, wrong = 0;  // how often it had to be redone
  std::optional<uint32_t> device;  // that proves or proved it
  std::optional<uint32_t> avoid;   // not on this one, if there is another
  std::optional<uint64_t> witness_ms, device_ms;
};

// Threads that work on it hold it, so it may outlive its job: then `ended`, and what comes out of the work is dropped.
struct Run {
  enum class Step : uint8_t { kQueued, kChecking, kProving, kVerifying };

  JobKey key = 0;
  std::string job_id;
  ProofKind kind = ProofKind::kPorep;
  Priority priority = Priority::kNormal;
  Instant submitted{};
  std::optional<Instant> started;
  uint64_t sector_number = 0, miner_id = 0;

  Step step = Step::kQueued;
  bool ended = false;
  bool parked = false;                           // left to the journal: no new work
  std::shared_ptr<const Submission> submission;  // until it has been read
  std::shared_ptr<const JobWork> work;           // from then on
  std::optional<CircuitIndex> circuit;
  std::vector<Partition> partitions;
  uint32_t proved = 0;

  Reservation request;  // of submission and work
  uint64_t held = 0;    // what it was admitted with: the bytes of `request`
  uint64_t need = 0;    // the most that it takes at once besides
  uint64_t check_scratch = 0;
  std::optional<Instant> passed_over;  // since when others of its priority go first for their parameters

  uint64_t srs_load_ms = 0, synthesis_ms = 0, device_ms = 0;
};

// A device, and the one thing that it does for the engine.
struct DeviceSlot {
  enum class Work : uint8_t { kNone, kLoad, kUnload, kProve };
  struct Refused {
    Instant until;
    Error error;
  };
  struct Resident {
    Reservation parameters, circuit;
  };

  Device* device = nullptr;
  // As it said last.
  DeviceInfo info;
  DeviceState state = DeviceState::kStarting;
  uint64_t generation = 0;

  Work work = Work::kNone;
  uint64_t work_number = 0;  // callbacks of earlier work are recognised by theirs
  CircuitIndex circuit = 0;
  std::shared_ptr<Run> run;          // kLoad: for whom; nobody where it is a preload
  uint32_t partition = 0;            // kLoad
  std::vector<uint32_t> partitions;  // kProve: of the run, proved together, in order
  Instant began{};
  bool load_stopped = false;  // kLoad: it was asked to end
  bool yielding = false;      // kProve: it was asked to end before its next partition
  Reservation scratch;

  std::map<CircuitIndex, Resident> resident;      // memory of what is loaded or being loaded
  std::map<CircuitIndex, std::string> to_unload;  // and why
  std::map<CircuitIndex, Refused> refused;        // could not be loaded

  uint64_t wrong_proofs = 0, distrusted = 0;  // its process was replaced for them
  uint32_t wrong_in_a_row = 0;
  uint32_t unexplained = 0;  // how often in a row its work ended for harmless reasons that nobody knows of

  // Its process is being replaced: nothing is begun until there is another, and it is no fault that this work ends.
  bool replacing = false;
  uint64_t replaced_work = 0;

  bool usable() const { return state != DeviceState::kGivenUp; }
  bool idle() const { return work == Work::kNone && state == DeviceState::kIdle && !replacing; }
};

// A circuit's files.
struct CircuitState {
  enum class Step : uint8_t { kUnknown, kPreparing, kPrepared };
  Step step = Step::kUnknown;
  CircuitFiles files;
  Instant looked_at{};
  std::optional<Task> wanted;  // the first task that waits for it
};

}  // namespace cuzk
