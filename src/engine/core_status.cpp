// What the engine says of itself.
#include <algorithm>

#include "engine/core.hpp"

namespace cuzk {
namespace {

double seconds_between(Instant from, Instant to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace

JobStatus EngineCore::status_of(const Job& job) const {
  const Instant now = clock_->now();
  JobStatus out;
  out.key = job.key;
  out.job_id = job.job_id;
  out.kind = job.kind;
  out.priority = job.priority;
  out.state = job.state;
  out.age_seconds = seconds_between(job.submitted, now);
  if (job.started) out.started_seconds_ago = seconds_between(*job.started, now);
  if (const auto run = runs_.find(job.key); run != runs_.end()) {
    for (const Partition& partition : run->second->partitions) {
      out.partitions.push_back({partition.state, partition.witness_ms, partition.device_ms});
    }
  } else if (const auto ended = ended_partitions_.find(job.key); ended != ended_partitions_.end()) {
    out.partitions = ended->second;
  }
  return out;
}

DeviceStatus EngineCore::status_of(const DeviceSlot& slot) const {
  DeviceStatus out;
  out.info = slot.info;
  if (slot.info.is_gpu) {
    const auto device = static_cast<uint32_t>(&slot - devices_.data());
    const uint64_t resident = table_of(device).bytes(device);
    out.info.memory_free_bytes = slot.info.memory_usable_bytes - std::min(slot.info.memory_usable_bytes, resident);
  }
  out.state = slot.state;
  out.restarts = slot.generation > 0 ? slot.generation - 1 : 0;
  out.wrong_proofs = slot.wrong_proofs;
  out.distrusted = slot.distrusted;
  if (slot.work == DeviceSlot::Work::kNone) return out;
  out.busy_seconds = seconds_between(slot.began, clock_->now());
  if (slot.run == nullptr) return out;
  out.job_id = slot.run->job_id;
  out.kind = slot.run->kind;
  if (slot.work == DeviceSlot::Work::kProve) out.partition = slot.partitions.front();
  return out;
}

std::vector<ResidentStatus> EngineCore::resident_status() const {
  std::vector<ResidentStatus> out;
  const Instant now = clock_->now();
  for (const ResidencyTable& table : residency_) {
    for (const ResidencyTable::Entry& entry : table.entries()) {
      if (entry.state == ResidencyTable::State::kLoading) continue;
      ResidentStatus status;
      status.circuit_id = std::string(entry.circuit->id());
      status.device = entry.device;
      status.parameter_bytes = entry.parameter_bytes;
      status.circuit_bytes = entry.circuit_bytes;
      status.last_used_seconds_ago = seconds_between(entry.last_used, now);
      status.in_use = entry.in_use;
      status.evictable = table.evictable(entry, now);
      out.push_back(std::move(status));
    }
  }
  std::sort(out.begin(), out.end(), [](const ResidentStatus& a, const ResidentStatus& b) {
    return std::tie(a.device, a.circuit_id) < std::tie(b.device, b.circuit_id);
  });
  return out;
}

EngineStatus EngineCore::status() const {
  EngineStatus out;
  const std::lock_guard lock(mutex_);
  const Instant now = clock_->now();
  out.uptime_seconds = seconds_between(born_, now);
  out.draining = draining_;
  out.budget_bytes = budget_->total();
  out.used_bytes = budget_->used();
  out.budget_origin = budget_->origin();
  for (const auto& [what, bytes] : budget_->used_by()) out.used_by.emplace_back(what, bytes);
  if (reserve_ != nullptr) {
    out.reserve_bytes = reserve_->bytes();
    out.reserve_left_bytes = reserve_->left_bytes();
    out.reserve_uses = reserve_->uses();
  }
  out.queue_depth = table_.counts().queued;
  size_t together = 0;
  for (const DeviceSlot& slot : devices_) together += slot.usable() ? most_together(slot) : 0;
  out.max_witnesses = std::max<size_t>(together, options_.witnesses_ahead * std::max<size_t>(1, usable_devices()));
  out.active_witnesses = making_.size();
  out.refused = refused_;
  out.wrong_proofs = wrong_proofs_;
  out.device_faults = device_faults_;
  out.redone_partitions = redone_;
  out.kinds = counters_;
  for (const ProofKind kind : kProofKinds) {
    out.kinds[index_of(kind)].pending = table_.counts(kind).queued;
    out.kinds[index_of(kind)].running = table_.counts(kind).running;
  }
  for (const JobKey key : table_.unfinished()) out.jobs.push_back(status_of(*table_.find(key)));
  for (const JobKey key : table_.ended_since(now - options_.show_ended)) {
    out.jobs.push_back(status_of(*table_.find(key)));
  }
  bool works = false;
  for (const DeviceSlot& slot : devices_) {
    out.devices.push_back(status_of(slot));
    works = works || (slot.usable() && slot.state != DeviceState::kStarting && slot.state != DeviceState::kRestarting);
  }
  out.ready = works && !draining_;
  out.resident = resident_status();
  return out;
}

}  // namespace cuzk
