#include "queue/job_table.hpp"

#include <gtest/gtest.h>

#include "queue/queue_test_util.hpp"

namespace cuzk {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{std::chrono::hours(1000)};

std::shared_ptr<const Submission> submission(ProofKind kind = ProofKind::kPorep, size_t bytes = 0,
                                             std::optional<Priority> priority = {}) {
  auto s = std::make_shared<Submission>();
  s->kind = kind;
  s->priority = priority;
  s->vanilla_proof.assign(bytes, 'x');
  return s;
}

JobTable::Arrival arrival(std::string id, uint8_t payload = 0, Attendance attendance = Attendance::kAwaited,
                          std::shared_ptr<const Submission> what = submission()) {
  JobTable::Arrival a;
  a.job_id = std::move(id);
  a.submission = std::move(what);
  a.digest[0] = payload;
  a.attendance = attendance;
  return a;
}

Admitted admitted(Admission admission) {
  const auto* refusal = std::get_if<Refusal>(&admission);
  EXPECT_EQ(refusal, nullptr) << refusal->message;
  return refusal == nullptr ? std::get<Admitted>(admission) : Admitted{};
}

Refusal refused(Admission admission) {
  EXPECT_TRUE(std::holds_alternative<Refusal>(admission));
  return std::holds_alternative<Refusal>(admission) ? std::get<Refusal>(admission) : Refusal{};
}

JobResult result(JobState state, std::string id = "a") {
  JobResult r;
  r.state = state;
  r.job_id = std::move(id);
  if (state == JobState::kCompleted) r.proof.assign(192, 7);
  return r;
}

class JobTableTest : public testing::Test {
 protected:
  JobTable table{JobLimits{}};
  Instant now = kStart;

  JobKey submit(std::string id, uint8_t payload = 0) {
    return admitted(table.submit(arrival(std::move(id), payload), now)).key;
  }
  void end(JobKey key, JobState state) { table.finish(key, result(state, table.find(key)->job_id), now); }
};

// Who is who: contract.md, "Client consequences".

TEST_F(JobTableTest, TheSameRequestAttachesWhileItIsQueuedOrRunning) {
  const JobKey key = submit("a");
  for (const bool running : {false, true}) {
    if (running) table.start(key, now);
    const Admitted again = admitted(table.submit(arrival("a"), now));
    EXPECT_TRUE(again.attached);
    EXPECT_EQ(again.key, key);
    EXPECT_FALSE(again.to_journal);
  }
  EXPECT_EQ(table.unfinished().size(), 1u);
}

TEST_F(JobTableTest, OtherBytesUnderTheSameIdAreAnotherJob) {
  const JobKey first = submit("wdpost", 1), second = submit("wdpost", 2);
  EXPECT_LT(first, second);
  EXPECT_EQ(table.unfinished("wdpost"), (std::vector<JobKey>{first, second}));
  EXPECT_EQ(table.newest("wdpost"), second);
  end(second, JobState::kCompleted);
  EXPECT_EQ(table.unfinished("wdpost"), std::vector<JobKey>{first});
  EXPECT_EQ(admitted(table.submit(arrival("wdpost", 1), now)).key, first);
  EXPECT_EQ(admitted(table.submit(arrival("wdpost", 2), now)).key, second);
}

TEST_F(JobTableTest, TheSameBytesUnderAnotherIdAreAnotherJob) { EXPECT_NE(submit("a", 1), submit("b", 1)); }

TEST_F(JobTableTest, ASuccessIsGivenAgainAndAFailureRunsAgain) {
  const JobKey success = submit("a");
  end(success, JobState::kCompleted);
  const Admitted again = admitted(table.submit(arrival("a"), now));
  EXPECT_TRUE(again.attached);
  EXPECT_EQ(again.key, success);
  EXPECT_EQ(table.find(success)->result->proof.size(), 192u);
  for (const JobState state : {JobState::kFailed, JobState::kCancelled, JobState::kExpired}) {
    const JobKey failure = submit(to_string(state));
    end(failure, state);
    const Admitted retry = admitted(table.submit(arrival(to_string(state)), now));
    EXPECT_FALSE(retry.attached);
    EXPECT_GT(retry.key, failure);
    EXPECT_EQ(table.newest(to_string(state)), retry.key);
  }
}

TEST_F(JobTableTest, NothingAttachesToAJobThatIsStopping) {
  const JobKey first = submit("a");
  table.start(first, now);
  EXPECT_TRUE(table.stop(first, JobState::kCancelled));
  EXPECT_FALSE(table.stop(first, JobState::kExpired));
  const JobKey second = submit("a");
  EXPECT_NE(first, second);
  // It ends later than the new one began; that one stays who is attached to.
  end(first, JobState::kCancelled);
  EXPECT_EQ(admitted(table.submit(arrival("a"), now)).key, second);
  EXPECT_FALSE(table.stop(first, JobState::kCancelled));
}

TEST_F(JobTableTest, AttachingTakesTheHigherPriorityAndTheLaterDeadline) {
  auto a = arrival("a", 0, Attendance::kAwaited, submission(ProofKind::kPorep, 0, Priority::kLow));
  a.deadline = now + 10s;
  const JobKey key = admitted(table.submit(a, now)).key;
  const JobKey other = submit("b");
  EXPECT_EQ(table.queue_position(key), 1u);
  a.submission = submission(ProofKind::kPorep, 0, Priority::kHigh);
  a.deadline = now + 5s;
  Admitted again = admitted(table.submit(a, now));
  EXPECT_TRUE(again.reprioritised);
  EXPECT_EQ(again.queue_position, 0u);
  EXPECT_EQ(table.queue_position(other), 1u);
  EXPECT_EQ(table.find(key)->priority, Priority::kHigh);
  EXPECT_EQ(table.find(key)->deadline, now + 10s);
  a.submission = submission(ProofKind::kPorep, 0, Priority::kNormal);
  a.deadline = now + 20s;
  again = admitted(table.submit(a, now));
  EXPECT_FALSE(again.reprioritised);
  EXPECT_EQ(table.find(key)->priority, Priority::kHigh);
  EXPECT_EQ(table.find(key)->deadline, now + 20s);
  a.deadline.reset();
  admitted(table.submit(a, now));
  EXPECT_FALSE(table.find(key)->deadline.has_value());
  a.deadline = now + 30s;  // one waits for ever, so it does not expire
  admitted(table.submit(a, now));
  EXPECT_FALSE(table.find(key)->deadline.has_value());
}

TEST_F(JobTableTest, PositionsCountWhoGoesBefore) {
  const JobKey normal = submit("normal");
  const auto with = [&](const char* id, Priority priority) {
    return admitted(
        table.submit(arrival(id, 0, Attendance::kAwaited, submission(ProofKind::kPorep, 0, priority)), now));
  };
  EXPECT_EQ(with("critical", Priority::kCritical).queue_position, 0u);
  EXPECT_EQ(with("low", Priority::kLow).queue_position, 2u);
  EXPECT_EQ(with("high", Priority::kHigh).queue_position, 1u);
  const Admitted last = with("normal2", Priority::kNormal);
  EXPECT_EQ(last.queue_position, 3u);
  table.start(normal, now);
  EXPECT_EQ(table.queue_position(last.key), 2u);
  EXPECT_EQ(table.queue_position(normal), 0u);
  EXPECT_EQ(table.queue_position(12345), 0u);
}

// Detached jobs and the journal.

TEST_F(JobTableTest, DetachedJobsAreForTheJournal) {
  const Admitted first = admitted(table.submit(arrival("a", 0, Attendance::kDetached), now));
  EXPECT_TRUE(first.to_journal);
  // Until it is there, whoever else wants it to be there has to see to it as well.
  EXPECT_TRUE(admitted(table.submit(arrival("a", 0, Attendance::kDetached), now)).to_journal);
  EXPECT_TRUE(table.set_journalled(first.key));
  EXPECT_FALSE(admitted(table.submit(arrival("a", 0, Attendance::kDetached), now)).to_journal);
  EXPECT_FALSE(table.set_journalled(999));
}

TEST_F(JobTableTest, AnAwaitedJobBecomesDetachedAndNotBack) {
  const JobKey key = submit("a");
  EXPECT_TRUE(admitted(table.submit(arrival("a", 0, Attendance::kDetached), now)).to_journal);
  table.set_journalled(key);
  admitted(table.submit(arrival("a"), now));
  EXPECT_EQ(table.find(key)->attendance, Attendance::kDetached);
  now += 24h;
  EXPECT_TRUE(table.take_due(now).abandoned.empty());
}

TEST_F(JobTableTest, AnEndedAwaitedJobIsForTheJournalWhenItIsSubmittedDetached) {
  const JobKey key = submit("a");
  end(key, JobState::kCompleted);
  const Admitted again = admitted(table.submit(arrival("a", 0, Attendance::kDetached), now));
  EXPECT_TRUE(again.attached && again.to_journal);
  table.set_journalled(key);
  now += 2h;
  EXPECT_EQ(table.take_due(now).forgotten, std::vector<JobKey>{key});
}

TEST_F(JobTableTest, RetractLeavesNothing) {
  const JobKey key = admitted(table.submit(arrival("a", 0, Attendance::kDetached), now)).key;
  EXPECT_TRUE(table.retract(key));
  EXPECT_EQ(table.find(key), nullptr);
  EXPECT_FALSE(table.newest("a").has_value());
  EXPECT_EQ(table.unfinished_bytes(), 0u);
  EXPECT_EQ(table.counts().queued, 0u);
  EXPECT_FALSE(table.next_due().has_value());
  EXPECT_GT(submit("a"), key);
}

TEST_F(JobTableTest, RetractSparesWhatOthersWaitFor) {
  const JobKey shared = submit("a"), watched = submit("b"), running = submit("c"), stopping = submit("d");
  admitted(table.submit(arrival("a"), now));
  table.add_watcher(watched);
  table.start(running, now);
  table.stop(stopping, JobState::kCancelled);
  for (const JobKey key : {shared, watched, running, stopping}) {
    EXPECT_FALSE(table.retract(key));
    EXPECT_NE(table.find(key), nullptr);
  }
}

TEST_F(JobTableTest, RestoredJobsGoOn) {
  JobTable restored(JobLimits{}, 100);
  restored.restore(7, arrival("a", 1), now);
  restored.restore_result(3, ProofKind::kSnap, Priority::kLow, PayloadDigest{9}, result(JobState::kCompleted, "b"),
                          now);
  restored.restore_result(4, ProofKind::kSnap, Priority::kLow, PayloadDigest{8}, result(JobState::kFailed, "b"), now);
  EXPECT_TRUE(restored.find(7)->journalled);
  EXPECT_EQ(restored.find(7)->attendance, Attendance::kDetached);
  EXPECT_EQ(admitted(restored.submit(arrival("a", 1), now)).key, 7u);
  EXPECT_EQ(admitted(restored.submit(arrival("b", 9), now)).key, 3u);
  EXPECT_EQ(restored.newest("b"), 4u);
  EXPECT_EQ(admitted(restored.submit(arrival("b", 8), now)).key, 100u);  // that one had failed
  const std::vector<JobKey> forgotten = restored.take_due(now + 1h).forgotten;
  EXPECT_EQ(forgotten, (std::vector<JobKey>{3, 4}));
}

// Limits.

TEST_F(JobTableTest, AFullQueueRefusesAtOnceWithAHint) {
  JobLimits limits;
  limits.max_jobs = 4;
  limits.critical_jobs = 1;
  JobTable small(limits);
  for (int i = 0; i < 3; ++i) admitted(small.submit(arrival(std::to_string(i)), now));
  Refusal refusal = refused(small.submit(arrival("3"), now));
  EXPECT_EQ(refusal.reason, Refusal::Reason::kQueueFull);
  EXPECT_GT(refusal.retry_after_ms, 0u);
  // To attach costs nothing.
  EXPECT_TRUE(admitted(small.submit(arrival("0"), now)).attached);
  // The last place is for the critical.
  const auto critical = [](const char* id) {
    return arrival(id, 0, Attendance::kAwaited, submission(ProofKind::kWinning));
  };
  EXPECT_FALSE(admitted(small.submit(critical("w"), now)).attached);
  EXPECT_EQ(refused(small.submit(critical("w2"), now)).reason, Refusal::Reason::kQueueFull);
  // A place becomes free when a job ends, not before.
  const JobKey first = *small.newest("0");
  small.start(first, now);
  refused(small.submit(arrival("3"), now));
  small.finish(first, result(JobState::kFailed), now);
  refused(small.submit(arrival("3"), now));  // four less one: the last place
  small.finish(*small.newest("1"), result(JobState::kFailed), now);
  admitted(small.submit(arrival("3"), now));
}

TEST_F(JobTableTest, BytesAreBoundedAndWhatCanNeverFitIsSaid) {
  JobLimits limits;
  limits.max_bytes = 100'000;
  limits.critical_bytes = 20'000;
  JobTable small(limits);
  const auto of = [](const char* id, size_t bytes, ProofKind kind = ProofKind::kPorep) {
    return arrival(id, 0, Attendance::kAwaited, submission(kind, bytes));
  };
  EXPECT_EQ(refused(small.submit(of("never", 90'000), now)).reason, Refusal::Reason::kTooLarge);
  EXPECT_EQ(refused(small.submit(of("never", 90'000), now)).retry_after_ms, 0u);
  admitted(small.submit(of("a", 50'000), now));
  EXPECT_EQ(refused(small.submit(of("b", 50'000), now)).reason, Refusal::Reason::kQueueFull);
  admitted(small.submit(of("w", 40'000, ProofKind::kWinning), now));
  small.finish(*small.newest("a"), result(JobState::kCompleted), now);
  EXPECT_LT(small.unfinished_bytes(), 50'000u);
  admitted(small.submit(of("b", 30'000), now));
}

TEST_F(JobTableTest, LongIdsAreRefused) {
  JobLimits limits;
  EXPECT_EQ(refused(table.submit(arrival(std::string(limits.max_id_bytes + 1, 'x')), now)).reason,
            Refusal::Reason::kInvalid);
  admitted(table.submit(arrival(std::string(limits.max_id_bytes, 'x')), now));
}

TEST_F(JobTableTest, HintsFollowThePace) {
  JobLimits limits;
  limits.max_jobs = 100;
  limits.critical_jobs = 0;
  const auto hint_at = [&](std::chrono::milliseconds interval) {
    JobTable paced(limits);
    for (int i = 0; i < 100; ++i) admitted(paced.submit(arrival(std::to_string(i)), now));
    for (int i = 0; i < 50; ++i) {
      now += interval;
      paced.finish(*paced.newest(std::to_string(i)), result(JobState::kCompleted), now);
      admitted(paced.submit(arrival("more" + std::to_string(i)), now));
    }
    return refused(paced.submit(arrival("x"), now)).retry_after_ms;
  };
  EXPECT_EQ(hint_at(2000ms), 2000u);
  EXPECT_EQ(hint_at(1ms), 100u);
  EXPECT_EQ(hint_at(10min), 60'000u);
}

// Ends, results, time.

TEST_F(JobTableTest, ASubmissionThatHasBeenReadCanGo) {
  const JobKey key = submit("a", 1);
  const uint64_t bytes = table.unfinished_bytes();
  EXPECT_NE(table.drop_submission(key), nullptr);
  EXPECT_EQ(table.drop_submission(key), nullptr);
  EXPECT_EQ(table.find(key)->submission, nullptr);
  EXPECT_EQ(table.unfinished_bytes(), bytes);  // it counts until the job has ended
  EXPECT_EQ(submit("a", 1), key);
}

TEST_F(JobTableTest, FinishTellsWatchersOnce) {
  const JobKey key = submit("a");
  const WatchId first = table.add_watcher(key), second = table.add_watcher(key), third = table.add_watcher(key);
  EXPECT_TRUE(table.remove_watcher(second, now));
  EXPECT_FALSE(table.remove_watcher(second, now));
  table.start(key, now);
  const JobTable::Ended ended = table.finish(key, result(JobState::kCompleted), now);
  EXPECT_EQ(ended.watchers, (std::vector<WatchId>{first, third}));
  EXPECT_EQ(ended.result, table.find(key)->result);
  EXPECT_NE(ended.submission, nullptr);
  EXPECT_EQ(table.find(key)->submission, nullptr);
  EXPECT_FALSE(table.remove_watcher(first, now));
}

TEST_F(JobTableTest, WhoIsLeftAloneIsAbandonedAfterTheGraceTime) {
  const JobKey never_watched = submit("a");
  const JobKey left = submit("b");
  const WatchId watch = table.add_watcher(left);
  now += 30s;
  table.remove_watcher(watch, now);
  EXPECT_EQ(table.next_due(), kStart + 60s);
  EXPECT_EQ(table.take_due(kStart + 60s).abandoned, std::vector<JobKey>{never_watched});
  EXPECT_EQ(table.find(never_watched)->stopping, JobState::kCancelled);
  EXPECT_TRUE(table.take_due(now + 59'999ms).abandoned.empty());
  EXPECT_EQ(table.take_due(now + 60s).abandoned, std::vector<JobKey>{left});
  EXPECT_TRUE(table.take_due(now + 60s).abandoned.empty());
}

TEST_F(JobTableTest, WhoComesBackInTimeIsNotMissed) {
  const JobKey key = submit("a");
  const WatchId watch = table.add_watcher(key);
  table.remove_watcher(watch, now);
  now += 59s;
  admitted(table.submit(arrival("a"), now));  // a retry: it will watch in a moment
  now += 59s;
  EXPECT_TRUE(table.take_due(now).abandoned.empty());
  table.add_watcher(key);
  now += 1h;
  EXPECT_TRUE(table.take_due(now).abandoned.empty());
}

TEST_F(JobTableTest, DeadlinesExpireQueuedAndRunningJobs) {
  auto a = arrival("a");
  a.deadline = now + 10s;
  const JobKey queued = admitted(table.submit(a, now)).key;
  a.job_id = "b";
  a.deadline = now + 20s;
  const JobKey running = admitted(table.submit(a, now)).key;
  table.add_watcher(queued);
  table.add_watcher(running);
  table.start(running, now);
  EXPECT_EQ(table.next_due(), kStart + 10s);
  EXPECT_TRUE(table.take_due(kStart + 9'999ms).expired.empty());
  EXPECT_EQ(table.take_due(kStart + 1h).expired, (std::vector<JobKey>{queued, running}));
  EXPECT_EQ(table.find(running)->stopping, JobState::kExpired);
  EXPECT_TRUE(table.take_due(kStart + 2h).expired.empty());
  // One that has expired before it came is told at the next look.
  a.job_id = "c";
  a.deadline = now - 1s;
  EXPECT_EQ(table.take_due(now).expired.size(), 0u);
  const JobKey late = admitted(table.submit(a, now)).key;
  EXPECT_EQ(table.take_due(now).expired, std::vector<JobKey>{late});
}

TEST_F(JobTableTest, ResultsAreBoundedByCountBytesAndTime) {
  JobLimits limits;
  limits.max_results = 3;
  limits.keep_results = 10s;
  JobTable small(limits);
  const auto run = [&](const char* id) {
    const JobKey key = admitted(small.submit(arrival(id), now)).key;
    small.finish(key, result(JobState::kCompleted, id), now);
    now += 1s;
    return key;
  };
  const JobKey a = run("a"), b = run("b");
  run("c");
  EXPECT_EQ(small.results(), 3u);
  run("d");
  EXPECT_EQ(small.find(a), nullptr);
  EXPECT_NE(small.find(b), nullptr);
  EXPECT_FALSE(small.newest("a").has_value());
  EXPECT_EQ(small.next_due(), kStart + 1s + 10s);
  small.take_due(kStart + 11s);
  EXPECT_EQ(small.find(b), nullptr);
  EXPECT_EQ(small.results(), 2u);
  // Too old to be given again, even before anybody looked.
  EXPECT_FALSE(admitted(small.submit(arrival("d"), now + 1h)).attached);
  EXPECT_EQ(small.results(), 0u);
  EXPECT_EQ(small.result_bytes(), 0u);

  limits = JobLimits{};
  limits.max_result_bytes = 10'000;
  JobTable by_bytes(limits);
  for (int i = 0; i < 50; ++i) {
    const std::string id = std::to_string(i);
    by_bytes.finish(admitted(by_bytes.submit(arrival(id), now)).key, result(JobState::kCompleted, id), now);
    EXPECT_LE(by_bytes.result_bytes(), 10'000u);
  }
  EXPECT_GT(by_bytes.results(), 5u);
  EXPECT_LT(by_bytes.results(), 50u);
}

TEST_F(JobTableTest, AResultThatIsNotKeptStillReachesItsWatchers) {
  JobLimits limits;
  limits.max_results = 0;
  JobTable none(limits);
  const JobKey key = admitted(none.submit(arrival("a", 0, Attendance::kDetached), now)).key;
  none.set_journalled(key);
  const JobTable::Ended ended = none.finish(key, result(JobState::kCompleted), now);
  EXPECT_EQ(ended.result->proof.size(), 192u);
  EXPECT_EQ(none.find(key), nullptr);
  EXPECT_EQ(none.next_due(), Instant::min());
  EXPECT_EQ(none.take_due(now).forgotten, std::vector<JobKey>{key});
  EXPECT_FALSE(none.next_due().has_value());
}

TEST_F(JobTableTest, CountsAreOfJobsNow) {
  const JobKey a = submit("a"), b = submit("b");
  table.start(a, now);
  EXPECT_EQ(table.counts(ProofKind::kPorep).queued, 1u);
  EXPECT_EQ(table.counts(ProofKind::kPorep).running, 1u);
  EXPECT_EQ(table.counts(ProofKind::kWinning).queued, 0u);
  end(a, JobState::kFailed);
  now += 1s;
  end(b, JobState::kCancelled);
  EXPECT_EQ(table.counts().queued + table.counts().running, 0u);
  EXPECT_EQ(table.ended_since(kStart), (std::vector<JobKey>{a, b}));
  EXPECT_EQ(table.ended_since(kStart + 1s), std::vector<JobKey>{b});
  EXPECT_EQ(table.find(b)->ended, now);
}

// One job in, one to work, one out, and a look at what is due, among ten thousand that wait.
TEST(JobTable, ATurnAmongTenThousandJobsTakesLessThanAMillisecond) {
  JobLimits limits;
  limits.max_jobs = 20'000;
  JobTable table(limits);
  Instant now = kStart;
  queue_test::Rng rng(3);
  std::vector<JobKey> keys;
  const auto submit = [&](int i) {
    const auto priority = static_cast<Priority>(1 + queue_test::below(rng, 4));
    auto a = arrival("job-" + std::to_string(i), static_cast<uint8_t>(i), Attendance::kAwaited,
                     submission(ProofKind::kPorep, 0, priority));
    a.deadline = now + std::chrono::seconds(queue_test::below(rng, 10'000));
    const uint64_t start = queue_test::cpu_ns();
    keys.push_back(admitted(table.submit(std::move(a), now)).key);
    return start;
  };
  for (int i = 0; i < 10'000; ++i) submit(i);
  std::vector<uint64_t> times;
  for (int i = 0; i < 2000; ++i) {
    now += 10ms;
    std::swap(keys[queue_test::below(rng, keys.size())], keys.back());
    const JobKey key = keys.back();
    keys.pop_back();
    const uint64_t start = submit(10'000 + i);
    table.queue_position(keys.back());
    if (!table.find(key)->stopping) table.start(key, now);
    table.take_due(now);
    table.finish(key, result(JobState::kCompleted, "x"), now);
    times.push_back(queue_test::cpu_ns() - start);
  }
  const uint64_t p99 = queue_test::percentile_99(std::move(times));
  RecordProperty("p99_ns", std::to_string(p99));
  EXPECT_LT(p99, 1'000'000u);
}

TEST(JobTableDeathTest, WrongCallsAreBugs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  JobTable table{JobLimits{}};
  const JobKey key = admitted(table.submit(arrival("a"), kStart)).key;
  EXPECT_DEATH(table.start(key + 1, kStart), "");
  EXPECT_DEATH(table.finish(key, result(JobState::kRunning), kStart), "");
  EXPECT_DEATH(table.restore(key + 5, arrival("b"), kStart), "");
  table.start(key, kStart);
  EXPECT_DEATH(table.start(key, kStart), "");
  table.finish(key, result(JobState::kFailed), kStart);
  EXPECT_DEATH(table.finish(key, result(JobState::kFailed), kStart), "");
  EXPECT_DEATH(table.add_watcher(key), "");
}

}  // namespace
}  // namespace cuzk
