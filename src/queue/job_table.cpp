#include "queue/job_table.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"

namespace cuzk {
namespace {

uint64_t bytes_of(const JobResult& result) {
  uint64_t bytes = sizeof(Job) + sizeof(JobResult) + 2 * result.job_id.size() + result.proof.size();
  if (result.error) bytes += result.error->message.size() + result.error->field.size() + result.error->file.size();
  return bytes;
}

Refusal refusal(Refusal::Reason reason, std::string message, uint32_t retry_after_ms = 0) {
  return {reason, std::move(message), retry_after_ms};
}

constexpr uint32_t kFirstHintMs = 1000, kLeastHintMs = 100, kMostHintMs = 60'000;
// Weight of the newest end in the averages: the last ten or so count.
constexpr double kNewest = 0.2;

}  // namespace

JobTable::JobTable(const JobLimits& limits, JobKey first_key) : limits_(limits), next_key_(first_key) {
  limits_.critical_jobs = std::min(limits.critical_jobs, limits.max_jobs / 2);
  limits_.critical_bytes = std::min(limits.critical_bytes, limits.max_bytes / 2);
}

// Admission

Admission JobTable::submit(Arrival arrival, Instant now) {
  CUZK_ASSERT(!arrival.job_id.empty() && arrival.submission != nullptr);
  drop_results(now);
  const auto same = attachable_.find({arrival.job_id, arrival.digest});
  if (same != attachable_.end()) return attach(job_of(*same->second.rbegin()), arrival, now);

  const Priority priority = arrival.submission->effective_priority();
  if (auto refused = refuse(arrival, priority, arrival.submission->bytes())) return *std::move(refused);
  Admitted admitted;
  admitted.key = next_key_++;
  admitted.to_journal = arrival.attendance == Attendance::kDetached;
  insert(admitted.key, std::move(arrival), now);
  admitted.queue_position = queue_position(admitted.key);
  return admitted;
}

std::optional<Refusal> JobTable::refuse(const Arrival& arrival, Priority priority, uint64_t bytes) const {
  const bool critical = priority == Priority::kCritical;
  const uint64_t most_jobs = limits_.max_jobs - (critical ? 0 : limits_.critical_jobs);
  const uint64_t most_bytes = limits_.max_bytes - (critical ? 0 : limits_.critical_bytes);
  if (arrival.job_id.size() > limits_.max_id_bytes) {
    return refusal(Refusal::Reason::kInvalid, "a request id of " + std::to_string(arrival.job_id.size()) +
                                                  " bytes; at most " + std::to_string(limits_.max_id_bytes));
  }
  if (bytes > most_bytes) {
    return refusal(Refusal::Reason::kTooLarge, "a request of " + std::to_string(bytes) +
                                                   " bytes; all that wait together may have " +
                                                   std::to_string(most_bytes));
  }
  const uint64_t jobs_after = unfinished_.size() + 1, bytes_after = unfinished_bytes_ + bytes;
  if (jobs_after <= most_jobs && bytes_after <= most_bytes) return std::nullopt;
  const bool by_jobs = jobs_after > most_jobs;
  return refusal(
      Refusal::Reason::kQueueFull,
      by_jobs ? "the queue is full: " + std::to_string(unfinished_.size()) + " jobs"
              : "the queue is full: " + std::to_string(unfinished_bytes_) + " bytes of requests",
      retry_after_ms(by_jobs ? jobs_after - most_jobs : 0, bytes_after > most_bytes ? bytes_after - most_bytes : 0));
}

uint32_t JobTable::retry_after_ms(uint64_t jobs_over, uint64_t bytes_over) const {
  if (!last_end_ || end_interval_ms_ == 0) return kFirstHintMs;
  const double ends_for_bytes = bytes_an_end_ > 0 ? std::ceil(static_cast<double>(bytes_over) / bytes_an_end_) : 1;
  const double ms = end_interval_ms_ * std::max(static_cast<double>(jobs_over), ends_for_bytes);
  return static_cast<uint32_t>(std::clamp<double>(ms, kLeastHintMs, kMostHintMs));
}

Admitted JobTable::attach(Job& job, const Arrival& arrival, Instant now) {
  Admitted admitted;
  admitted.key = job.key;
  admitted.attached = true;
  job.shared = true;
  if (arrival.attendance == Attendance::kDetached) {
    job.attendance = Attendance::kDetached;
    admitted.to_journal = !job.journalled;
  }
  if (is_final(job.state)) return admitted;

  set_deadline(job, job.deadline && arrival.deadline ? std::max(job.deadline, arrival.deadline) : std::nullopt);
  // One who comes back has the grace time again before he is missed.
  const bool missed = job.attendance == Attendance::kAwaited && job.watchers.empty();
  set_unwatched(job, missed ? std::optional(now) : std::nullopt);
  const Priority priority = arrival.submission->effective_priority();
  if (priority > job.priority) {
    const bool is_queued = job.state == JobState::kQueued;
    if (is_queued) leave_queue(job);
    job.priority = priority;
    if (is_queued) enter_queue(job);
    admitted.reprioritised = true;
  }
  admitted.queue_position = queue_position(job.key);
  return admitted;
}

Job& JobTable::insert(JobKey key, Arrival arrival, Instant now) {
  const auto [at, is_new] = jobs_.try_emplace(key);
  CUZK_ASSERT(is_new);
  Job& job = at->second;
  job.key = key;
  job.job_id = std::move(arrival.job_id);
  job.digest = arrival.digest;
  job.kind = arrival.submission->kind;
  job.priority = arrival.submission->effective_priority();
  job.attendance = arrival.attendance;
  job.bytes = arrival.submission->bytes();
  job.submitted = now;
  job.submission = std::move(arrival.submission);
  by_id_[job.job_id].insert(key);
  unfinished_.insert(key);
  unfinished_bytes_ += job.bytes;
  ++counts_of(job).queued;
  make_attachable(job);
  enter_queue(job);
  set_deadline(job, arrival.deadline);
  if (job.attendance == Attendance::kAwaited) set_unwatched(job, now);
  return job;
}

bool JobTable::retract(JobKey key) {
  Job& job = job_of(key);
  if (job.state != JobState::kQueued || job.stopping || job.shared || !job.watchers.empty()) return false;
  leave_unfinished(job);
  erase(key);
  return true;
}

bool JobTable::set_journalled(JobKey key) {
  const auto at = jobs_.find(key);
  if (at == jobs_.end()) return false;
  at->second.journalled = true;
  return true;
}

void JobTable::restore(JobKey key, Arrival arrival, Instant now) {
  CUZK_ASSERT(key < next_key_ && !arrival.job_id.empty() && arrival.submission != nullptr);
  arrival.attendance = Attendance::kDetached;
  insert(key, std::move(arrival), now).journalled = true;
}

void JobTable::restore_result(JobKey key, ProofKind kind, Priority priority, const PayloadDigest& digest,
                              JobResult result, Instant ended) {
  CUZK_ASSERT(key < next_key_ && is_final(result.state));
  const auto [at, is_new] = jobs_.try_emplace(key);
  CUZK_ASSERT(is_new);
  Job& job = at->second;
  job.key = key;
  job.job_id = result.job_id;
  job.digest = digest;
  job.kind = kind;
  job.priority = priority;
  job.attendance = Attendance::kDetached;
  job.journalled = true;
  job.submitted = ended;
  by_id_[job.job_id].insert(key);
  keep_result(job, std::move(result), ended);
  drop_results(ended);
}

// Life

void JobTable::start(JobKey key, Instant now) {
  Job& job = unfinished_job_of(key);
  CUZK_ASSERT(job.state == JobState::kQueued);
  leave_queue(job);
  job.state = JobState::kRunning;
  job.started = now;
  --counts_of(job).queued;
  ++counts_of(job).running;
}

std::shared_ptr<const Submission> JobTable::drop_submission(JobKey key) {
  return std::exchange(unfinished_job_of(key).submission, nullptr);
}

bool JobTable::stop(JobKey key, JobState state) {
  CUZK_ASSERT(is_final(state));
  Job& job = job_of(key);
  if (is_final(job.state) || job.stopping) return false;
  job.stopping = state;
  make_unattachable(job);
  set_deadline(job, std::nullopt);
  set_unwatched(job, std::nullopt);
  return true;
}

JobTable::Ended JobTable::finish(JobKey key, JobResult result, Instant now) {
  CUZK_ASSERT(is_final(result.state));
  Job& job = unfinished_job_of(key);
  measure_pace(job, now);
  leave_unfinished(job);
  Ended ended;
  ended.watchers.assign(job.watchers.begin(), job.watchers.end());
  for (const WatchId watch : job.watchers) watches_.erase(watch);
  job.watchers.clear();
  ended.submission = std::move(job.submission);
  job.submission = nullptr;
  keep_result(job, std::move(result), now);
  ended.result = job.result;
  drop_results(now);
  return ended;
}

void JobTable::leave_unfinished(Job& job) {
  Counts& counts = counts_of(job);
  if (job.state == JobState::kQueued) leave_queue(job);
  --(job.state == JobState::kQueued ? counts.queued : counts.running);
  set_deadline(job, std::nullopt);
  set_unwatched(job, std::nullopt);
  make_unattachable(job);
  unfinished_.erase(job.key);
  unfinished_bytes_ -= job.bytes;
}

void JobTable::keep_result(Job& job, JobResult result, Instant ended) {
  job.state = result.state;
  job.stopping.reset();
  job.ended = ended;
  job.result = std::make_shared<const JobResult>(std::move(result));
  by_end_.emplace(ended, job.key);
  result_bytes_ += bytes_of(*job.result);
  if (job.state == JobState::kCompleted) make_attachable(job);
}

void JobTable::drop_results(Instant now) {
  while (!by_end_.empty()) {
    const auto [ended, key] = *by_end_.begin();
    const bool over = by_end_.size() > limits_.max_results || result_bytes_ > limits_.max_result_bytes;
    if (!over && ended + limits_.keep_results > now) return;
    if (job_of(key).journalled) forgotten_.push_back(key);
    erase(key);
  }
}

void JobTable::erase(JobKey key) {
  Job& job = job_of(key);
  CUZK_ASSERT(job.watchers.empty());
  make_unattachable(job);
  if (job.result) {
    by_end_.erase({*job.ended, key});
    result_bytes_ -= bytes_of(*job.result);
  }
  const auto of_id = by_id_.find(job.job_id);
  of_id->second.erase(key);
  if (of_id->second.empty()) by_id_.erase(of_id);
  jobs_.erase(key);
}

void JobTable::measure_pace(const Job& job, Instant now) {
  const double bytes = static_cast<double>(job.bytes);
  bytes_an_end_ = last_end_ ? bytes_an_end_ + kNewest * (bytes - bytes_an_end_) : bytes;
  if (last_end_) {
    const double ms = std::chrono::duration<double, std::milli>(now - *last_end_).count();
    end_interval_ms_ = end_interval_ms_ == 0 ? ms : end_interval_ms_ + kNewest * (ms - end_interval_ms_);
  }
  last_end_ = now;
}

// Watchers and time

WatchId JobTable::add_watcher(JobKey key) {
  Job& job = unfinished_job_of(key);
  const WatchId watch = next_watch_++;
  job.watchers.insert(watch);
  watches_.emplace(watch, key);
  set_unwatched(job, std::nullopt);
  return watch;
}

bool JobTable::remove_watcher(WatchId watch, Instant now) {
  const auto at = watches_.find(watch);
  if (at == watches_.end()) return false;
  Job& job = job_of(at->second);
  watches_.erase(at);
  job.watchers.erase(watch);
  if (job.watchers.empty() && job.attendance == Attendance::kAwaited && !job.stopping) set_unwatched(job, now);
  return true;
}

JobTable::Due JobTable::take_due(Instant now) {
  Due due;
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    due.expired.push_back(by_deadline_.begin()->second);
    stop(due.expired.back(), JobState::kExpired);
  }
  while (!by_unwatched_.empty() && by_unwatched_.begin()->first + limits_.grace <= now) {
    due.abandoned.push_back(by_unwatched_.begin()->second);
    stop(due.abandoned.back(), JobState::kCancelled);
  }
  drop_results(now);
  due.forgotten = std::exchange(forgotten_, {});
  return due;
}

std::optional<Instant> JobTable::next_due() const {
  if (!forgotten_.empty()) return Instant::min();
  std::optional<Instant> next;
  const auto consider = [&next](Instant instant) { next = next ? std::min(*next, instant) : instant; };
  if (!by_deadline_.empty()) consider(by_deadline_.begin()->first);
  if (!by_unwatched_.empty()) consider(by_unwatched_.begin()->first + limits_.grace);
  if (!by_end_.empty()) consider(by_end_.begin()->first + limits_.keep_results);
  return next;
}

// Questions

const Job* JobTable::find(JobKey key) const {
  const auto at = jobs_.find(key);
  return at == jobs_.end() ? nullptr : &at->second;
}

std::optional<JobKey> JobTable::newest(std::string_view job_id) const {
  const auto at = by_id_.find(job_id);
  if (at == by_id_.end()) return std::nullopt;
  return *at->second.rbegin();
}

std::vector<JobKey> JobTable::unfinished(std::string_view job_id) const {
  std::vector<JobKey> keys;
  const auto at = by_id_.find(job_id);
  if (at == by_id_.end()) return keys;
  std::copy_if(at->second.begin(), at->second.end(), std::back_inserter(keys),
               [this](JobKey key) { return unfinished_.contains(key); });
  return keys;
}

std::vector<JobKey> JobTable::unfinished() const { return {unfinished_.begin(), unfinished_.end()}; }

std::vector<JobKey> JobTable::ended_since(Instant since) const {
  std::vector<JobKey> keys;
  for (auto at = by_end_.lower_bound({since, 0}); at != by_end_.end(); ++at) keys.push_back(at->second);
  return keys;
}

JobTable::Counts JobTable::counts() const {
  Counts sum;
  for (const Counts& counts : counts_) {
    sum.queued += counts.queued;
    sum.running += counts.running;
  }
  return sum;
}

uint32_t JobTable::queue_position(JobKey key) const {
  const Job* job = find(key);
  if (job == nullptr || job->state != JobState::kQueued) return 0;
  const std::vector<JobKey>& equal = queued(job->priority);
  size_t before = static_cast<size_t>(std::lower_bound(equal.begin(), equal.end(), key) - equal.begin());
  for (size_t i = static_cast<size_t>(job->priority); i < queued_.size(); ++i) before += queued_[i].size();
  return static_cast<uint32_t>(before);
}

// Indices

Job& JobTable::job_of(JobKey key) {
  const auto at = jobs_.find(key);
  CUZK_ASSERT(at != jobs_.end());
  return at->second;
}

Job& JobTable::unfinished_job_of(JobKey key) {
  Job& job = job_of(key);
  CUZK_ASSERT(!is_final(job.state));
  return job;
}

void JobTable::set_deadline(Job& job, std::optional<Instant> deadline) {
  if (job.deadline) by_deadline_.erase({*job.deadline, job.key});
  job.deadline = deadline;
  if (deadline) by_deadline_.emplace(*deadline, job.key);
}

void JobTable::set_unwatched(Job& job, std::optional<Instant> since) {
  if (job.unwatched_since) by_unwatched_.erase({*job.unwatched_since, job.key});
  job.unwatched_since = since;
  if (since) by_unwatched_.emplace(*since, job.key);
}

void JobTable::make_attachable(const Job& job) { attachable_[{job.job_id, job.digest}].insert(job.key); }

void JobTable::make_unattachable(const Job& job) {
  const auto at = attachable_.find({job.job_id, job.digest});
  if (at == attachable_.end()) return;
  at->second.erase(job.key);
  if (at->second.empty()) attachable_.erase(at);
}

void JobTable::enter_queue(const Job& job) {
  std::vector<JobKey>& keys = queued(job.priority);
  keys.insert(std::lower_bound(keys.begin(), keys.end(), job.key), job.key);
}

void JobTable::leave_queue(const Job& job) {
  std::vector<JobKey>& keys = queued(job.priority);
  const auto at = std::lower_bound(keys.begin(), keys.end(), job.key);
  CUZK_ASSERT(at != keys.end() && *at == job.key);
  keys.erase(at);
}

}  // namespace cuzk
