// The job table against a model that keeps one list and looks through all of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "queue/job_table.hpp"
#include "queue/queue_test_util.hpp"

namespace cuzk {
namespace {

using namespace std::chrono_literals;
using queue_test::below;
using queue_test::Rng;

constexpr Instant kStart{std::chrono::hours(1000)};

struct ModelJob {
  JobKey key = 0;
  std::string id;
  uint8_t payload = 0;
  Priority priority = Priority::kNormal;
  JobState state = JobState::kQueued;
  bool detached = false, journalled = false, shared = false, stopping = false;
  uint64_t bytes = 0;
  std::optional<Instant> deadline, unwatched, ended;
  std::set<WatchId> watchers;

  bool unfinished() const { return !is_final(state); }
  bool attachable() const { return state == JobState::kCompleted || (unfinished() && !stopping); }
};

class Model {
 public:
  explicit Model(const JobLimits& l) : limits(l) {}

  ModelJob* find(JobKey key) {
    const auto at = std::find_if(jobs.begin(), jobs.end(), [&](const ModelJob& j) { return j.key == key; });
    return at == jobs.end() ? nullptr : &*at;
  }
  ModelJob* attachable(const std::string& id, uint8_t payload) {
    ModelJob* found = nullptr;
    for (ModelJob& job : jobs) {
      if (job.id == id && job.payload == payload && job.attachable()) found = &job;  // they are in order of keys
    }
    return found;
  }
  bool has_room(Priority priority, uint64_t bytes) const {
    const bool critical = priority == Priority::kCritical;
    uint64_t count = 1, sum = bytes;
    for (const ModelJob& job : jobs) {
      if (!job.unfinished()) continue;
      ++count;
      sum += job.bytes;
    }
    return count <= limits.max_jobs - (critical ? 0 : limits.critical_jobs) &&
           sum <= limits.max_bytes - (critical ? 0 : limits.critical_bytes);
  }
  uint32_t position(const ModelJob& of) const {
    if (of.state != JobState::kQueued) return 0;
    return static_cast<uint32_t>(std::count_if(jobs.begin(), jobs.end(), [&](const ModelJob& job) {
      return job.state == JobState::kQueued &&
             (job.priority > of.priority || (job.priority == of.priority && job.key < of.key));
    }));
  }
  // Drops what is over the limits of results.
  void trim(Instant now) {
    for (;;) {
      const ModelJob* oldest = nullptr;
      uint64_t results = 0;
      for (const ModelJob& job : jobs) {
        if (!job.ended) continue;
        ++results;
        if (oldest == nullptr || *job.ended < *oldest->ended) oldest = &job;
      }
      if (oldest == nullptr || (results <= limits.max_results && *oldest->ended + limits.keep_results > now)) return;
      if (oldest->journalled) forgotten.push_back(oldest->key);
      jobs.erase(jobs.begin() + (oldest - jobs.data()));
    }
  }

  JobLimits limits;
  std::vector<ModelJob> jobs;
  std::vector<JobKey> forgotten;
};

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : rng(seed), model(small_limits(rng)), table(model.limits) {}

  static JobLimits small_limits(Rng& rng) {
    JobLimits limits;
    limits.max_jobs = 3 + below(rng, 10);
    limits.critical_jobs = 1;
    limits.max_bytes = 20'000;
    limits.critical_bytes = 2'000;
    limits.max_results = below(rng, 8);
    limits.keep_results = 50s;
    limits.grace = 10s;
    return limits;
  }

  void step() {
    switch (below(rng, 14)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: submit(); break;
      case 5:
        if (ModelJob* job = any(JobState::kQueued)) start(*job);
        break;
      case 6:
      case 7:
        if (ModelJob* job = any_unfinished()) finish(*job);
        break;
      case 8: stop(); break;
      case 9:
        if (ModelJob* job = any_unfinished()) watch(*job);
        break;
      case 10: unwatch(); break;
      case 11: retract(); break;
      case 12: journalled(); break;
      default: pass_time();
    }
    if (!testing::Test::HasFatalFailure()) compare();
  }

 private:
  ModelJob* any_of(const std::function<bool(const ModelJob&)>& wanted) {
    std::vector<ModelJob*> candidates;
    for (ModelJob& job : model.jobs) {
      if (wanted(job)) candidates.push_back(&job);
    }
    return candidates.empty() ? nullptr : candidates[below(rng, candidates.size())];
  }
  ModelJob* any(JobState state) {
    return any_of([&](const ModelJob& job) { return job.state == state; });
  }
  ModelJob* any_unfinished() {
    return any_of([](const ModelJob& job) { return job.unfinished(); });
  }

  void submit() {
    Submission s;
    s.priority = static_cast<Priority>(1 + below(rng, 4));
    s.vanilla_proof.assign(below(rng, 3000), 'x');
    JobTable::Arrival a;
    a.job_id = std::string(1, static_cast<char>('a' + below(rng, 3)));
    a.digest[0] = static_cast<uint8_t>(below(rng, 3));
    a.attendance = below(rng, 3) == 0 ? Attendance::kDetached : Attendance::kAwaited;
    if (below(rng, 2) == 0) a.deadline = now + std::chrono::seconds(below(rng, 60));
    a.submission = std::make_shared<const Submission>(std::move(s));
    const Priority priority = *a.submission->priority;
    const uint64_t bytes = a.submission->bytes();
    const bool detached = a.attendance == Attendance::kDetached;

    model.trim(now);
    const Admission admission = table.submit(a, now);
    if (ModelJob* job = model.attachable(a.job_id, a.digest[0])) {
      attach(*job, a, std::get<Admitted>(admission));
      return;
    }
    if (!model.has_room(priority, bytes)) {
      ASSERT_TRUE(std::holds_alternative<Refusal>(admission));
      ASSERT_EQ(std::get<Refusal>(admission).reason, Refusal::Reason::kQueueFull);
      ASSERT_GE(std::get<Refusal>(admission).retry_after_ms, 100u);
      ++refusals;
      return;
    }
    ASSERT_TRUE(std::holds_alternative<Admitted>(admission));
    const Admitted admitted = std::get<Admitted>(admission);
    ModelJob job;
    job.key = next_key++;
    job.id = a.job_id;
    job.payload = a.digest[0];
    job.priority = priority;
    job.detached = detached;
    job.bytes = bytes;
    job.deadline = a.deadline;
    if (!detached) job.unwatched = now;
    model.jobs.push_back(job);
    ASSERT_EQ(admitted.key, job.key);
    ASSERT_FALSE(admitted.attached || admitted.reprioritised);
    ASSERT_EQ(admitted.to_journal, detached);
    ASSERT_EQ(admitted.queue_position, model.position(job));
  }

  void attach(ModelJob& job, const JobTable::Arrival& a, const Admitted& admitted) {
    ++attached;
    job.shared = true;
    const bool detached = a.attendance == Attendance::kDetached;
    job.detached |= detached;
    ASSERT_TRUE(admitted.attached);
    ASSERT_EQ(admitted.key, job.key);
    ASSERT_EQ(admitted.to_journal, detached && !job.journalled);
    if (!job.unfinished()) return;
    const Priority before = job.priority;
    job.priority = std::max(job.priority, *a.submission->priority);
    ASSERT_EQ(admitted.reprioritised, job.priority != before);
    if (!job.deadline || !a.deadline) {
      job.deadline.reset();
    } else {
      job.deadline = std::max(*job.deadline, *a.deadline);
    }
    job.unwatched.reset();
    if (!job.detached && job.watchers.empty()) job.unwatched = now;
    ASSERT_EQ(admitted.queue_position, model.position(job));
  }

  void start(ModelJob& job) {
    table.start(job.key, now);
    job.state = JobState::kRunning;
  }

  void finish(ModelJob& job) {
    JobResult result;
    result.job_id = job.id;
    result.state = static_cast<JobState>(2 + below(rng, 4));
    const JobTable::Ended ended = table.finish(job.key, result, now);
    ASSERT_EQ(std::set<WatchId>(ended.watchers.begin(), ended.watchers.end()), job.watchers);
    ASSERT_EQ(ended.result->state, result.state);
    ASSERT_EQ(ended.submission->bytes(), job.bytes);
    job.state = result.state;
    job.ended = now;
    job.deadline.reset();
    job.unwatched.reset();
    job.watchers.clear();
    job.stopping = false;
    model.trim(now);
  }

  void stop() {
    ModelJob* job = any_of([](const ModelJob&) { return true; });
    if (job == nullptr) return;
    const bool stops = job->unfinished() && !job->stopping;
    ASSERT_EQ(table.stop(job->key, JobState::kCancelled), stops);
    if (stops) set_stopping(*job);
  }
  void set_stopping(ModelJob& job) {
    job.stopping = true;
    job.deadline.reset();
    job.unwatched.reset();
  }

  void watch(ModelJob& job) {
    job.watchers.insert(table.add_watcher(job.key));
    job.unwatched.reset();
  }

  void unwatch() {
    ModelJob* job = any_of([](const ModelJob& j) { return !j.watchers.empty(); });
    if (job == nullptr) return;
    const WatchId watch = *job->watchers.begin();
    ASSERT_TRUE(table.remove_watcher(watch, now));
    job->watchers.erase(watch);
    if (job->watchers.empty() && !job->detached && !job->stopping) job->unwatched = now;
    ASSERT_FALSE(table.remove_watcher(watch, now));
  }

  void retract() {
    ModelJob* job = any_of([](const ModelJob&) { return true; });
    if (job == nullptr) return;
    const bool can = job->state == JobState::kQueued && !job->stopping && !job->shared && job->watchers.empty();
    ASSERT_EQ(table.retract(job->key), can);
    if (can) model.jobs.erase(model.jobs.begin() + (job - model.jobs.data()));
  }

  void journalled() {
    const JobKey key = below(rng, next_key + 1);
    ModelJob* job = model.find(key);
    ASSERT_EQ(table.set_journalled(key), job != nullptr);
    if (job != nullptr) job->journalled = true;
  }

  void pass_time() {
    // Often to the very instant that something is due.
    const std::optional<Instant> next = expected_due();
    now = below(rng, 2) == 0 && next && *next > now ? *next : now + std::chrono::milliseconds(below(rng, 20'000));
    std::vector<JobKey> expired, abandoned;
    for (ModelJob& job : model.jobs) {
      if (job.deadline && *job.deadline <= now) {
        expired.push_back(job.key);
        set_stopping(job);
      } else if (job.unwatched && *job.unwatched + model.limits.grace <= now) {
        abandoned.push_back(job.key);
        set_stopping(job);
      }
    }
    model.trim(now);
    JobTable::Due due = table.take_due(now);
    std::sort(due.expired.begin(), due.expired.end());
    std::sort(due.abandoned.begin(), due.abandoned.end());
    ASSERT_EQ(due.expired, expired);
    ASSERT_EQ(due.abandoned, abandoned);
    ASSERT_EQ(due.forgotten, model.forgotten);
    model.forgotten.clear();
    const JobTable::Due again = table.take_due(now);
    ASSERT_TRUE(again.expired.empty() && again.abandoned.empty() && again.forgotten.empty());
    ends += expired.size() + abandoned.size();
  }

  std::optional<Instant> expected_due() const {
    if (!model.forgotten.empty()) return Instant::min();
    std::optional<Instant> next;
    const auto consider = [&](Instant instant) {
      if (!next || instant < *next) next = instant;
    };
    for (const ModelJob& job : model.jobs) {
      if (job.deadline) consider(*job.deadline);
      if (job.unwatched) consider(*job.unwatched + model.limits.grace);
      if (job.ended) consider(*job.ended + model.limits.keep_results);
    }
    return next;
  }

  void compare() {
    ASSERT_EQ(table.next_due(), expected_due());
    ASSERT_EQ(table.next_key(), next_key);
    std::vector<JobKey> unfinished;
    uint64_t bytes = 0, queued = 0, results = 0;
    for (ModelJob& job : model.jobs) {
      const Job* real = table.find(job.key);
      ASSERT_NE(real, nullptr);
      ASSERT_EQ(real->state, job.state);
      ASSERT_EQ(real->priority, job.priority);
      ASSERT_EQ(real->deadline, job.deadline);
      ASSERT_EQ(real->unwatched_since, job.unwatched);
      ASSERT_EQ(real->watchers, job.watchers);
      ASSERT_EQ(real->stopping.has_value(), job.stopping);
      ASSERT_EQ(real->journalled, job.journalled);
      ASSERT_EQ(real->attendance == Attendance::kDetached, job.detached);
      ASSERT_EQ(real->result != nullptr, !job.unfinished());
      ASSERT_EQ(real->submission != nullptr, job.unfinished());
      ASSERT_EQ(table.queue_position(job.key), model.position(job));
      if (job.state == JobState::kQueued) ++queued;
      if (job.unfinished()) {
        unfinished.push_back(job.key);
        bytes += job.bytes;
      } else {
        ++results;
      }
    }
    ASSERT_EQ(table.unfinished(), unfinished);
    ASSERT_EQ(table.unfinished_bytes(), bytes);
    ASSERT_EQ(table.results(), results);
    ASSERT_EQ(table.counts().queued, queued);
    ASSERT_EQ(table.counts().running, unfinished.size() - queued);
    for (const char* id : {"a", "b", "c"}) {
      std::optional<JobKey> newest;
      std::vector<JobKey> of_id;
      for (const ModelJob& job : model.jobs) {
        if (job.id != id) continue;
        newest = job.key;
        if (job.unfinished()) of_id.push_back(job.key);
      }
      ASSERT_EQ(table.newest(id), newest);
      ASSERT_EQ(table.unfinished(id), of_id);
    }
  }

  Rng rng;
  Model model;
  JobTable table;
  Instant now = kStart;
  JobKey next_key = 1;

 public:
  uint64_t attached = 0, refusals = 0, ends = 0;
};

TEST(JobTableModel, AnyOrderOfCallsGivesTheModelsAnswers) {
  uint64_t attached = 0, refusals = 0, ends = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomRun run(seed);
    for (int step = 0; step < 250; ++step) {
      run.step();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
    attached += run.attached;
    refusals += run.refusals;
    ends += run.ends;
  }
  // That the sequences get everywhere.
  EXPECT_GT(attached, 1000u);
  EXPECT_GT(refusals, 1000u);
  EXPECT_GT(ends, 1000u);
}

}  // namespace
}  // namespace cuzk
