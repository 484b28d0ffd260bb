// How jobs end, and how the daemon does.
#include <algorithm>

#include "base/assert.hpp"
#include "engine/core.hpp"
#include "engine/guarded.hpp"

namespace cuzk {
namespace {

// A client that has just submitted is about to watch; one that is gone finds nobody to come back to.
constexpr auto kDrainGrace = std::chrono::milliseconds(100);

}  // namespace

void EngineCore::leave_stages(const Run& run) {
  for (TaskQueue* queue : {&check_, &witness_, &making_, &ready_, &verify_, &diagnose_}) queue->remove_job(run.key);
  checking_critical_.erase(run.key);
}

// The engine works on it no more. What is being done for it ends by itself, and its memory is given back then.
void EngineCore::drop_run(const RunPtr& run) {
  leave_stages(*run);
  run->ended = true;
  for (Partition& partition : run->partitions) {
    const bool in_use = partition.state == PartitionState::kWitness || partition.state == PartitionState::kDevice;
    if (in_use) continue;
    drop_witness(partition);
  }
  dropped_.push_back(std::exchange(run->submission, nullptr));
  dropped_.push_back(std::exchange(run->work, nullptr));
  held_bytes_ -= run->held;
  needs_.erase(needs_.find(run->need));
  inactive_.erase(run->key);
  runs_.erase(run->key);
  // Memory of the request is counted until the last who works on it lets go of it.
  dropped_.push_back(run);
  stop_work_of(*run);
}

void EngineCore::stop_work_of(const Run& run) {
  for (DeviceSlot& slot : devices_) {
    if (slot.work == DeviceSlot::Work::kNone || slot.run.get() != &run) continue;
    if (slot.work == DeviceSlot::Work::kProve) calls_.push_back([device = slot.device] { device->cancel(); });
    // Parameters that others want too go on being loaded.
    const bool wanted = pending_tasks(slot.circuit) > 0 ||
                        std::any_of(preloads_.begin(), preloads_.end(),
                                    [&](const PreloadWork& work) { return work.circuit == slot.circuit; });
    if (slot.work == DeviceSlot::Work::kLoad && !wanted && !slot.load_stopped) stop_load(slot);
  }
}

void EngineCore::end_job(const RunPtr& run, JobState state, std::optional<Error> error, std::vector<uint8_t> proof) {
  if (run->ended) return;
  JobResult result;
  result.state = state;
  result.job_id = run->job_id;
  result.proof = std::move(proof);
  result.error = std::move(error);
  if (result.error && !result.error->sector && run->kind != ProofKind::kWindow && run->sector_number != 0) {
    result.error->sector = run->sector_number;
  }
  JobTimes& times = result.times;
  times.total_ms = ms_since(run->submitted);
  times.queue_wait_ms =
      run->started ? times.total_ms - std::min(times.total_ms, ms_since(*run->started)) : times.total_ms;
  times.srs_load_ms = run->srs_load_ms;
  times.synthesis_ms = run->synthesis_ms;
  times.gpu_compute_ms = run->device_ms;
  if (state == JobState::kCompleted && run->partitions.size() == 1) {
    const uint64_t work = times.srs_load_ms + times.synthesis_ms + times.gpu_compute_ms;
    times.queue_wait_ms = std::max(times.queue_wait_ms, times.total_ms - std::min(times.total_ms, work));
  }
  std::vector<PartitionStatus> partitions;
  for (const Partition& partition : run->partitions) {
    partitions.push_back({partition.state, partition.witness_ms, partition.device_ms});
  }
  ended_partitions_[run->key] = std::move(partitions);
  shown_.emplace_back(now_, run->key);
  drop_run(run);
  const Job& job = *table_.find(run->key);
  if (job.journalled && log_ != nullptr) return record(job, std::move(result));
  deliver(run->key, std::move(result));
}

void EngineCore::end_by_key(JobKey key, JobState state, Error error) {
  const auto at = runs_.find(key);
  if (at != runs_.end()) return end_job(RunPtr(at->second), state, std::move(error));
  const Job* job = table_.find(key);
  if (job == nullptr || is_final(job->state) || being_recorded_.contains(key)) return;
  JobResult result;
  result.state = state;
  result.job_id = job->job_id;
  result.error = std::move(error);
  result.times.total_ms = result.times.queue_wait_ms = ms_since(job->submitted);
  if (job->journalled && log_ != nullptr) return record(*job, std::move(result));
  deliver(key, std::move(result));
}

// What the journal was promised is written there before somebody is told.
void EngineCore::record(const Job& job, JobResult result) {
  being_recorded_.insert(job.key);
  post(job.priority, [self = shared_from_this(), key = job.key, kind = job.kind, priority = job.priority,
                      digest = job.digest, result = std::move(result)]() mutable {
    const Status written =
        guarded([&] { return self->log_->finish(key, kind, priority, digest, result, self->clock_->system_now()); });
    const Turn turn(*self);
    if (!written.ok()) self->tell_warning(written.error());
    self->being_recorded_.erase(key);
    self->deliver(key, std::move(result));
  });
}

void EngineCore::deliver(JobKey key, JobResult result) {
  const Job& job = *table_.find(key);
  const ProofKind kind = job.kind;
  KindCounters& counters = counters_[index_of(kind)];
  switch (result.state) {
    case JobState::kCompleted: ++counters.completed; break;
    case JobState::kFailed: ++counters.failed; break;
    case JobState::kCancelled: ++counters.cancelled; break;
    case JobState::kExpired: ++counters.expired; break;
    default: CUZK_ASSERT(false);
  }
  const JobTable::Ended ended = table_.finish(key, std::move(result), now_);
  dropped_.push_back(ended.submission);
  tell([key, kind, result = ended.result](EngineObserver& observer) { observer.on_finished(key, kind, *result); });
  for (const WatchId in_table : ended.watchers) {
    const auto at = watch_of_table_.find(in_table);
    CUZK_ASSERT(at != watch_of_table_.end());
    const WatchId id = at->second;
    watch_of_table_.erase(at);
    watches_.at(id).in_table = 0;
    outbox_.push([this, id, result = ended.result] { call_watcher(id, result); });
  }
}

void EngineCore::forget_in_journal(std::vector<JobKey> keys) {
  if (log_ == nullptr) return;
  post(Priority::kLow, [self = shared_from_this(), keys = std::move(keys)] {
    const Status forgotten = guarded([&] { return self->log_->forget(keys); });
    if (forgotten.ok()) return;
    const Turn turn(*self);
    self->tell_warning(forgotten.error());
  });
}

// Of jobs that wait for the circuit; those whose last proofs are being verified do not need it any more.
void EngineCore::fail_all_of(CircuitIndex circuit, const Error& error) {
  std::vector<RunPtr> waiting;
  for (const auto& [key, run] : runs_) {
    const bool needs_it = run->step == Run::Step::kProving && run->proved < run->partitions.size();
    if (needs_it && run->circuit == circuit) waiting.push_back(run);
  }
  for (const RunPtr& run : waiting) end_job(run, JobState::kFailed, error);
}

void EngineCore::drain(Instant deadline, std::function<void()> done) {
  const Turn turn(*this);
  drained_.push_back(std::move(done));
  drain_deadline_ = draining_ ? std::min(drain_deadline_, deadline) : deadline;
  if (draining_) return;
  draining_ = true;
  table_.set_grace(kDrainGrace);
  if (log_ == nullptr) return;
  for (const auto& [key, run] : runs_) {
    if (table_.find(key)->journalled) park(*run);
  }
}

// It is left to the journal, but for what a device is doing for it.
void EngineCore::park(Run& run) {
  run.parked = true;
  for (TaskQueue* queue : {&check_, &witness_, &ready_, &diagnose_}) queue->remove_job(run.key);
  for (Partition& partition : run.partitions) {
    if (partition.state != PartitionState::kReady) continue;
    drop_witness(partition);
    partition.state = PartitionState::kPending;
  }
  checking_critical_.erase(run.key);
}

// Whether all is done that this process has to do: jobs that the journal does not have, and of the others what was
// being done when the drain began.
void EngineCore::check_drain() {
  if (!draining_) return;
  if (!drain_cut_ && now_ >= drain_deadline_) {
    drain_cut_ = true;
    std::vector<RunPtr> left;
    for (const auto& [key, run] : runs_) {
      run->parked ? stop_work_of(*run) : left.push_back(run);
    }
    for (const RunPtr& run : left) {
      table_.stop(run->key, JobState::kCancelled);
      end_job(run, JobState::kCancelled, Error(ErrorClass::kCancelled, "the daemon is going down"));
    }
  }
  if (drained_.empty() || !being_recorded_.empty() || !inactive_.empty()) return;
  for (const auto& [key, run] : runs_) {
    if (!run->parked) return;
    if (drain_cut_) continue;
    if (run->step == Run::Step::kVerifying || verify_.contains(key, 0)) return;
    const auto& partitions = run->partitions;
    if (std::any_of(partitions.begin(), partitions.end(),
                    [](const Partition& p) { return p.state == PartitionState::kDevice; })) {
      return;
    }
  }
  for (auto& done : std::exchange(drained_, {})) outbox_.push(std::move(done));
}

}  // namespace cuzk
