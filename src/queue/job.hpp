// What a job is: its order among others, its life, its result.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "filecoin/circuit_spec.hpp"

namespace cuzk {

// Higher goes first, at every stage. Numbers of the wire contract.
enum class Priority : uint8_t { kLow = 1, kNormal = 2, kHigh = 3, kCritical = 4 };

// Where a client gives none: Winning PoSt critical, Window PoSt high, PoRep and updates normal.
constexpr Priority default_priority(ProofKind kind) {
  switch (kind) {
    case ProofKind::kWinning: return Priority::kCritical;
    case ProofKind::kWindow: return Priority::kHigh;
    case ProofKind::kPorep:
    case ProofKind::kSnap: break;
  }
  return Priority::kNormal;
}

constexpr const char* to_string(Priority priority) {
  switch (priority) {
    case Priority::kLow: return "low";
    case Priority::kNormal: return "normal";
    case Priority::kHigh: return "high";
    case Priority::kCritical: return "critical";
  }
  return "unknown";
}

// A number that no other job of this daemon has or had; older jobs have smaller ones. Survives restarts with the
// journal. Ids that clients give repeat, keys do not.
using JobKey = uint64_t;

enum class JobState : uint8_t {
  kQueued,
  kRunning,    // at least its input is being read
  kCompleted,  // with a proof that verifies
  kFailed,     // with an error
  kCancelled,  // by a client, or because all clients are gone
  kExpired,    // its deadline passed
};
constexpr bool is_final(JobState state) { return state >= JobState::kCompleted; }
constexpr const char* to_string(JobState state) {
  switch (state) {
    case JobState::kQueued: return "queued";
    case JobState::kRunning: return "running";
    case JobState::kCompleted: return "completed";
    case JobState::kFailed: return "failed";
    case JobState::kCancelled: return "cancelled";
    case JobState::kExpired: return "expired";
  }
  return "unknown";
}

// Milliseconds. `synthesis` and `gpu_compute` are sums over partitions, as the reference reports them.
struct JobTimes {
  // From submission to the first work on it; of a proof of one partition all the time in which nothing was done for it,
  // that of waiting for a device too. So the reference reports it.
  uint64_t queue_wait_ms = 0;
  uint64_t srs_load_ms = 0;     // that it waited for parameters or a circuit to be loaded
  uint64_t synthesis_ms = 0;    // checking the input and making witnesses
  uint64_t gpu_compute_ms = 0;  // on the device
  uint64_t total_ms = 0;        // since submission
};

// Of a job in a final state.
struct JobResult {
  JobState state = JobState::kFailed;
  std::string job_id;          // as the client gave it, or a UUID
  std::vector<uint8_t> proof;  // kCompleted: 192 bytes a partition, in partition order
  std::optional<Error> error;  // every other state
  JobTimes times;
};

// Who stays for a job's result.
enum class Attendance : uint8_t {
  kAwaited,   // Prove: cancelled a grace time after its last watcher is gone
  kDetached,  // SubmitProof: journalled, and proved whether or not somebody waits
};

// One who waits for a job's result. No other watcher of this process has or had the number.
using WatchId = uint64_t;

// Why a submission was not taken. Nothing of it is kept.
struct Refusal {
  enum class Reason : uint8_t {
    kInvalid,    // what no engine can take (an unknown kind)
    kQueueFull,  // jobs or bytes; retry later
    kTooLarge,   // it can never fit
    kDraining,   // the daemon is going down; retry elsewhere or after its restart
  };
  Reason reason = Reason::kInvalid;
  std::string message;
  uint32_t retry_after_ms = 0;  // a guess from the queue's pace; 0 where a retry does not help
};

}  // namespace cuzk
