// A hook through which the engine tells what happens: logs, metrics and timelines are made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "queue/job.hpp"

namespace cuzk {

enum class Stage : uint8_t { kCheck, kWitness, kDevice, kVerify };  // kCheck and kVerify are of the whole job

struct StageEvent {
  JobKey key = 0;
  std::string_view job_id;
  ProofKind kind = ProofKind::kPorep;
  Stage stage = Stage::kCheck;
  std::optional<uint32_t> partition;
  std::optional<uint32_t> device;
  uint64_t ms = 0;  // on_stage_end: how long it took; on_stage_begin: how long ago it began
};

// Calls come from any thread, in the order of what happened for each job, and must be cheap.
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  virtual void on_submitted(JobKey, std::string_view /*job_id*/, ProofKind, Priority, uint64_t /*bytes*/) {}
  virtual void on_refused(ProofKind, std::string_view /*reason*/) {}
  virtual void on_stage_begin(const StageEvent&) {}
  virtual void on_stage_end(const StageEvent&, const Error* /*error: nullptr where it succeeded*/) {}
  // A witness waits for a device.
  virtual void on_ready(const StageEvent&) {}
  // A device has taken a partition, alone or with others of its job. Of those that follow the first in a group it is
  // known at the group's end whether they were begun: then on_stage_begin() comes, late; or they are ready again.
  virtual void on_picked_up(const StageEvent&) {}
  virtual void on_finished(JobKey, ProofKind, const JobResult&) {}
  virtual void on_loaded(std::string_view /*circuit*/, uint32_t /*device*/, uint64_t /*bytes*/, uint64_t /*ms*/) {}
  virtual void on_evicted(std::string_view /*circuit*/, uint32_t /*device*/, uint64_t /*bytes*/,
                          std::string_view /*why*/) {}
  virtual void on_device_fault(uint32_t /*device*/, const Error&) {}
  virtual void on_wrong_proof(JobKey, std::string_view /*job_id*/, uint32_t /*partition*/, uint32_t /*device*/) {}
  // The device's process is replaced; with `given_up` the device is out of use for a time.
  virtual void on_distrusted(uint32_t /*device*/, uint32_t /*wrong_in_a_row*/, bool /*given_up*/) {}
  // Memory ran out in the middle of a decision, which went on with the reserve's, of which so much is left (bytes). New
  // jobs are refused until memory is back. Told at most once in ten seconds.
  virtual void on_memory_short(uint64_t /*left*/, uint64_t /*all*/) {}
  virtual void on_memory_back() {}
  // Anything worth a line in the log.
  virtual void on_warning(const Error&) {}
};

}  // namespace cuzk
