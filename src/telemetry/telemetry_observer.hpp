// Makes logs, TIMELINE lines and metrics of what the engine tells.
#pragma once

#include <chrono>

#include "engine/observer.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

namespace cuzk {

// Lines that tools of the reference parse: "TIMELINE,<ms since the engine's start>,<EVENT>,<job id>,<detail>", in the
// log, whatever its format. In the job id commas, backslashes and what is not printable are \xNN.
class TelemetryObserver final : public EngineObserver {
 public:
  // Made just before the engine: its start is now.
  TelemetryObserver(Log& log, Metrics& metrics, bool timeline) : log_(log), metrics_(metrics), timeline_(timeline) {}

  void on_submitted(JobKey key, std::string_view job_id, ProofKind kind, Priority priority, uint64_t bytes) override;
  void on_refused(ProofKind kind, std::string_view reason) override;
  void on_stage_begin(const StageEvent& event) override;
  void on_stage_end(const StageEvent& event, const Error* error) override;
  void on_ready(const StageEvent& event) override;
  void on_picked_up(const StageEvent& event) override;
  void on_finished(JobKey key, ProofKind kind, const JobResult& result) override;
  void on_loaded(std::string_view circuit, uint32_t device, uint64_t bytes, uint64_t ms) override;
  void on_evicted(std::string_view circuit, uint32_t device, uint64_t bytes, std::string_view why) override;
  void on_device_fault(uint32_t device, const Error& error) override;
  void on_wrong_proof(JobKey key, std::string_view job_id, uint32_t partition, uint32_t device) override;
  void on_distrusted(uint32_t device, uint32_t wrong_in_a_row, bool given_up) override;
  void on_memory_short(uint64_t left, uint64_t all) override;
  void on_memory_back() override;
  void on_warning(const Error& error) override;

 private:
  void timeline(std::string_view event, std::string_view job_id, const std::string& detail, uint64_t ms_ago = 0);

  Log& log_;
  Metrics& metrics_;
  const bool timeline_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace cuzk
