// Jobs from submission to result, one behaviour at a time, in a simulated world.
#include "engine/engine.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include "engine/schedules_test_support.hpp"

namespace cuzk::test {
namespace {

constexpr size_t kPorep = 0, kSnap = 2, kWindow = 3, kWinning = 4;

class EngineTest : public testing::Test {
 protected:
  EngineTest() : world(7) { options.budget = 600'000'000; }
  ~EngineTest() override {
    if (engine != nullptr && engine->core != nullptr) engine->kill();
  }

  SimEngine& start() {
    engine = std::make_shared<SimEngine>(world, options, disk);
    engine->start();
    return *engine;
  }
  void restart() {
    engine->kill();
    start();
  }
  JobKey submit(const Submission& s, Attendance attendance = Attendance::kDetached) {
    return engine->submit(s, attendance);
  }
  const JobResult& result_of(JobKey key) {
    const auto has_ended = [&] { return engine->finished.contains(key); };
    const Instant end = world.now() + std::chrono::hours(2);
    while (!has_ended() && world.now() < end && world.step()) engine->check_memory();
    EXPECT_TRUE(has_ended());
    EXPECT_EQ(world.violation, "");
    return engine->results[key];
  }
  void run_until_on_device(JobKey key, uint32_t device = 0) {
    const Instant end = world.now() + std::chrono::hours(2);
    while (CoreInspection(*engine->core).job_on(device) != key && world.now() < end && world.step()) {
    }
    ASSERT_EQ(CoreInspection(*engine->core).job_on(device), key);
  }

  World world;
  ScheduleOptions options;
  std::shared_ptr<SimDisk> disk = std::make_shared<SimDisk>();
  std::shared_ptr<SimEngine> engine;
};

TEST_F(EngineTest, ProvesAllPartitionsInOrder) {
  start();
  const JobKey key = submit(sim_submission(kPorep, 9, 10, "porep-1000-9"));
  const JobResult& result = result_of(key);
  ASSERT_EQ(result.state, JobState::kCompleted);
  EXPECT_EQ(result.job_id, "porep-1000-9");
  EXPECT_EQ(result.proof.size(), 10 * kProofBytes);  // their content is what the world expects
  EXPECT_GT(result.times.gpu_compute_ms, 10 * 2'000u);
  EXPECT_GT(result.times.synthesis_ms, 0u);
  EXPECT_GE(result.times.srs_load_ms, 10'000u);
  EXPECT_GE(result.times.total_ms, result.times.gpu_compute_ms);
}

TEST_F(EngineTest, AProofOfOnePartitionTellsOfAllItsWaiting) {
  options.devices = 1;
  start();
  std::vector<JobKey> keys;
  for (uint32_t i = 0; i < 4; ++i) keys.push_back(submit(sim_submission(kWindow, 20 + i, 1)));
  uint64_t device_ms = 0;
  for (const JobKey key : keys) {
    const JobTimes& times = result_of(key).times;
    const uint64_t work = times.srs_load_ms + times.synthesis_ms + times.gpu_compute_ms;
    EXPECT_NEAR(static_cast<double>(times.queue_wait_ms + work), static_cast<double>(times.total_ms), 1.0);
    if (key == keys.back()) EXPECT_GE(times.queue_wait_ms + times.srs_load_ms, device_ms);  // the others' turns
    device_ms += times.gpu_compute_ms;
  }
}

TEST_F(EngineTest, AnIdIsMadeWhereThereIsNone) {
  start();
  const SubmitOutcome outcome = engine->core->submit(sim_submission(kWinning, 1, 1), Attendance::kDetached);
  ASSERT_TRUE(std::holds_alternative<Submitted>(outcome));
  EXPECT_EQ(std::get<Submitted>(outcome).job_id.size(), 36u);
  EXPECT_EQ(engine->core->find(std::get<Submitted>(outcome).job_id), std::get<Submitted>(outcome).key);
}

TEST_F(EngineTest, TheSameRequestIsOneJobAndOtherBytesAreAnother) {
  start();
  const Submission s = sim_submission(kPorep, 9, 2, "same"), other = sim_submission(kPorep, 10, 2, "same");
  const JobKey first = submit(s);
  EXPECT_EQ(submit(s), first);
  const JobKey second = submit(other);
  EXPECT_NE(second, first);
  EXPECT_EQ(result_of(first).state, JobState::kCompleted);
  EXPECT_EQ(result_of(second).state, JobState::kCompleted);
  EXPECT_EQ(submit(s), first);  // its result is kept
  engine->core->cancel("same");
  EXPECT_EQ(submit(s), first);  // nothing was left to cancel
}

TEST_F(EngineTest, AfterAFailureOrACancellationItIsANewJob) {
  start();
  Submission s = sim_submission(kPorep, 9, 2, "again");
  const JobKey first = submit(s);
  run_until_on_device(first);
  const CancelOutcome outcome = engine->core->cancel("again");
  EXPECT_TRUE(outcome.found);
  EXPECT_TRUE(outcome.was_running);
  const JobKey second = submit(s);
  EXPECT_NE(second, first);
  EXPECT_EQ(result_of(first).state, JobState::kCancelled);
  EXPECT_EQ(result_of(second).state, JobState::kCompleted);
  s.randomness = kBadInput;
  const JobKey bad = submit(s);
  EXPECT_EQ(result_of(bad).state, JobState::kFailed);
  EXPECT_EQ(result_of(bad).error->message, "C1 parse failed: it is bad");
  EXPECT_NE(submit(s), bad);
}

// At a hundred moments of a job's life.
TEST_F(EngineTest, CancelledInEveryStateItEndsOnceAndLeavesNothing) {
  options.journal = false;
  start();
  for (int i = 0; i < 100; ++i) {
    const JobKey key = submit(sim_submission(kSnap, 9, 2, "c"));
    world.run_for(Milliseconds(i * 250));
    const bool open = !engine->finished.contains(key);
    EXPECT_EQ(engine->core->cancel("c").found, open);
    EXPECT_EQ(result_of(key).state, open ? JobState::kCancelled : JobState::kCompleted) << i;
    world.run_for(Milliseconds(20'000));
    const CoreInspection see(*engine->core);
    EXPECT_EQ(see.runs() + see.tasks() + see.held_bytes(), 0u);
    if (!open) {
      EXPECT_GT(i, 3);
      return;
    }
  }
  FAIL() << "the job never ended by itself";
}

TEST_F(EngineTest, CriticalJobsOvertakeAtTheNextPartition) {
  options.engine.critical_hold = std::chrono::seconds(2);
  start();
  bool loaded = false;
  engine->core->preload("winning-2k", [&](auto result) { loaded = result.ok(); });
  world.run_for(Milliseconds(5'000));
  EXPECT_TRUE(loaded);
  std::vector<JobKey> low, critical;
  for (uint64_t i = 0; i < 5; ++i) {
    Submission s = sim_submission(kPorep, 100 + i, 10);
    s.priority = Priority::kLow;
    low.push_back(submit(s));
  }
  world.run_for(Milliseconds(60'000));
  for (uint64_t i = 0; i < 2; ++i) critical.push_back(submit(sim_submission(kWinning, 200 + i, 1)));
  const auto on_device = CoreInspection(*engine->core).job_on(0);
  ASSERT_TRUE(on_device);
  while (CoreInspection(*engine->core).job_on(0) == on_device && CoreInspection(*engine->core).proving(0)) world.step();
  // Between that partition and theirs there is nothing, and nothing between them.
  for (const JobKey key : critical) EXPECT_LE(result_of(key).times.total_ms, 4'000u + 2 * 600 + 2'000);
  for (const JobKey key : low) EXPECT_EQ(result_of(key).state, JobState::kCompleted);
}

// At whatever moment it comes: nothing begins on the device between the partition that is there and its own.
TEST_F(EngineTest, NothingBeginsBeforeACriticalJobOnceItIsThere) {
  start();
  for (uint64_t i = 0; i < 3; ++i) submit(sim_submission(kPorep, 100 + i, 60));
  engine->core->preload("winning-2k", [](auto) {});
  world.run_for(Milliseconds(60'000));
  std::vector<uint64_t> begun;  // sectors
  engine->devices[0]->on_prove = [&](uint32_t, const PackedWitness& witness) {
    begun.push_back(witness.inputs[0].to_plain()[0]);
  };
  for (uint64_t i = 0; i < 60; ++i) {
    world.run_for(world.random_time(1'000, 6'000));
    ASSERT_TRUE(CoreInspection(*engine->core).proving(0));
    begun.clear();
    const JobKey key = submit(sim_submission(kWinning, 1'000 + i, 1));
    ASSERT_EQ(result_of(key).state, JobState::kCompleted);
    ASSERT_FALSE(begun.empty());
    EXPECT_EQ(begun.front(), 1'000 + i) << "a partition of sector " << begun.front() << " went before it";
  }
}

TEST_F(EngineTest, AttachingRaisesThePriority) {
  start();
  const JobKey running = submit(sim_submission(kPorep, 1, 10));
  const JobKey first = submit(sim_submission(kPorep, 2, 1));
  Submission s = sim_submission(kPorep, 3, 1, "raised");
  const JobKey second = submit(s);
  run_until_on_device(running);
  s.priority = Priority::kHigh;
  EXPECT_EQ(submit(s), second);
  const uint64_t raised_ms = result_of(second).times.total_ms;
  EXPECT_LT(raised_ms, 60'000u);
  EXPECT_FALSE(engine->finished.contains(running));
  EXPECT_EQ(result_of(first).state, JobState::kCompleted);
}

TEST_F(EngineTest, WithoutItsLastWatcherAnAwaitedJobIsGivenUpAfterTheGraceTime) {
  options.engine.jobs.grace = Milliseconds(5'000);
  start();
  const Submission s = sim_submission(kPorep, 1, 10, "left");
  const JobKey key = submit(s, Attendance::kAwaited);
  bool called = false;
  const WatchId watch = engine->core->watch(key, [&](const JobResult&) { called = true; });
  world.run_for(Milliseconds(20'000));
  engine->core->unwatch(watch);
  world.run_for(Milliseconds(4'000));
  EXPECT_EQ(submit(s, Attendance::kAwaited), key);  // a retry attaches and has the grace time again
  world.run_for(Milliseconds(4'000));
  EXPECT_FALSE(engine->finished.contains(key));
  world.run_for(Milliseconds(1'500));
  EXPECT_EQ(result_of(key).state, JobState::kCancelled);
  EXPECT_FALSE(called);
}

TEST_F(EngineTest, TheDeadlineEndsAJobWhereverItIs) {
  start();
  for (const int seconds : {0, 1, 15, 40}) {
    Submission s = sim_submission(kPorep, 1, 20);
    s.deadline = SimClock(world).system_now() + std::chrono::seconds(seconds);
    const JobKey key = submit(s);
    const JobResult& result = result_of(key);
    EXPECT_EQ(result.state, JobState::kExpired);
    EXPECT_NEAR(static_cast<double>(result.times.total_ms), 1000.0 * seconds, 400.0);
  }
  EXPECT_EQ(engine->core->status().kinds[index_of(ProofKind::kPorep)].expired, 4u);
}

TEST_F(EngineTest, WatchersOfEndedAndOfUnknownJobsAreToldAtOnce) {
  start();
  const JobKey key = submit(sim_submission(kWinning, 1, 1));
  result_of(key);
  int told = 0;
  engine->core->watch(key, [&](const JobResult& result) { told += result.state == JobState::kCompleted; });
  EXPECT_EQ(told, 1);
  engine->core->watch(key + 1000, [&](const JobResult& result) {
    told += result.error && result.error->error_class == ErrorClass::kNotFound;
  });
  EXPECT_EQ(told, 2);
  EXPECT_EQ(CoreInspection(*engine->core).watches(), 0u);
}

TEST_F(EngineTest, DrainFinishesWhatIsAwaitedAndLeavesTheRestToTheJournal) {
  start();
  const JobKey awaited = submit(sim_submission(kPorep, 1, 2), Attendance::kAwaited);
  engine->core->watch(awaited, [](const JobResult&) {});
  const JobKey detached = submit(sim_submission(kPorep, 2, 5, "kept"));
  run_until_on_device(awaited);
  bool drained = false;
  engine->core->drain(world.now() + std::chrono::hours(1), [&] { drained = true; });
  EXPECT_TRUE(engine->core->status().draining);
  EXPECT_EQ(submit(sim_submission(kPorep, 3, 1)), 0u);
  EXPECT_EQ(engine->last_refusal.reason, Refusal::Reason::kDraining);
  EXPECT_EQ(result_of(awaited).state, JobState::kCompleted);
  world.run_for(Milliseconds(60'000));
  EXPECT_TRUE(drained);
  EXPECT_FALSE(engine->finished.contains(detached));
  restart();
  ASSERT_EQ(engine->core->find("kept"), detached);
  EXPECT_EQ(result_of(detached).state, JobState::kCompleted);
}

TEST_F(EngineTest, ADrainThatTakesTooLongCancelsWhatIsLeft) {
  start();
  const JobKey awaited = submit(sim_submission(kPorep, 1, 100), Attendance::kAwaited);
  engine->core->watch(awaited, [](const JobResult&) {});
  run_until_on_device(awaited);
  bool drained = false;
  engine->core->drain(world.now() + std::chrono::seconds(30), [&] { drained = true; });
  world.run_for(Milliseconds(29'000));
  EXPECT_FALSE(drained);
  world.run_for(Milliseconds(2'000));
  EXPECT_TRUE(drained);
  EXPECT_EQ(result_of(awaited).state, JobState::kCancelled);
}

TEST_F(EngineTest, ResultsOfJournalledJobsSurviveARestart) {
  start();
  const Submission s = sim_submission(kSnap, 5, 3, "done");
  const JobKey key = submit(s);
  const std::vector<uint8_t> proof = result_of(key).proof;
  restart();
  EXPECT_EQ(submit(s), key);
  std::vector<uint8_t> again;
  engine->core->watch(key, [&](const JobResult& result) { again = result.proof; });
  EXPECT_EQ(again, proof);
  const JobKey next = submit(sim_submission(kSnap, 6, 1));
  EXPECT_GT(next, key);
}

TEST_F(EngineTest, WithoutAJournalThatCanBeWrittenDetachedJobsAreRefused) {
  start();
  disk->broken = true;
  EXPECT_EQ(submit(sim_submission(kPorep, 1, 1, "a")), 0u);
  EXPECT_EQ(engine->last_refusal.reason, Refusal::Reason::kQueueFull);
  EXPECT_GT(engine->last_refusal.retry_after_ms, 0u);
  EXPECT_FALSE(engine->core->find("a"));
  const JobKey awaited = submit(sim_submission(kPorep, 2, 1), Attendance::kAwaited);
  engine->core->watch(awaited, [](const JobResult&) {});
  EXPECT_EQ(result_of(awaited).state, JobState::kCompleted);
  EXPECT_EQ(CoreInspection(*engine->core).held_bytes(), 0u);
}

TEST_F(EngineTest, DecisionsAreQuickWithTenThousandJobs) {
  options.engine.jobs.max_jobs = 20'000;
  options.journal = false;
  options.budget = 2'000'000'000;
  start();
  for (uint64_t i = 0; i < 10'000; ++i) {
    Submission s = sim_submission(world.random(0, 3), 1 + i, 2);
    s.priority = static_cast<Priority>(world.random(1, 3));
    s.deadline = SimClock(world).system_now() + std::chrono::hours(1) + world.random_time(0, 1'000'000);
    ASSERT_NE(submit(s), 0u) << engine->last_refusal.message;
  }
  const auto processor_us = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000 + time.tv_nsec / 1'000;
  };
  std::vector<int64_t> us;
  for (int i = 0; i < 15'000; ++i) {
    const int64_t before = processor_us();
    if (!world.step()) break;
    us.push_back(processor_us() - before);
  }
  std::sort(us.begin(), us.end());
  RecordProperty("p50_us", std::to_string(us[us.size() / 2]));
  RecordProperty("p99_us", std::to_string(us[us.size() * 99 / 100]));
  EXPECT_LT(us[us.size() * 99 / 100], 1'000);
}

TEST_F(EngineTest, StatusTellsWhatGoesOn) {
  start();
  const JobKey key = submit(sim_submission(kWindow, 1, 1, "w"));
  run_until_on_device(key);
  const EngineStatus status = engine->core->status();
  EXPECT_TRUE(status.ready);
  ASSERT_EQ(status.jobs.size(), 1u);
  EXPECT_EQ(status.jobs[0].job_id, "w");
  ASSERT_EQ(status.jobs[0].partitions.size(), 1u);
  EXPECT_EQ(status.jobs[0].partitions[0].state, PartitionState::kDevice);
  ASSERT_EQ(status.devices.size(), 1u);
  EXPECT_EQ(status.devices[0].job_id, "w");
  EXPECT_EQ(status.devices[0].partition, 0u);
  ASSERT_EQ(status.resident.size(), 1u);
  EXPECT_EQ(status.resident[0].circuit_id, "window-2k");
  EXPECT_EQ(status.resident[0].in_use, 1u);
  EXPECT_EQ(status.kinds[index_of(ProofKind::kWindow)].running, 1u);
  result_of(key);
  const EngineStatus after = engine->core->status();
  ASSERT_EQ(after.jobs.size(), 1u);
  EXPECT_EQ(after.jobs[0].partitions[0].state, PartitionState::kDone);
  EXPECT_EQ(after.kinds[index_of(ProofKind::kWindow)].completed, 1u);
  EXPECT_EQ(after.kinds[index_of(ProofKind::kWindow)].accepted, 1u);
  world.run_for(Milliseconds(40'000));
  EXPECT_TRUE(engine->core->status().jobs.empty());
}

}  // namespace
}  // namespace cuzk::test
