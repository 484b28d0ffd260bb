#include "telemetry/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/summary.h>
#include <prometheus/text_serializer.h>

#include <mutex>
#include <set>

#include "telemetry/names.hpp"

namespace cuzk {
namespace {

using prometheus::ClientMetric;
using prometheus::Histogram;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::map<std::string, std::string>;

constexpr size_t kMaxReasons = 32;

const Histogram::BucketBoundaries kJobSeconds = {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600};
const Histogram::BucketBoundaries kStageSeconds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
                                                   2.5,   5,    10,    25,   60,  150,  300, 900};
const Histogram::BucketBoundaries kCallSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                  0.5,    1,     2.5,    5,     10,   30,    120,  600, 1800};

double seconds(uint64_t ms) { return static_cast<double>(ms) / 1000; }

// A family that exists only while the text is made.
class FamilyBuilder {
 public:
  FamilyBuilder(std::vector<MetricFamily>& out, std::string name, std::string help, MetricType type) : type_(type) {
    out.push_back({std::move(name), std::move(help), type, {}});
    family_ = &out.back();
  }
  FamilyBuilder& add(double value, const Labels& labels = {}) {
    ClientMetric metric;
    for (const auto& [name, text] : labels) metric.label.push_back({name, text});
    (type_ == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    family_->metric.push_back(std::move(metric));
    return *this;
  }

 private:
  MetricType type_;
  MetricFamily* family_;  // used before the next is appended
};

void append_jobs(std::vector<MetricFamily>& out, const EngineStatus& status) {
  uint64_t completed = 0, failed = 0, running = 0;
  for (const KindCounters& kind : status.kinds) {
    completed += kind.completed, failed += kind.failed, running += kind.running;
  }
  FamilyBuilder(out, "cuzk_proofs_completed_total", "Jobs that ended with a proof", MetricType::Counter).add(completed);
  FamilyBuilder(out, "cuzk_proofs_failed_total", "Jobs that ended with an error", MetricType::Counter).add(failed);
  FamilyBuilder(out, "cuzk_uptime_seconds", "Seconds since the engine started", MetricType::Gauge)
      .add(status.uptime_seconds);
  FamilyBuilder(out, "cuzk_queue_depth", "Jobs that no work has been done for", MetricType::Gauge)
      .add(static_cast<double>(status.queue_depth));
  FamilyBuilder(out, "cuzk_running_jobs", "Jobs that are being worked on", MetricType::Gauge).add(running);
  FamilyBuilder(out, "cuzk_gpu_workers", "Devices that partitions are proved on", MetricType::Gauge)
      .add(static_cast<double>(status.devices.size()));
  const auto by_kind = [&](const char* name, const char* help, MetricType type, uint64_t KindCounters::*member) {
    FamilyBuilder family(out, name, help, type);
    for (const ProofKind kind : kProofKinds) {
      family.add(static_cast<double>(status.kinds[index_of(kind)].*member),
                 {{"proof_kind", std::string(metric_name(kind))}});
    }
  };
  by_kind("cuzk_proofs_completed", "Jobs that ended with a proof", MetricType::Counter, &KindCounters::completed);
  by_kind("cuzk_proofs_failed", "Jobs that ended with an error", MetricType::Counter, &KindCounters::failed);
  by_kind("cuzk_proofs_cancelled_total", "Jobs that were cancelled", MetricType::Counter, &KindCounters::cancelled);
  by_kind("cuzk_proofs_expired_total", "Jobs whose deadline passed", MetricType::Counter, &KindCounters::expired);
  by_kind("cuzk_jobs_accepted_total", "Jobs that were accepted, those that the journal brought back among them",
          MetricType::Counter, &KindCounters::accepted);
  by_kind("cuzk_jobs_pending", "Jobs that no work has been done for", MetricType::Gauge, &KindCounters::pending);
  by_kind("cuzk_jobs_running", "Jobs that are being worked on", MetricType::Gauge, &KindCounters::running);
  FamilyBuilder(out, "cuzk_refused_total", "Submissions that were refused", MetricType::Counter).add(status.refused);
  FamilyBuilder(out, "cuzk_wrong_proofs_total", "Partition proofs that did not verify", MetricType::Counter)
      .add(status.wrong_proofs);
  FamilyBuilder(out, "cuzk_redone_partitions_total", "Partitions that were proved again", MetricType::Counter)
      .add(status.redone_partitions);
  FamilyBuilder(out, "cuzk_device_faults_total", "Times that a device's process ended or hung", MetricType::Counter)
      .add(status.device_faults);
}

void append_memory(std::vector<MetricFamily>& out, const EngineStatus& status) {
  FamilyBuilder(out, "cuzk_memory_budget_bytes", "Host memory that the daemon may use", MetricType::Gauge)
      .add(static_cast<double>(status.budget_bytes));
  FamilyBuilder(out, "cuzk_memory_used_bytes", "Host memory that is reserved", MetricType::Gauge)
      .add(static_cast<double>(status.used_bytes));
  FamilyBuilder by(out, "cuzk_memory_reserved_bytes", "Host memory that is reserved, by what for", MetricType::Gauge);
  for (const auto& [what, bytes] : status.used_by) by.add(static_cast<double>(bytes), {{"what", what}});
  if (status.reserve_bytes > 0) {
    FamilyBuilder reserve(out, "cuzk_memory_emergency_bytes", "Memory that is kept back for when memory runs out",
                          MetricType::Gauge);
    reserve.add(static_cast<double>(status.reserve_bytes), {{"state", "total"}});
    reserve.add(static_cast<double>(status.reserve_left_bytes), {{"state", "left"}});
    FamilyBuilder(out, "cuzk_memory_shortages_total", "Times that there was no memory and some was taken from that",
                  MetricType::Counter)
        .add(static_cast<double>(status.reserve_uses));
  }
  FamilyBuilder(out, "cuzk_witnesses_active", "Partitions whose witness is being made", MetricType::Gauge)
      .add(static_cast<double>(status.active_witnesses));
  FamilyBuilder(out, "cuzk_witnesses_max", "Witnesses that may be made at once", MetricType::Gauge)
      .add(static_cast<double>(status.max_witnesses));
  FamilyBuilder resident(out, "cuzk_resident_bytes", "Bytes that a circuit holds on a device", MetricType::Gauge);
  for (const ResidentStatus& entry : status.resident) {
    const std::string device = std::to_string(entry.device);
    resident.add(static_cast<double>(entry.parameter_bytes),
                 {{"circuit", entry.circuit_id}, {"device", device}, {"content", "parameters"}});
    resident.add(static_cast<double>(entry.circuit_bytes),
                 {{"circuit", entry.circuit_id}, {"device", device}, {"content", "circuit"}});
  }
}

void append_devices(std::vector<MetricFamily>& out, const EngineStatus& status) {
  const auto labels = [](const DeviceStatus& device) {
    return Labels{{"device", std::to_string(device.info.ordinal)}};
  };
  {
    FamilyBuilder family(out, "cuzk_device_busy", "1 while a device proves or loads", MetricType::Gauge);
    for (const DeviceStatus& device : status.devices) {
      family.add(device.state == DeviceState::kProving || device.state == DeviceState::kLoading, labels(device));
    }
  }
  {
    FamilyBuilder family(out, "cuzk_device_up", "1 while a device can be used", MetricType::Gauge);
    for (const DeviceStatus& device : status.devices) {
      family.add(device.state == DeviceState::kIdle || device.state == DeviceState::kProving ||
                     device.state == DeviceState::kLoading,
                 labels(device));
    }
  }
  {
    FamilyBuilder family(out, "cuzk_device_restarts_total", "Times that a device's process was started again",
                         MetricType::Counter);
    for (const DeviceStatus& device : status.devices) family.add(static_cast<double>(device.restarts), labels(device));
  }
  {
    FamilyBuilder family(out, "cuzk_device_wrong_proofs_total", "Partition proofs of a device that did not verify",
                         MetricType::Counter);
    for (const DeviceStatus& device : status.devices) family.add(device.wrong_proofs, labels(device));
  }
  {
    FamilyBuilder family(out, "cuzk_device_distrusted_total",
                         "Times that a device's process was replaced because its proofs were wrong in a row",
                         MetricType::Counter);
    for (const DeviceStatus& device : status.devices) family.add(device.distrusted, labels(device));
  }
  FamilyBuilder family(out, "cuzk_device_memory_bytes", "Memory of a GPU", MetricType::Gauge);
  for (const DeviceStatus& device : status.devices) {
    if (!device.info.is_gpu) continue;
    for (const bool free : {false, true}) {
      Labels with_state = labels(device);
      with_state["state"] = free ? "free" : "total";
      family.add(static_cast<double>(free ? device.info.memory_free_bytes : device.info.memory_total_bytes),
                 with_state);
    }
  }
}

}  // namespace

struct Metrics::State {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Summary>& proof_duration =
      prometheus::BuildSummary()
          .Name("cuzk_proof_duration_seconds")
          .Help("From submission to proof, of jobs that ended with one")
          .Register(registry);
  prometheus::Family<Histogram>& job_duration = prometheus::BuildHistogram()
                                                    .Name("cuzk_job_duration_seconds")
                                                    .Help("From submission to the end, by outcome")
                                                    .Register(registry);
  prometheus::Family<Histogram>& queue_wait =
      prometheus::BuildHistogram()
          .Name("cuzk_job_queue_wait_seconds")
          .Help("From submission to the first work; of proofs of one partition all waiting")
          .Register(registry);
  prometheus::Family<Histogram>& stage_duration = prometheus::BuildHistogram()
                                                      .Name("cuzk_stage_duration_seconds")
                                                      .Help("Of one stage of a partition or a job")
                                                      .Register(registry);
  prometheus::Family<prometheus::Counter>& refusals = prometheus::BuildCounter()
                                                          .Name("cuzk_refusals_total")
                                                          .Help("Submissions that were refused, by reason")
                                                          .Register(registry);
  Histogram& load_duration = prometheus::BuildHistogram()
                                 .Name("cuzk_parameters_load_seconds")
                                 .Help("Of loading a circuit's parameters onto a device")
                                 .Register(registry)
                                 .Add({}, kStageSeconds);
  prometheus::Counter& evictions = prometheus::BuildCounter()
                                       .Name("cuzk_parameters_evictions_total")
                                       .Help("Times that a circuit's parameters were given up on a device")
                                       .Register(registry)
                                       .Add({});
  prometheus::Family<Histogram>& call_duration = prometheus::BuildHistogram()
                                                     .Name("cuzk_rpc_duration_seconds")
                                                     .Help("Of a call, from its headers to its status")
                                                     .Register(registry);
  prometheus::Family<prometheus::Counter>& calls = prometheus::BuildCounter()
                                                       .Name("cuzk_rpcs_total")
                                                       .Help("Calls that ended, by method and status")
                                                       .Register(registry);
  prometheus::Counter& received = prometheus::BuildCounter()
                                      .Name("cuzk_rpc_received_bytes_total")
                                      .Help("Bytes of the requests of Prove and SubmitProof")
                                      .Register(registry)
                                      .Add({});
  prometheus::Gauge& dropped_lines = prometheus::BuildGauge()
                                         .Name("cuzk_log_dropped_lines")
                                         .Help("Lines that the log dropped because its reader was too slow")
                                         .Register(registry)
                                         .Add({});
  std::mutex mutex;
  std::set<std::string, std::less<>> reasons;
};

Metrics::Metrics() : state_(std::make_unique<State>()) {
  for (const ProofKind kind : kProofKinds) {
    state_->proof_duration.Add({{"proof_kind", std::string(metric_name(kind))}}, prometheus::Summary::Quantiles{});
  }
}
Metrics::~Metrics() = default;

void Metrics::count_job(ProofKind kind, const JobResult& result) {
  const std::string name(metric_name(kind));
  const double total = seconds(result.times.total_ms);
  if (result.state == JobState::kCompleted) {
    state_->proof_duration.Add({{"proof_kind", name}}, prometheus::Summary::Quantiles{}).Observe(total);
  }
  state_->job_duration.Add({{"proof_kind", name}, {"outcome", to_string(result.state)}}, kJobSeconds).Observe(total);
  state_->queue_wait.Add({{"proof_kind", name}}, kJobSeconds).Observe(seconds(result.times.queue_wait_ms));
}

void Metrics::count_stage(ProofKind kind, Stage stage, uint64_t ms) {
  state_->stage_duration
      .Add({{"proof_kind", std::string(metric_name(kind))}, {"stage", std::string(stage_name(stage))}}, kStageSeconds)
      .Observe(seconds(ms));
}

void Metrics::count_refusal(ProofKind kind, std::string_view reason) {
  std::string label(reason);
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->reasons.contains(label)) {
      if (state_->reasons.size() < kMaxReasons) {
        state_->reasons.insert(label);
      } else {
        label = "other";
      }
    }
  }
  state_->refusals.Add({{"proof_kind", std::string(metric_name(kind))}, {"reason", label}}).Increment();
}

void Metrics::count_load(uint64_t ms) { state_->load_duration.Observe(seconds(ms)); }
void Metrics::count_eviction() { state_->evictions.Increment(); }

void Metrics::count_call(std::string_view method, std::string_view code, double seconds) {
  state_->calls.Add({{"method", std::string(method)}, {"code", std::string(code)}}).Increment();
  state_->call_duration.Add({{"method", std::string(method)}}, kCallSeconds).Observe(seconds);
}

void Metrics::count_received_bytes(uint64_t bytes) { state_->received.Increment(static_cast<double>(bytes)); }
void Metrics::count_dropped_log_lines(uint64_t total) { state_->dropped_lines.Set(static_cast<double>(total)); }

std::string Metrics::text(const EngineStatus& status, std::string_view version) const {
  std::vector<MetricFamily> families;
  append_jobs(families, status);
  append_memory(families, status);
  append_devices(families, status);
  FamilyBuilder(families, "cuzk_ready", "1 while submissions are taken and a device works", MetricType::Gauge)
      .add(status.ready && !status.draining);
  FamilyBuilder(families, "cuzk_build_info", "1; the version is a label", MetricType::Gauge)
      .add(1, {{"version", std::string(version)}});
  for (MetricFamily& family : state_->registry.Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().prometheus::Serializer::Serialize(families);
}

}  // namespace cuzk
