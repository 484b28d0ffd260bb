#include "telemetry/telemetry_observer.hpp"

#include <algorithm>
#include <string>

#include "telemetry/escape.hpp"
#include "telemetry/names.hpp"

namespace cuzk {
namespace {

std::string text(std::string_view view) { return std::string(view); }
uint64_t number(uint64_t value) { return value; }

std::string witness_detail(const StageEvent& event) {
  return event.partition ? "partition=" + std::to_string(*event.partition) : "kind=" + text(status_name(event.kind));
}

std::string device_detail(const StageEvent& event) {
  std::string detail = "worker=" + std::to_string(event.device.value_or(0));
  if (event.partition) detail += ",partition=" + std::to_string(*event.partition);
  return detail;
}

}  // namespace

void TelemetryObserver::timeline(std::string_view event, std::string_view job_id, const std::string& detail,
                                 uint64_t ms_ago) {
  if (!timeline_) return;
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
  const auto ms = static_cast<uint64_t>(elapsed.count());
  log_.raw_line("TIMELINE," + std::to_string(ms - std::min(ms, ms_ago)) + "," + text(event) + "," +
                escaped(job_id, ",") + "," + detail);
}

void TelemetryObserver::on_submitted(JobKey key, std::string_view job_id, ProofKind kind, Priority priority,
                                     uint64_t bytes) {
  log_.write(LogLevel::kInfo, "job submitted",
             {{"job_id", text(job_id)},
              {"job_key", number(key)},
              {"proof_kind", text(status_name(kind))},
              {"priority", text(to_string(priority))},
              {"bytes", bytes}});
}

void TelemetryObserver::on_refused(ProofKind kind, std::string_view reason) {
  metrics_.count_refusal(kind, reason);
  log_.write(LogLevel::kWarn, "submission refused",
             {{"proof_kind", text(status_name(kind))}, {"reason", text(reason)}});
}

void TelemetryObserver::on_stage_begin(const StageEvent& event) {
  if (event.stage == Stage::kWitness) {
    timeline("SYNTH_START", event.job_id, witness_detail(event));
  } else if (event.stage == Stage::kDevice) {
    timeline("GPU_START", event.job_id, device_detail(event), event.ms);
  }
}

void TelemetryObserver::on_picked_up(const StageEvent& event) {
  timeline("GPU_PICKUP", event.job_id, device_detail(event));
}

void TelemetryObserver::on_stage_end(const StageEvent& event, const Error* error) {
  const std::string ms = std::to_string(event.ms);
  if (error == nullptr) {
    metrics_.count_stage(event.kind, event.stage, event.ms);
    if (event.stage == Stage::kWitness) {
      timeline("SYNTH_END", event.job_id,
               (event.partition ? witness_detail(event) + "," : std::string()) + "synth_ms=" + ms);
    } else if (event.stage == Stage::kDevice) {
      timeline("GPU_END", event.job_id, device_detail(event) + ",gpu_ms=" + ms);
    }
  }
  const LogLevel level = error == nullptr ? LogLevel::kDebug : LogLevel::kWarn;
  if (!log_.enabled(level)) return;
  const std::string stage(stage_name(event.stage));
  log_.write(level, error == nullptr ? "stage done" : "stage failed",
             {{"job_id", text(event.job_id)},
              {"job_key", number(event.key)},
              {"stage", stage},
              {"partition", event.partition ? std::to_string(*event.partition) : "all"},
              {"device", event.device ? std::to_string(*event.device) : "none"},
              {"ms", event.ms},
              {"error", error == nullptr ? std::string() : error->describe()}});
}

void TelemetryObserver::on_ready(const StageEvent& event) {
  timeline("GPU_QUEUE", event.job_id,
           event.partition ? "partition=" + std::to_string(*event.partition) : std::string("monolithic"));
}

void TelemetryObserver::on_finished(JobKey key, ProofKind kind, const JobResult& result) {
  metrics_.count_job(kind, result);
  metrics_.count_dropped_log_lines(log_.dropped());
  const bool failed = result.state == JobState::kFailed;
  if (!result.error) {
    log_.write(LogLevel::kInfo, "job finished",
               {{"job_id", result.job_id},
                {"job_key", number(key)},
                {"proof_kind", text(status_name(kind))},
                {"state", text(to_string(result.state))},
                {"total_ms", result.times.total_ms},
                {"queue_wait_ms", result.times.queue_wait_ms},
                {"srs_load_ms", result.times.srs_load_ms},
                {"synthesis_ms", result.times.synthesis_ms},
                {"gpu_compute_ms", result.times.gpu_compute_ms},
                {"proof_bytes", number(result.proof.size())}});
    return;
  }
  log_.write(failed ? LogLevel::kWarn : LogLevel::kInfo, "job finished",
             {{"job_id", result.job_id},
              {"job_key", number(key)},
              {"proof_kind", text(status_name(kind))},
              {"state", text(to_string(result.state))},
              {"total_ms", result.times.total_ms},
              {"queue_wait_ms", result.times.queue_wait_ms},
              {"error_class", text(to_string(result.error->error_class))},
              {"retry_helps", retry_helps(result.error->error_class)},
              {"error", result.error->describe()}});
}

void TelemetryObserver::on_loaded(std::string_view circuit, uint32_t device, uint64_t bytes, uint64_t ms) {
  metrics_.count_load(ms);
  log_.write(LogLevel::kInfo, "parameters loaded",
             {{"circuit", text(circuit)}, {"device", number(device)}, {"bytes", bytes}, {"ms", ms}});
}

void TelemetryObserver::on_evicted(std::string_view circuit, uint32_t device, uint64_t bytes, std::string_view why) {
  metrics_.count_eviction();
  log_.write(LogLevel::kInfo, "parameters evicted",
             {{"circuit", text(circuit)}, {"device", number(device)}, {"bytes", bytes}, {"why", text(why)}});
}

void TelemetryObserver::on_device_fault(uint32_t device, const Error& error) {
  log_.write(LogLevel::kError, "device fault", {{"device", number(device)}, {"error", error.describe()}});
}

void TelemetryObserver::on_wrong_proof(JobKey key, std::string_view job_id, uint32_t partition, uint32_t device) {
  log_.write(LogLevel::kError, "a proof did not verify; the partition is proved again",
             {{"job_id", text(job_id)},
              {"job_key", number(key)},
              {"partition", number(partition)},
              {"device", number(device)}});
}

void TelemetryObserver::on_distrusted(uint32_t device, uint32_t wrong_in_a_row, bool given_up) {
  log_.write(LogLevel::kError,
             given_up ? "a device computes wrong proofs and is out of use for a time"
                      : "a device computes wrong proofs; its process is replaced",
             {{"device", number(device)}, {"wrong_in_a_row", number(wrong_in_a_row)}});
}

void TelemetryObserver::on_memory_short(uint64_t left, uint64_t all) {
  log_.write(LogLevel::kWarn,
             "memory ran out: the reserve is in use, and new jobs are refused until there is memory again",
             {{"left_bytes", left}, {"reserve_bytes", all}});
}

void TelemetryObserver::on_memory_back() { log_.write(LogLevel::kWarn, "memory is there again: jobs are taken"); }

void TelemetryObserver::on_warning(const Error& error) {
  log_.write(LogLevel::kWarn, "warning",
             {{"error_class", text(to_string(error.error_class))}, {"error", error.describe()}});
}

}  // namespace cuzk
