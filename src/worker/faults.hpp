// Faults that a worker makes on purpose, so that tests of all that is around it can see what happens then. Nothing but
// a hidden option reaches this.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cuzk {

enum class WorkerFault : uint8_t {
  kCrash,       // a signal that nothing catches
  kExit,        // with status 3
  kHang,        // the task goes no further; the process still says that it lives
  kFreeze,      // the process is stopped
  kWrongProof,  // the proof is well formed and wrong
  kBadAlloc,    // memory runs out in the task
  kSlow,        // the task waits before it begins; it can be cancelled meanwhile
  kGarbage,     // what the process sends is no message
  kShout,       // a thousand lines on stderr
  kFail,        // the task fails with kInternal
  kLoseDevice,  // the task fails as it does where a GPU's context is lost
  kTrap,        // a GPU's context is lost before the task; nothing on the CPU
};

struct PlannedFault {
  static constexpr uint64_t kEvery = UINT64_MAX;
  static constexpr uint64_t kStart = 0;  // before the process is ready
  WorkerFault fault = WorkerFault::kCrash;
  uint64_t task = kEvery;  // counted from 1 in each process: loads, unloads and proofs
  std::chrono::milliseconds time{0};
  friend bool operator==(const PlannedFault&, const PlannedFault&) = default;
};

// "crash@3,slow@*=200,wrong-proof@4": name, number of the task or "*", milliseconds. Errors: kUsage.
Result<std::vector<PlannedFault>> parse_faults(std::string_view text);

}  // namespace cuzk
