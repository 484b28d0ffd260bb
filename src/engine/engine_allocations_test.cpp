// Memory that runs out at any point of the engine's work: each allocation of each of these scenarios fails once, by
// itself or as the first of many, and what must hold of jobs, watchers and memory holds nevertheless.
#include <gtest/gtest.h>

#include "engine/allocations_test_support.hpp"
#include "engine/filecoin_proof_service.hpp"

namespace cuzk::test {
namespace {

constexpr size_t kPorep = 0, kPorep8m = 1, kSnap = 2, kWindow = 3, kWinning = 4;

Submission with_deadline(Submission s, Milliseconds after_start) {
  s.deadline = std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(
      (World::kStart + after_start).time_since_epoch()));
  return s;
}
Submission with_words(Submission s, const char* words) {
  s.randomness = words;
  return s;
}
Submission with_priority(Submission s, Priority priority) {
  s.priority = priority;
  return s;
}

constexpr auto kAwaited = Attendance::kAwaited;
constexpr auto kDetached = Attendance::kDetached;

// Each allocation of the scenario fails.
void fail_each(const ScheduleOptions& options, const std::function<void(Scenario&)>& play) {
  const auto run = [&](const Shortage& planned) {
    Scenario scenario(options, planned);
    play(scenario);
    return scenario.run();
  };
  ASSERT_EQ(run({}), "") << "without a shortage";
  ASSERT_EQ(run({}), "") << "again: what is made once is there";
  const uint64_t all = shortage.seen;
  ASSERT_GT(all, 200u);
  for (const bool lasting : {false, true}) {
    for (uint64_t k = 1;; ++k) {
      Shortage planned;
      planned.fail_at = k;
      planned.lasting = lasting;
      ASSERT_EQ(run(planned), "") << "allocation " << k << (lasting ? " and all for two seconds" : "");
      if (shortage.failed == 0) {
        EXPECT_GT(k, all);
        break;
      }
    }
  }
  testing::Test::RecordProperty("allocations", static_cast<int>(all));
}

ScheduleOptions roomy() {
  ScheduleOptions options;
  options.budget = 600'000'000;
  return options;
}

TEST(EngineAllocations, OfJobsThatAreProved) {
  fail_each(roomy(), [](Scenario& s) {
    s.submit(100, sim_submission(kPorep, 3, 2, "an-awaited-job-of-two-partitions"), kAwaited);
    s.submit(200, sim_submission(kWinning, 4, 1, "a-detached-job-with-a-long-id"), kDetached);
    s.submit(300, sim_submission(kWinning, 5, 1), kAwaited);
    s.ask(1'500);
    s.upload(1'600, 3'000'000);
    s.ask(30'000);
  });
}

TEST(EngineAllocations, OfGroupsAndWhatCutsThem) {
  ScheduleOptions options = roomy();
  options.engine.other_group = 4;
  options.faults.short_group = 0.1;
  fail_each(options, [](Scenario& s) {
    s.submit(100, sim_submission(kPorep, 3, 6, "a-job-of-six-partitions"), kAwaited);
    s.submit(26'000, with_priority(sim_submission(kWinning, 4, 1, "critical"), Priority::kCritical), kAwaited);
    s.submit(27'000, with_priority(sim_submission(kSnap, 5, 2, "high"), Priority::kHigh), kDetached);
  });
}

TEST(EngineAllocations, OfCancelsInEveryState) {
  fail_each(roomy(), [](Scenario& s) {
    const auto submit_and_cancel = [&s](int begin, int end, size_t circuit, uint32_t partitions, Attendance who) {
      const std::string id = "to-be-cancelled-at-" + std::to_string(end);
      s.submit(begin, sim_submission(circuit, static_cast<uint64_t>(end), partitions, id), who, JobState::kCancelled);
      s.cancel(end, id);
    };
    submit_and_cancel(100, 101, kWinning, 1, kAwaited);
    submit_and_cancel(200, 350, kPorep, 2, kDetached);
    submit_and_cancel(400, 5'000, kSnap, 2, kAwaited);
    submit_and_cancel(6'000, 24'000, kPorep, 3, kDetached);
    submit_and_cancel(6'000, 60'000, kWindow, 1, kAwaited);
  });
}

TEST(EngineAllocations, OfDeadlinesAndOfClientsThatGo) {
  ScheduleOptions options = roomy();
  options.engine.jobs.grace = Milliseconds(3'000);
  options.engine.jobs.keep_results = Milliseconds(20'000);
  options.engine.show_ended = Milliseconds(2'000);
  fail_each(options, [](Scenario& s) {
    const auto late = [&](int ms, int deadline, size_t circuit, const char* id, Attendance who) {
      s.submit(ms, with_deadline(sim_submission(circuit, 9, 1, id), Milliseconds(deadline)), who, JobState::kExpired);
    };
    late(100, 50, kWinning, "over-before-it-begins", kDetached);
    late(100, 5'000, kPorep, "over-while-parameters-are-loaded", kAwaited);
    late(100, 23'000, kPorep8m, "over-while-it-is-proved-or-so", kDetached);
    s.submit(200, sim_submission(kWindow, 3, 1, "nobody-ever-watches-it"), kAwaited, JobState::kCancelled, false);
    s.submit(300, sim_submission(kSnap, 4, 1, "a-client-that-goes-away"), kAwaited, JobState::kCancelled);
    s.unwatch(2'000, 3);
  });
}

TEST(EngineAllocations, OfADrain) {
  for (const int limit : {6'000, 60'000}) {
    fail_each(roomy(), [limit](Scenario& s) {
      s.submit(100, sim_submission(kPorep, 3, 2, "left-to-the-journal-or-not"), kDetached, JobState::kCancelled);
      s.submit(200, sim_submission(kWinning, 4, 1, "awaited-and-finished"), kAwaited, JobState::kCancelled);
      s.submit(250, sim_submission(kPorep, 5, 2, "awaited-and-long"), kAwaited, JobState::kCancelled);
      s.drain(27'000, Milliseconds(limit));
      s.submit(27'100, sim_submission(kWinning, 6, 1, "too-late"), kAwaited);
    });
  }
}

TEST(EngineAllocations, OfLoadsAndEvictions) {
  ScheduleOptions options;
  options.budget = 100'000'000;  // for two circuits, or one
  options.devices = 2;
  options.engine.evict_min_idle = Milliseconds(1'000);
  options.engine.swap_patience = Milliseconds(2'000);
  fail_each(options, [](Scenario& s) {
    s.preload(600, "winning-2k");
    s.preload(700, "porep-2k");
    s.preload(800, "no-such-circuit");
    s.evict(35'000, "winning-2k");
    s.evict(35'100, "snap-2k");
    s.submit(36'000, sim_submission(kPorep, 3, 3, "a-job-of-one-circuit"), kAwaited);
    s.submit(37'000, sim_submission(kSnap, 4, 2, "a-job-of-another-circuit"), kDetached);
    s.submit(38'000, sim_submission(kWindow, 5, 1, "a-job-of-a-third-circuit"), kAwaited);
    s.upload(39'000, 60'000'000);
  });
}

TEST(EngineAllocations, OfGpus) {
  ScheduleOptions options = roomy();
  options.devices = 2;
  options.gpu_memory = 80'000'000;
  options.engine.gpu_group = 3;
  fail_each(options, [](Scenario& s) {
    s.device(0).in_pieces = true;
    s.submit(100, sim_submission(kPorep, 3, 4, "a-job-for-two-gpus"), kAwaited);
    s.submit(200, sim_submission(kSnap, 4, 2, "a-job-that-needs-room"), kDetached);
    s.submit(40'000, sim_submission(kWindow, 5, 1, "a-job-of-a-large-circuit"), kAwaited);
  });
}

TEST(EngineAllocations, OfARestartFromTheJournal) {
  fail_each(roomy(), [](Scenario& s) {
    s.submit(100, sim_submission(kWinning, 4, 1, "ended-before-the-restart"), kDetached);
    s.submit(200, sim_submission(kPorep, 3, 2, "begun-before-the-restart"), kDetached);
    s.submit(300, with_words(sim_submission(kSnap, 5, 1, "bad-before-the-restart"), kBadInput), kDetached,
             JobState::kFailed);
    s.submit(400, sim_submission(kWinning, 6, 1, "lost-with-its-client"), kAwaited);
    s.restart_after(24'000);
    s.disk->damaged.clear();
    s.submit(25'000, sim_submission(kWinning, 4, 1, "ended-before-the-restart"), kDetached);
    s.submit(25'100, sim_submission(kPorep, 3, 2, "begun-before-the-restart"), kAwaited);
  });
}

TEST(EngineAllocations, OfFaultsAndWhatIsDoneAboutThem) {
  ScheduleOptions options = roomy();
  options.devices = 2;
  options.engine.wrong_to_restart = 1;
  fail_each(options, [](Scenario& s) {
    s.submit(100, sim_submission(kPorep, 3, 3, "a-job-whose-device-fails"), kAwaited, JobState::kFailed);
    s.at(20'500, [&s] { s.device(0).fail_next = 1; });
    s.at(27'000, [&s] { s.device(1).die_now(); });
    s.at(30'000, [&s] { s.device(0).wrong_next = 1; });
    s.submit(31'000, with_words(sim_submission(kSnap, 4, 2, "a-bad-witness"), kBadWitness), kDetached,
             JobState::kFailed);
    s.submit(32'000, with_words(sim_submission(kSnap, 5, 2, "a-witness-without-memory"), kNoMemory), kAwaited,
             JobState::kFailed);
    s.at(33'000, [&s] { s.device(1).error_next = 1; });
    s.at(34'000, [&s] { s.device(0).refuses.insert("window-2k"); });
    s.submit(34'500, sim_submission(kWindow, 6, 1, "a-circuit-that-one-device-refuses"), kAwaited, JobState::kFailed);
    s.at(35'000, [&s] { s.engine->service->missing.insert("porep-8m"); });
    s.submit(36'000, sim_submission(kPorep8m, 7, 2, "a-circuit-without-parameters"), kDetached, JobState::kFailed);
  });
}

TEST(EngineAllocations, OfThoseWhoAttachAndThoseWhoAreRefused) {
  ScheduleOptions options = roomy();
  options.engine.jobs.max_jobs = 6;
  options.engine.jobs.critical_jobs = 2;
  fail_each(options, [](Scenario& s) {
    const Submission same = sim_submission(kPorep, 3, 2, "asked-for-again-and-again");
    s.submit(100, same, kAwaited);
    s.submit(200, with_priority(same, Priority::kCritical), kAwaited);
    s.submit(300, same, kDetached);
    s.submit(400, sim_submission(kPorep, 4, 1, "asked-for-again-and-again"), kDetached);
    for (uint64_t i = 0; i < 4; ++i) s.submit(500, sim_submission(kWinning, 10 + i, 1), kAwaited);
    s.at(20'000, [&s] { s.disk->broken = true; });
    s.submit(20'100, sim_submission(kWinning, 20, 1, "while-the-journal-is-broken"), kDetached);
    s.at(24'000, [&s] { s.disk->broken = false; });
    s.at(24'500, [&s] { s.disk->no_memory = true; });
    s.submit(24'600, sim_submission(kWinning, 21, 1, "while-the-journal-has-no-memory"), kDetached);
    s.at(26'000, [&s] { s.disk->no_memory = false; });
  });
}

// The same in random schedules: one allocation in so many fails, or some hundreds in a row.
TEST(EngineAllocations, AtRandomInThousandsOfSchedules) {
  uint64_t completed = 0, failed = 0, uses = 0;
  for (uint64_t seed = 0; seed < 4'000; ++seed) {
    Shortage planned;
    constexpr uint64_t kOneIn[] = {20, 200, 2'000, 500};
    planned.one_in = kOneIn[seed % 4];
    if (seed % 4 == 3) planned.most_more = 300;
    planned.random = seed + 1;
    shortage = planned;
    const auto reserve = make_reserve();
    allocation_fails = fails;
    Schedule schedule(seed, reserve);
    const std::string violation = schedule.run();
    allocation_fails = nullptr;
    ASSERT_EQ(violation, "") << "seed " << seed;
    completed += schedule.completed();
    failed += shortage.failed;
    uses += reserve->uses();
  }
  EXPECT_GT(completed, 5'000u);
  EXPECT_GT(failed, 50'000u);
  EXPECT_GT(uses, failed / 2);
  RecordProperty("completed", static_cast<int>(completed));
  RecordProperty("failed", static_cast<int>(failed));
}

// While memory is short it says so, and takes CRITICAL work and small uploads only.
TEST(EngineAllocations, AShortageIsToldAndNewJobsWait) {
  Scenario s(roomy(), {});
  SimEngine& engine = *s.engine;
  s.world.run_for(Milliseconds(1'000));
  shortage.fail_at = shortage.seen + 1;
  shortage.lasting = true;
  const auto submit = [&](Priority priority, uint64_t sector) {
    return engine.submit(with_priority(sim_submission(kWinning, sector, 1), priority), kAwaited);
  };
  s.world.in(Milliseconds(0), [&] {
    const EngineCode code;
    engine.core->cancel("nobody");
    std::function<void(Result<Engine::Evicted>)> done = [](Result<Engine::Evicted>) {};
    engine.core->evict("nothing-of-that-name", std::move(done));
  });
  s.world.run_for(Milliseconds(10));
  EXPECT_EQ(submit(Priority::kNormal, 1), 0u);
  EXPECT_EQ(engine.last_refusal.message, "out of memory");  // of the call itself
  shortage.over();
  shortage.is_feared = true;
  EXPECT_EQ(submit(Priority::kNormal, 1), 0u);
  EXPECT_EQ(engine.last_refusal.message, "the daemon is short of memory");
  EXPECT_EQ(engine.last_refusal.reason, Refusal::Reason::kQueueFull);
  EXPECT_EQ(engine.last_refusal.retry_after_ms, 1000u);
  EXPECT_EQ(engine.shortages, 1u);
  EXPECT_FALSE(engine.core->reserve_upload(20'000'000).ok());
  EXPECT_TRUE(engine.core->reserve_upload(1'000).ok());
  const JobKey critical = submit(Priority::kCritical, 2);
  EXPECT_NE(critical, 0u);
  const EngineStatus status = engine.core->status();
  EXPECT_EQ(status.reserve_bytes, kReserveBytes);
  EXPECT_LT(status.reserve_left_bytes, status.reserve_bytes);
  EXPECT_GT(status.reserve_uses, 0u);
  s.world.run_for(Milliseconds(3'000));
  EXPECT_EQ(engine.memory_back, 0u);
  EXPECT_EQ(submit(Priority::kNormal, 3), 0u);
  shortage.is_feared = false;
  s.world.run_for(Milliseconds(1'500));  // it looks by itself
  EXPECT_EQ(engine.memory_back, 1u);
  EXPECT_EQ(engine.shortages, 1u);
  const JobKey normal = submit(Priority::kNormal, 4);
  EXPECT_NE(normal, 0u);
  s.world.run_for(Milliseconds(60'000));
  EXPECT_EQ(engine.results[critical].state, JobState::kCompleted);
  EXPECT_EQ(engine.results[normal].state, JobState::kCompleted);
}

// And where even the reserve is used up the process ends in order, with its journal.
TEST(EngineAllocations, WithoutAReserveThatLastsTheProcessEnds) {
  const auto run_out = [] {
    Scenario s(roomy(), {});
    s.world.run_for(Milliseconds(1'000));
    shortage.fail_at = shortage.seen + 1;
    shortage.lasting = true;
    for (;;) {
      std::function<void(Result<Engine::Preloaded>)> done = [](Result<Engine::Preloaded>) {};
      const EngineCode code;
      s.engine->core->preload("porep-2k", std::move(done));
    }
  };
  EXPECT_EXIT(run_out(), testing::ExitedWithCode(9), "");
}

// What the largest turn takes: all of a full queue ends at once.
TEST(EngineAllocations, TheReserveIsEnoughForTheLargestTurn) {
  ScheduleOptions options;
  options.budget = uint64_t{4} << 30;
  Scenario s(options, {});
  for (uint64_t i = 0; i < 4'000; ++i) {
    const Submission one = sim_submission(i % 2 == 0 ? kPorep : kWindow, i, 1, "job-number-" + std::to_string(i));
    ASSERT_NE(s.engine->submit(one, i % 3 == 0 ? kDetached : kAwaited), 0u);
  }
  s.world.run_for(Milliseconds(30'000));
  uint64_t most = 0;
  const Instant end = s.world.now() + std::chrono::minutes(3);
  s.drain(30'500, Milliseconds(20'000));
  while (s.world.now() < end) {
    const uint64_t bytes = shortage.seen_bytes, count = shortage.seen;
    if (!s.world.step()) break;
    // As blocks of the reserve, at most.
    most = std::max(most, 2 * (shortage.seen_bytes - bytes + 16 * (shortage.seen - count)));
  }
  EXPECT_EQ(s.world.violation, "");
  EXPECT_GT(most, 100'000u);
  EXPECT_LT(most, MemoryReserve::kBytes / 2);
  RecordProperty("bytes", static_cast<int>(most));
}

// What is found out once and kept is found out wholly, or again.
TEST(EngineAllocations, NeedsOfAGpuAreNeverHalfKnown) {
  const DeviceInfo gpu{
      .name = "a GPU", .is_gpu = true, .memory_usable_bytes = uint64_t{80} << 30, .multiprocessors = 100};
  const CircuitSpec& last = circuit_specs()[circuit_specs().size() - 1];
  const uint64_t expected = FilecoinProofService(nullptr, 2, 1).device_needs(last, gpu, 1).device_resident;
  for (uint64_t k = 1;; ++k) {
    const FilecoinProofService service(nullptr, 2, 1);
    shortage = {};
    shortage.fail_at = k;
    allocation_fails = fails;
    bool failed = false;
    try {
      const EngineCode code;
      (void)service.device_needs(last, gpu, 1);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    allocation_fails = nullptr;
    EXPECT_EQ(service.device_needs(last, gpu, 1).device_resident, expected) << k;
    if (!failed) {
      EXPECT_GT(k, 2u);
      break;
    }
  }
}

}  // namespace
}  // namespace cuzk::test
