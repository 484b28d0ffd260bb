// What the engine says of itself: for GetStatus, the status page and the metrics that are read and not counted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "queue/job.hpp"
#include "worker/device.hpp"

namespace cuzk {

constexpr size_t index_of(ProofKind kind) { return static_cast<size_t>(kind); }

enum class PartitionState : uint8_t { kPending, kWitness, kReady, kDevice, kVerifying, kDone, kFailed };

struct PartitionStatus {
  PartitionState state = PartitionState::kPending;
  std::optional<uint64_t> witness_ms, device_ms;
};

struct JobStatus {
  JobKey key = 0;
  std::string job_id;
  ProofKind kind = ProofKind::kPorep;
  Priority priority = Priority::kNormal;
  JobState state = JobState::kQueued;
  double age_seconds = 0;                     // since submission
  std::optional<double> started_seconds_ago;  // first work
  std::vector<PartitionStatus> partitions;    // empty until its input has been read
};

struct ResidentStatus {
  std::string circuit_id;
  uint32_t device = 0;
  uint64_t parameter_bytes = 0, circuit_bytes = 0;
  double last_used_seconds_ago = 0;
  uint32_t in_use = 0;  // partitions now
  bool evictable = false;
};

struct DeviceStatus {
  DeviceInfo info;
  DeviceState state = DeviceState::kStarting;
  std::optional<std::string> job_id;
  std::optional<ProofKind> kind;
  std::optional<uint32_t> partition;
  std::optional<double> busy_seconds;
  uint64_t restarts = 0;
  uint64_t wrong_proofs = 0;  // of partitions
  uint64_t distrusted = 0;    // times that its process was replaced for them
};

struct KindCounters {
  uint64_t accepted = 0;  // by this process, and taken up from the journal: all that follow, together
  uint64_t completed = 0, failed = 0, cancelled = 0, expired = 0;
  uint64_t pending = 0, running = 0;  // jobs now
};

struct EngineStatus {
  double uptime_seconds = 0;
  bool ready = false;  // takes submissions and at least one device works
  bool draining = false;
  uint64_t budget_bytes = 0, used_bytes = 0;
  std::string budget_origin;
  std::vector<std::pair<std::string, uint64_t>> used_by;
  uint64_t reserve_bytes = 0, reserve_left_bytes = 0;  // kept back for when memory runs out; 0: there is none
  uint64_t reserve_uses = 0;                           // how often some of it was taken
  uint64_t queue_depth = 0;                            // jobs that no work has been done for
  uint64_t max_witnesses = 0, active_witnesses = 0;
  uint64_t refused = 0, wrong_proofs = 0, device_faults = 0, redone_partitions = 0;
  std::array<KindCounters, kProofKinds.size()> kinds;  // by index_of()
  std::vector<JobStatus> jobs;                         // unfinished, and those that ended in the last 30 s
  std::vector<DeviceStatus> devices;
  std::vector<ResidentStatus> resident;
};

}  // namespace cuzk
