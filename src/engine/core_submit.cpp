// Submissions, watchers, cancellation, what the journal brings back.
#include <algorithm>

#include "base/assert.hpp"
#include "engine/core.hpp"
#include "engine/guarded.hpp"
#include "queue/job_id.hpp"

namespace cuzk {
namespace {

constexpr uint32_t kJournalHintMs = 1000;
constexpr uint32_t kMemoryHintMs = 1000;

std::string bytes_text(uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

Refusal refusal(Refusal::Reason reason, std::string message, uint32_t retry_after_ms = 0) {
  Refusal out;
  out.reason = reason;
  out.message = std::move(message);
  out.retry_after_ms = retry_after_ms;
  return out;
}

}  // namespace

EngineCore::Plan EngineCore::plan(const RequestNeeds& request) const {
  Plan plan;
  plan.request = request;
  plan.need = request.check_scratch;
  if (request.circuit != nullptr) {
    const CircuitIndex circuit = index_of_circuit(*request.circuit);
    plan.need = std::max(plan.need, needed_by(circuit));
    plan.never = fits_no_device(circuit);
  }
  if (!plan.never) plan.never = exceeds_memory(request.held + plan.need);
  return plan;
}

// Why no device will ever prove the circuit, where that is so. A device that has not said yet what it has may.
std::optional<std::string> EngineCore::fits_no_device(CircuitIndex circuit) const {
  constexpr uint64_t kNone = UINT64_MAX / 4;  // of a circuit that no GPU can prove, device_needs() says more
  uint64_t least = kNone, most = 0;
  for (const DeviceSlot& slot : devices_) {
    const DeviceNeeds needs = service_->device_needs(spec_of(circuit), slot.info);
    if (fits_gpu(slot, needs)) return std::nullopt;
    least = std::min(least, needs.device_resident + needs.device_scratch);
    most = std::max(most, slot.info.memory_usable_bytes);
  }
  const std::string what = "no device has the memory to prove " + std::string(spec_of(circuit).id());
  if (least == kNone) return what;
  return what + ": it needs about " + bytes_text(least) + ", and the largest has " + bytes_text(most);
}

std::optional<std::string> EngineCore::exceeds_memory(uint64_t bytes) const {
  if (budget_->could_ever_fit(bytes + headroom_)) return std::nullopt;
  return "it needs about " + bytes_text(bytes + headroom_) + " of memory, and there are " +
         bytes_text(budget_->total()) + " (" + budget_->origin() + ")";
}

// Beside all requests there must always be room for the largest of their proofs: then whoever is first can be proved as
// soon as what runs has ended, and nobody waits for ever.
std::optional<Refusal> EngineCore::admit(JobKey key, const Plan& plan) {
  using Reason = Refusal::Reason;
  if (plan.never) return refusal(Reason::kTooLarge, *plan.never);
  if (short_of_memory(table_.find(key)->priority)) {
    return refusal(Reason::kQueueFull, "the daemon is short of memory", kMemoryHintMs);
  }
  const uint64_t largest = std::max(plan.need, needs_.empty() ? 0 : *needs_.rbegin());
  if (!budget_->could_ever_fit(held_bytes_ + plan.request.held + largest + headroom_)) {
    return refusal(Reason::kQueueFull, "the memory for requests is full: " + bytes_text(held_bytes_), kMemoryHintMs);
  }
  Result<Reservation> request = budget_->reserve(plan.request.held, "requests");
  if (!request.ok()) {
    // Something that can go holds it; the next attempt finds room.
    give_up_for(Task{table_.find(key)->priority, key, 0, 0}, plan.request.held, {});
    request = budget_->reserve(plan.request.held, "requests");
    if (!request.ok()) return refusal(Reason::kQueueFull, request.error().message, kMemoryHintMs);
  }
  const Job* job = table_.find(key);
  add_run(*job, plan, std::move(request).value());
  return std::nullopt;
}

EngineCore::RunPtr EngineCore::add_run(const Job& job, const Plan& plan, Reservation request) {
  auto run = std::make_shared<Run>();
  run->key = job.key;
  run->job_id = job.job_id;
  run->kind = job.kind;
  run->priority = job.priority;
  run->submitted = job.submitted;
  run->submission = job.submission;
  run->sector_number = job.submission->sector_number;
  run->miner_id = job.submission->miner_id;
  if (plan.request.circuit != nullptr) run->circuit = index_of_circuit(*plan.request.circuit);
  run->request = std::move(request);
  run->held = plan.request.held;
  run->need = plan.need;
  run->check_scratch = plan.request.check_scratch;
  held_bytes_ += run->held;
  needs_.insert(run->need);
  inactive_.insert(job.key);
  runs_.emplace(job.key, run);
  return run;
}

void EngineCore::count_accepted(JobKey key) {
  if (const Job* job = table_.find(key)) ++counters_[index_of(job->kind)].accepted;
}

// From now on it is worked on.
void EngineCore::activate(JobKey key) {
  count_accepted(key);
  inactive_.erase(key);
  const auto at = runs_.find(key);
  if (at == runs_.end()) return;
  Run& run = *at->second;
  check_.push(task_of(run, 0));
  if (run.priority == Priority::kCritical) checking_critical_.insert(key);
}

std::optional<Instant> EngineCore::deadline_of(const Submission& submission) const {
  if (!submission.deadline) return std::nullopt;
  // Far deadlines are cut to a year, so that no clock's arithmetic overflows.
  constexpr auto kYear = std::chrono::hours(24 * 365);
  const auto left =
      std::clamp<std::chrono::system_clock::duration>(*submission.deadline - clock_->system_now(), -kYear, kYear);
  return clock_->now() + std::chrono::duration_cast<Instant::duration>(left);
}

SubmitOutcome EngineCore::refuse(ProofKind kind, Refusal refusal) {
  ++refused_;
  tell([kind, reason = refusal.reason](EngineObserver& observer) {
    switch (reason) {
      case Refusal::Reason::kInvalid: return observer.on_refused(kind, "invalid");
      case Refusal::Reason::kQueueFull: return observer.on_refused(kind, "queue-full");
      case Refusal::Reason::kTooLarge: return observer.on_refused(kind, "too-large");
      case Refusal::Reason::kDraining: return observer.on_refused(kind, "draining");
    }
  });
  return refusal;
}

SubmitOutcome EngineCore::submit(Submission submission, Attendance attendance, Reservation received) {
  JobTable::Arrival arrival;
  arrival.job_id = submission.request_id;
  if (arrival.job_id.empty()) {
    Result<std::string> uuid = random_uuid();
    if (!uuid.ok()) return refusal(Refusal::Reason::kQueueFull, uuid.error().message, kMemoryHintMs);
    arrival.job_id = std::move(uuid).value();
  }
  const auto kept = std::make_shared<const Submission>(std::move(submission));
  arrival.submission = kept;
  arrival.digest = kept->digest();
  arrival.attendance = attendance;
  arrival.deadline = deadline_of(*kept);
  const std::string job_id = arrival.job_id;
  const PayloadDigest digest = arrival.digest;
  const RequestNeeds needs = service_->request_needs(*kept);

  // What is admitted is told.
  const UsesReserve uses_reserve;
  Admitted admitted;
  {
    const Turn turn(*this);
    if (draining_) {
      return refuse(kept->kind, refusal(Refusal::Reason::kDraining, "the daemon is going down"));
    }
    Admission admission = table_.submit(std::move(arrival), now_);
    if (auto* refused = std::get_if<Refusal>(&admission)) return refuse(kept->kind, std::move(*refused));
    admitted = std::get<Admitted>(admission);
    if (admitted.attached) {
      if (admitted.reprioritised) reprioritise(admitted.key);
    } else {
      received.release();
      if (auto refused = admit(admitted.key, plan(needs))) {
        const bool taken_back = table_.retract(admitted.key);
        CUZK_ASSERT(taken_back);
        return refuse(kept->kind, std::move(*refused));
      }
      tell([key = admitted.key, job_id, kind = kept->kind, priority = kept->effective_priority(),
            bytes = kept->bytes()](EngineObserver& observer) {
        observer.on_submitted(key, job_id, kind, priority, bytes);
      });
      if (!admitted.to_journal || log_ == nullptr) activate(admitted.key);
    }
  }
  if (admitted.to_journal && log_ != nullptr) {
    if (auto refused = write_to_journal(admitted, job_id, *kept, digest)) {
      const Turn turn(*this);
      return refuse(kept->kind, std::move(*refused));
    }
  }
  Submitted out;
  out.key = admitted.key;
  out.job_id = job_id;
  out.queue_position = admitted.queue_position;
  out.attached = admitted.attached;
  return out;
}

// Without the lock: the disk is waited for.
std::optional<Refusal> EngineCore::write_to_journal(const Admitted& admitted, const std::string& job_id,
                                                    const Submission& submission, const PayloadDigest& digest) {
  const JobKey key = admitted.key;
  const Status written = guarded([&] { return log_->accept(key, job_id, submission, digest, clock_->system_now()); });
  std::optional<JobResult> ended;  // which the journal does not know yet
  Job job;
  {
    const Turn turn(*this);
    if (!written.ok()) {
      tell_warning(written.error());
      if (!admitted.attached) {
        const auto at = runs_.find(key);
        const RunPtr run = at == runs_.end() ? nullptr : at->second;
        if (run != nullptr && table_.retract(key)) {
          drop_run(run);
        } else {
          activate(key);  // for those who attached to it
        }
      }
      return refusal(Refusal::Reason::kQueueFull, "the journal cannot be written: " + written.error().describe(),
                     kJournalHintMs);
    }
    if (const Job* cut = table_.find(key); drain_cut_ && cut != nullptr && cut->state == JobState::kCancelled) {
      if (!admitted.attached) count_accepted(key);
      return std::nullopt;  // by the drain, which did not know of the record: it stays, and the next process proves it
    }
    const bool known = table_.set_journalled(key);
    if (known) {
      job = *table_.find(key);
      if (job.result) ended = *job.result;
    }
    if (!admitted.attached) activate(key);
    if (const auto at = runs_.find(key); draining_ && at != runs_.end()) park(*at->second);
    if (!known) forget_in_journal({key});
  }
  if (!ended) return std::nullopt;
  // Where that fails the next process proves it once more, which does no harm; somebody has to know why.
  const Status finished =
      guarded([&] { return log_->finish(key, job.kind, job.priority, job.digest, *ended, clock_->system_now()); });
  if (!finished.ok()) {
    const Turn turn(*this);
    tell_warning(finished.error());
  }
  return std::nullopt;
}

void EngineCore::restore(const Journal::Recovered& recovered) {
  const auto instant_of = [this](std::chrono::system_clock::time_point time) {
    const auto ago = std::max(std::chrono::system_clock::duration::zero(), clock_->system_now() - time);
    return now_ - std::chrono::duration_cast<Instant::duration>(
                      std::min<std::chrono::system_clock::duration>(ago, std::chrono::hours(24 * 365)));
  };
  for (const Journal::EndedJob& job : recovered.ended) {
    table_.restore_result(job.key, job.kind, job.priority, job.digest, job.result, instant_of(job.ended));
  }
  for (const Journal::PendingJob& pending : recovered.pending) {
    JobTable::Arrival arrival;
    arrival.job_id = pending.job_id;
    arrival.submission = pending.submission;
    arrival.digest = pending.digest;
    arrival.attendance = Attendance::kDetached;
    arrival.deadline = deadline_of(*pending.submission);
    table_.restore(pending.key, std::move(arrival), now_);
    const Plan planned = plan(service_->request_needs(*pending.submission));
    if (planned.never) {
      count_accepted(pending.key);
      end_by_key(pending.key, JobState::kFailed, Error(ErrorClass::kUnsupported, *planned.never));
      continue;
    }
    Result<Reservation> request = budget_->reserve(planned.request.held, "requests");
    if (!request.ok()) tell_warning(request.error());
    add_run(*table_.find(pending.key), planned, request.ok() ? std::move(request).value() : Reservation());
    activate(pending.key);
  }
}

void EngineCore::reprioritise(JobKey key) {
  const auto at = runs_.find(key);
  if (at == runs_.end()) return;
  Run& run = *at->second;
  run.priority = table_.find(key)->priority;
  for (TaskQueue* queue : {&check_, &witness_, &making_, &ready_, &verify_, &diagnose_}) {
    queue->set_priority(key, run.priority);
  }
  const bool being_read = run.step == Run::Step::kQueued || run.step == Run::Step::kChecking;
  if (run.priority == Priority::kCritical && being_read && !inactive_.contains(key)) checking_critical_.insert(key);
}

std::optional<JobKey> EngineCore::find(std::string_view job_id) const {
  const std::lock_guard lock(mutex_);
  return table_.newest(job_id);
}

WatchId EngineCore::watch(JobKey key, std::function<void(const JobResult&)> done) {
  const Turn turn(*this);
  const WatchId id = next_watch_++;
  Watch& watch = watches_[id];
  watch.job = key;
  watch.done = std::move(done);
  const Job* job = table_.find(key);
  if (job != nullptr && !is_final(job->state)) {
    watch.in_table = table_.add_watcher(key);
    watch_of_table_[watch.in_table] = id;
    return id;
  }
  std::shared_ptr<const JobResult> result = job == nullptr ? nullptr : job->result;
  if (result == nullptr) {
    JobResult unknown;
    unknown.error = Error(ErrorClass::kNotFound, "there is no such job, or its result is not kept any more");
    result = std::make_shared<const JobResult>(std::move(unknown));
  }
  outbox_.push([this, id, result] { call_watcher(id, result); });
  return id;
}

void EngineCore::call_watcher(WatchId id, const std::shared_ptr<const JobResult>& result) {
  std::function<void(const JobResult&)> done;
  {
    const std::lock_guard lock(mutex_);
    const auto at = watches_.find(id);
    if (at == watches_.end() || stopped_) return;
    at->second.calling = std::this_thread::get_id();
    done = std::move(at->second.done);
  }
  done(*result);
  done = nullptr;
  {
    const std::lock_guard lock(mutex_);
    watches_.erase(id);
  }
  called_.notify_all();
}

void EngineCore::unwatch(WatchId id) {
  std::function<void(const JobResult&)> dropped;  // goes without the lock
  {
    std::unique_lock lock(mutex_);
    const auto being_called = [this, id] {
      const auto at = watches_.find(id);
      return at != watches_.end() && at->second.calling.has_value();
    };
    if (being_called() && *watches_.find(id)->second.calling == std::this_thread::get_id()) return;
    called_.wait(lock, [&] { return !being_called(); });
  }
  const Turn turn(*this);
  const auto at = watches_.find(id);
  // Somebody may have begun to call since: then it is over as far as this caller can tell, or begins after.
  if (at == watches_.end() || at->second.calling) return;
  if (at->second.in_table != 0) {
    watch_of_table_.erase(at->second.in_table);
    table_.remove_watcher(at->second.in_table, now_);
  }
  dropped = std::move(at->second.done);
  watches_.erase(at);
}

CancelOutcome EngineCore::cancel(std::string_view job_id) {
  const Turn turn(*this);
  CancelOutcome outcome;
  for (const JobKey key : table_.unfinished(job_id)) {
    outcome.found = true;
    if (table_.find(key)->state == JobState::kRunning) outcome.was_running = true;
    if (!table_.stop(key, JobState::kCancelled)) continue;
    end_by_key(key, JobState::kCancelled, Error(ErrorClass::kCancelled, "cancelled"));
  }
  return outcome;
}

}  // namespace cuzk
