// All jobs the daemon knows: who is admitted, who is who, who waits for whom, and what is kept when they have ended.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "queue/job.hpp"
#include "queue/submission.hpp"

namespace cuzk {

// Always given by the caller, so that a simulated clock is as good as the real one. Never goes back.
using Instant = std::chrono::steady_clock::time_point;

struct JobLimits {
  // Of unfinished jobs and of the bytes of their submissions. The last ones of both are for CRITICAL jobs only, so that
  // a queue full of sectors does not refuse a Winning PoSt.
  uint64_t max_jobs = 4096, critical_jobs = 16;
  uint64_t max_bytes = uint64_t{8} << 30, critical_bytes = uint64_t{64} << 20;
  uint64_t max_id_bytes = 1024;

  // Of ended jobs: the oldest results go first.
  uint64_t max_results = 1000;
  uint64_t max_result_bytes = uint64_t{64} << 20;
  std::chrono::milliseconds keep_results = std::chrono::hours(1);

  // How long an awaited job goes on without watchers.
  std::chrono::milliseconds grace = std::chrono::seconds(60);
};

struct Job {
  JobKey key = 0;
  std::string job_id;
  PayloadDigest digest{};
  ProofKind kind = ProofKind::kPorep;
  Priority priority = Priority::kNormal;
  JobState state = JobState::kQueued;
  Attendance attendance = Attendance::kAwaited;
  bool journalled = false;
  uint64_t bytes = 0;  // of the submission
  Instant submitted{};
  std::optional<Instant> started, ended, deadline;
  // The state in which it is to end as soon as its work stops; no new submission attaches to it any more.
  std::optional<JobState> stopping;
  std::set<WatchId> watchers;
  std::optional<Instant> unwatched_since;  // only where nobody watches, it is awaited and not ended

  bool shared = false;  // somebody attached to it

  std::shared_ptr<const Submission> submission;  // until it has been read or the job has ended
  std::shared_ptr<const JobResult> result;       // from then on
};

// A submission that was taken.
struct Admitted {
  JobKey key = 0;
  bool attached = false;        // to a job that was there; maybe it has ended (kCompleted)
  bool reprioritised = false;   // that job has now the higher priority of the new submission: tell the task queues
  uint32_t queue_position = 0;  // queued jobs that go before it
  // The caller has to write the job into the journal before it answers: without its lock accept() it, or finish() it
  // where it has ended, then set_journalled(). For a new job, only then give it work.
  bool to_journal = false;
};
using Admission = std::variant<Admitted, Refusal>;

// Deterministic; not thread safe; no member waits, reads a clock or draws a random number. Keys that are not known are
// a bug unless a member says otherwise. O(log n) unless said otherwise.
class JobTable {
 public:
  // Keys count from `first_key` on.
  explicit JobTable(const JobLimits& limits, JobKey first_key = 1);

  struct Arrival {
    std::string job_id;  // not empty: the client's, or a new UUID (queue/job_id.hpp)
    std::shared_ptr<const Submission> submission;
    PayloadDigest digest{};  // submission->digest(), which takes long: make it without holding a lock
    Attendance attendance = Attendance::kAwaited;
    std::optional<Instant> deadline;
  };
  // The same id and digest attach to the newest queued, running or completed job, whatever the limits: it gets the
  // higher priority and the later deadline (none is latest) of both, and is detached if one of them is. Everything else
  // is a new job or, over the limits, refused: kQueueFull with a hint when to retry, kTooLarge, or kInvalid for a long
  // id.
  Admission submit(Arrival arrival, Instant now);

  // Takes back a new job, for want of a journal, as if it had not been submitted. Where somebody attached to it
  // meanwhile or it is not queued any more, nothing happens and the result is false.
  bool retract(JobKey key);
  // The journal has it. False where it is not known any more: the journal is to forget() it. Where it has ended and the
  // journal does not know that yet (it was accept()ed), the caller finish()es it there.
  bool set_journalled(JobKey key);

  // At the start, from the journal, with keys below first_key: a job as it was (detached, queued, journalled), or the
  // result of one. Limits do not apply to jobs; results are dropped as always.
  void restore(JobKey key, Arrival arrival, Instant now);
  void restore_result(JobKey key, ProofKind kind, Priority priority, const PayloadDigest& digest, JobResult result,
                      Instant ended);

  // The first work on it begins: kQueued to kRunning.
  void start(JobKey key, Instant now);
  // It has been read and is not needed any more; its bytes still count. Returns what is to be freed without a lock.
  std::shared_ptr<const Submission> drop_submission(JobKey key);
  // It is to end as `state` (kCancelled, kExpired): from now on nothing attaches to it. The caller ends it at once if
  // it is queued, else when its work has stopped. False where it had ended or was stopping already.
  bool stop(JobKey key, JobState state);
  struct Ended {
    std::vector<WatchId> watchers;                 // who are to be told; they are watchers no more
    std::shared_ptr<const JobResult> result;       // for them; it need not be kept any more
    std::shared_ptr<const Submission> submission;  // no longer needed; large, so free it without a lock
  };
  // It has ended, in result.state, a final one. Drops results over the limits, maybe this one too.
  Ended finish(JobKey key, JobResult result, Instant now);

  // Watchers of an ended job need not be added: its result is there.
  WatchId add_watcher(JobKey key);
  // False where it is no watcher (any more).
  bool remove_watcher(WatchId watch, Instant now);

  // From now on an awaited job goes on for so long without watchers: nobody can come back to a daemon that goes down.
  void set_grace(std::chrono::milliseconds grace) { limits_.grace = grace; }

  // What time has brought; each is told once.
  struct Due {
    std::vector<JobKey> expired;    // the deadline has passed; they are stopping as kExpired now
    std::vector<JobKey> abandoned;  // nobody watches for longer than the grace time; stopping as kCancelled now
    std::vector<JobKey> forgotten;  // journalled results that were dropped: the journal is to forget() them
  };
  Due take_due(Instant now);
  // When take_due() has something next; none: not before somebody calls something.
  std::optional<Instant> next_due() const;

  // nullptr where it is not known (any more). Valid until the next call that is not const.
  const Job* find(JobKey key) const;
  // The newest job with that id.
  std::optional<JobKey> newest(std::string_view job_id) const;
  // All of that id that have not ended, oldest first.
  std::vector<JobKey> unfinished(std::string_view job_id) const;
  // All that have not ended, oldest first. O(n).
  std::vector<JobKey> unfinished() const;
  // Those that ended at `since` or later, the first to end first.
  std::vector<JobKey> ended_since(Instant since) const;

  struct Counts {
    uint64_t queued = 0, running = 0;
  };
  Counts counts(ProofKind kind) const { return counts_[static_cast<size_t>(kind)]; }
  Counts counts() const;
  // Queued jobs that go before it; 0 for others. O(log n).
  uint32_t queue_position(JobKey key) const;
  uint64_t unfinished_bytes() const { return unfinished_bytes_; }
  uint64_t results() const { return by_end_.size(); }
  uint64_t result_bytes() const { return result_bytes_; }
  JobKey next_key() const { return next_key_; }
  const JobLimits& limits() const { return limits_; }

 private:
  using Identity = std::pair<std::string, PayloadDigest>;

  std::optional<Refusal> refuse(const Arrival& arrival, Priority priority, uint64_t bytes) const;
  uint32_t retry_after_ms(uint64_t jobs_over, uint64_t bytes_over) const;
  Admitted attach(Job& job, const Arrival& arrival, Instant now);
  Job& insert(JobKey key, Arrival arrival, Instant now);

  Job& job_of(JobKey key);
  Job& unfinished_job_of(JobKey key);
  void set_deadline(Job& job, std::optional<Instant> deadline);
  void set_unwatched(Job& job, std::optional<Instant> since);
  void make_attachable(const Job& job);
  void make_unattachable(const Job& job);
  void enter_queue(const Job& job);
  void leave_queue(const Job& job);
  // Of everything that holds for unfinished jobs only.
  void leave_unfinished(Job& job);
  void keep_result(Job& job, JobResult result, Instant ended);
  void drop_results(Instant now);
  void erase(JobKey key);
  void measure_pace(const Job& job, Instant now);

  std::vector<JobKey>& queued(Priority priority) { return queued_[static_cast<size_t>(priority) - 1]; }
  const std::vector<JobKey>& queued(Priority priority) const { return queued_[static_cast<size_t>(priority) - 1]; }
  Counts& counts_of(const Job& job) { return counts_[static_cast<size_t>(job.kind)]; }

  JobLimits limits_;
  JobKey next_key_;
  WatchId next_watch_ = 1;
  // Trees, no hash tables: clients choose the ids.
  std::map<JobKey, Job> jobs_;
  std::map<std::string, std::set<JobKey>, std::less<>> by_id_;
  std::map<Identity, std::set<JobKey>> attachable_;  // to the newest of them
  std::map<WatchId, JobKey> watches_;
  std::array<std::vector<JobKey>, 4> queued_;  // by priority, ascending
  std::set<JobKey> unfinished_;
  std::set<std::pair<Instant, JobKey>> by_deadline_, by_unwatched_, by_end_;
  std::vector<JobKey> forgotten_;
  std::array<Counts, kProofKinds.size()> counts_{};
  uint64_t unfinished_bytes_ = 0;
  uint64_t result_bytes_ = 0;

  // Pace: averages over the last ends, newer ones weighing more.
  std::optional<Instant> last_end_;
  double end_interval_ms_ = 0, bytes_an_end_ = 0;
};

}  // namespace cuzk
