#include "telemetry/status_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "telemetry/names.hpp"

namespace cuzk {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxPipelines = 1000;
constexpr size_t kMaxQueued = 100;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// The reference verifies a job as a whole, after its partitions are done.
const char* reference_state(PartitionState state) {
  switch (state) {
    case PartitionState::kPending: return "pending";
    case PartitionState::kWitness: return "synthesizing";
    case PartitionState::kReady: return "synth_done";
    case PartitionState::kDevice: return "gpu";
    case PartitionState::kVerifying: return "done";
    case PartitionState::kDone: return "done";
    case PartitionState::kFailed: return "failed";
  }
  return "pending";
}

Json pipeline(const JobStatus& job) {
  Json out;
  out["job_id"] = job.job_id;
  out["proof_kind"] = status_name(job.kind);
  out["started_secs_ago"] = job.started_seconds_ago.value_or(0);
  out["total_partitions"] = job.partitions.size();
  uint32_t done = 0;
  Json partitions = Json::array();
  for (size_t i = 0; i < job.partitions.size(); ++i) {
    const PartitionStatus& partition = job.partitions[i];
    const std::string_view state = reference_state(partition.state);
    if (state == "done") ++done;
    Json entry = {{"index", i},
                  {"state", state},
                  {"synth_ms", or_null(partition.witness_ms)},
                  {"gpu_ms", or_null(partition.device_ms)}};
    if (partition.state == PartitionState::kVerifying) entry["verifying"] = true;
    partitions.push_back(std::move(entry));
  }
  out["partitions_done"] = done;
  out["partitions"] = std::move(partitions);
  out["job_key"] = job.key;
  out["state"] = to_string(job.state);
  out["priority"] = to_string(job.priority);
  out["age_secs"] = job.age_seconds;
  return out;
}

void append_jobs(Json& out, const EngineStatus& status) {
  std::vector<const JobStatus*> started, queued;
  for (const JobStatus& job : status.jobs) {
    if (job.started_seconds_ago || !job.partitions.empty()) {
      started.push_back(&job);
    } else if (job.state == JobState::kQueued) {
      queued.push_back(&job);
    }
  }
  std::stable_partition(started.begin(), started.end(), [](const JobStatus* job) { return !is_final(job->state); });
  if (started.size() > kMaxPipelines) started.resize(kMaxPipelines);
  if (queued.size() > kMaxQueued) queued.resize(kMaxQueued);

  Json pipelines = Json::array();
  for (const JobStatus* job : started) pipelines.push_back(pipeline(*job));
  out["pipelines"] = std::move(pipelines);
  Json waiting = Json::array();
  for (const JobStatus* job : queued) {
    waiting.push_back({{"job_id", job->job_id},
                       {"proof_kind", status_name(job->kind)},
                       {"job_key", job->key},
                       {"priority", to_string(job->priority)},
                       {"age_secs", job->age_seconds}});
  }
  out["queued"] = std::move(waiting);
}

Json worker(size_t index, const DeviceStatus& device) {
  const bool proving = device.state == DeviceState::kProving;
  Json out = {{"worker_id", index},
              {"gpu_ordinal", device.info.ordinal},
              {"state", proving ? "proving" : "idle"},
              {"current_job", or_null(device.job_id)},
              {"current_partition", or_null(device.partition)},
              {"busy_secs", or_null(device.busy_seconds)},
              {"device_state", to_string(device.state)},
              {"name", device.info.name},
              {"is_gpu", device.info.is_gpu},
              {"restarts", device.restarts},
              {"wrong_proofs", device.wrong_proofs}};
  if (device.info.is_gpu) {
    out["vram_total_bytes"] = device.info.memory_total_bytes;
    out["vram_free_bytes"] = device.info.memory_free_bytes;
    out["vram_usable_bytes"] = device.info.memory_usable_bytes;
    out["uuid"] = device.info.uuid;
  }
  return out;
}

void append_allocations(Json& out, const EngineStatus& status) {
  Json srs = Json::array(), pce = Json::array();
  for (const ResidentStatus& entry : status.resident) {
    const auto allocation = [&](uint64_t bytes) {
      return Json{{"circuit_id", reference_circuit_name(entry.circuit_id)},
                  {"bytes", bytes},
                  {"last_used_secs_ago", entry.last_used_seconds_ago},
                  {"evictable", entry.evictable},
                  {"device", entry.device},
                  {"in_use", entry.in_use}};
    };
    srs.push_back(allocation(entry.parameter_bytes));
    pce.push_back(allocation(entry.circuit_bytes));
  }
  out["allocations"] = {{"srs", std::move(srs)}, {"pce", std::move(pce)}};
}

void append_counters(Json& out, const EngineStatus& status) {
  KindCounters total;
  Json completed = Json::object(), failed = Json::object(), cancelled = Json::object(), expired = Json::object();
  for (const ProofKind kind : kProofKinds) {
    const KindCounters& counters = status.kinds[index_of(kind)];
    const std::string name(status_name(kind));
    total.completed += counters.completed, total.failed += counters.failed;
    total.cancelled += counters.cancelled, total.expired += counters.expired;
    completed[name] = counters.completed, failed[name] = counters.failed;
    cancelled[name] = counters.cancelled, expired[name] = counters.expired;
  }
  out["counters"] = {{"total_completed", total.completed},
                     {"total_failed", total.failed},
                     {"completed_by_kind", std::move(completed)},
                     {"failed_by_kind", std::move(failed)},
                     {"queue_depth", status.queue_depth},
                     {"total_cancelled", total.cancelled},
                     {"total_expired", total.expired},
                     {"cancelled_by_kind", std::move(cancelled)},
                     {"expired_by_kind", std::move(expired)},
                     {"refused", status.refused},
                     {"wrong_proofs", status.wrong_proofs},
                     {"redone_partitions", status.redone_partitions},
                     {"device_faults", status.device_faults}};
}

void append_buffers(Json& out, const EngineStatus& status) {
  uint64_t witnesses = 0, proving = 0;
  for (const JobStatus& job : status.jobs) {
    for (const PartitionStatus& partition : job.partitions) {
      if (is_final(job.state)) continue;
      witnesses += partition.state == PartitionState::kWitness;
      proving += partition.state == PartitionState::kReady || partition.state == PartitionState::kDevice;
    }
  }
  out["buffers"] = {{"synth_in_flight", witnesses},
                    {"provers_in_flight", proving},
                    {"aux_in_flight", 0},
                    {"shells_in_flight", 0},
                    {"pending_handles", 0}};
}

}  // namespace

std::string status_json(const EngineStatus& status, std::string_view version) {
  Json out;
  out["version"] = version;
  out["uptime_secs"] = status.uptime_seconds;
  out["ready"] = status.ready && !status.draining;
  out["draining"] = status.draining;
  Json reserved = Json::object();
  for (const auto& [what, bytes] : status.used_by) reserved[what] = bytes;
  out["memory"] = {{"total_bytes", status.budget_bytes},
                   {"used_bytes", status.used_bytes},
                   {"available_bytes", status.budget_bytes - std::min(status.used_bytes, status.budget_bytes)},
                   {"origin", status.budget_origin},
                   {"reserved", std::move(reserved)},
                   {"emergency_bytes", status.reserve_bytes},
                   {"emergency_left_bytes", status.reserve_left_bytes},
                   {"shortages", status.reserve_uses}};
  out["synthesis"] = {{"max_concurrent", status.max_witnesses}, {"active", status.active_witnesses}};
  append_jobs(out, status);
  Json workers = Json::array();
  for (size_t i = 0; i < status.devices.size(); ++i) workers.push_back(worker(i, status.devices[i]));
  out["gpu_workers"] = std::move(workers);
  append_allocations(out, status);
  append_counters(out, status);
  append_buffers(out, status);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cuzk
