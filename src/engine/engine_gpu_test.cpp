// The ledger of a GPU's memory, in a simulated world.
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "engine/schedules_test_support.hpp"

namespace cuzk::test {
namespace {

constexpr size_t kPorep = 0, kPorepSmall = 1, kSnap = 2, kWindow = 3, kWinning = 4;

class EngineGpuTest : public testing::Test {
 protected:
  EngineGpuTest() : world(11) { options.budget = 600'000'000; }
  ~EngineGpuTest() override {
    if (engine != nullptr) engine->kill();
  }
  SimEngine& start(uint64_t gpu_memory) {
    options.gpu_memory = gpu_memory;
    engine = std::make_shared<SimEngine>(world, options, std::make_shared<SimDisk>());
    engine->start();
    return *engine;
  }
  JobState prove(size_t circuit) {
    const uint64_t number = ++jobs;
    const JobKey key =
        engine->submit(sim_submission(circuit, number, 2, "job-" + std::to_string(number)), Attendance::kDetached);
    const Instant end = world.now() + std::chrono::hours(2);
    while (!engine->finished.contains(key) && world.now() < end && world.step()) engine->check_memory();
    EXPECT_TRUE(engine->finished.contains(key));
    EXPECT_EQ(world.violation, "");
    return engine->results[key].state;
  }
  SimDevice& device() { return *engine->devices[0]; }
  using Ids = std::set<std::string>;

  World world;
  ScheduleOptions options;
  std::shared_ptr<SimEngine> engine;
  uint64_t jobs = 0;
};

TEST_F(EngineGpuTest, KeepsAllThatFits) {
  start(300'000'000);
  for (int round = 0; round < 3; ++round) {
    for (const size_t circuit : {kPorep, kSnap, kWindow, kWinning}) EXPECT_EQ(prove(circuit), JobState::kCompleted);
  }
  EXPECT_EQ(device().loads, 4u);
  EXPECT_EQ(engine->budget->used(), 0u);  // nothing of it is the host's
}

// 44 + 9 and 57 + 10 million do not fit together into 100; the least recently used goes, and what fits beside stays.
TEST_F(EngineGpuTest, GivesUpTheLeastRecentlyUsed) {
  start(100'000'000);
  EXPECT_EQ(prove(kWinning), JobState::kCompleted);
  EXPECT_EQ(prove(kPorep), JobState::kCompleted);
  EXPECT_EQ(device().resident, (Ids{"winning-2k", "porep-2k"}));
  EXPECT_EQ(prove(kWinning), JobState::kCompleted);
  EXPECT_EQ(prove(kWindow), JobState::kCompleted);
  EXPECT_EQ(device().resident, (Ids{"winning-2k", "window-2k"}));
  EXPECT_EQ(prove(kPorep), JobState::kCompleted);
  EXPECT_EQ(device().resident, (Ids{"winning-2k", "porep-2k"}));
}

// What has to go for a task goes at once, though nothing else happens: the task was the last to be made ready, and its
// files were known.
TEST_F(EngineGpuTest, RoomIsMadeWithoutWaitingForAnotherEvent) {
  options.journal = false;
  start(80'000'000);
  const auto seconds_for = [&](size_t circuit) {
    const Instant before = world.now();
    const JobKey key = engine->submit(sim_submission(circuit, ++jobs, 1), Attendance::kDetached);
    const Instant end = before + std::chrono::hours(3);
    while (!engine->finished.contains(key) && world.now() < end && world.step()) {
    }
    EXPECT_EQ(engine->results[key].state, JobState::kCompleted);
    return std::chrono::duration_cast<std::chrono::seconds>(world.now() - before).count();
  };
  for (int round = 0; round < 5; ++round) {
    for (const size_t circuit : {kWindow, kPorepSmall, kPorep}) EXPECT_LT(seconds_for(circuit), 60) << round;
    EXPECT_LT(device().resident.size(), 3u);
  }
}

// What is resident may need more scratch memory than what is to be loaded: all of it counts.
TEST_F(EngineGpuTest, TheLargestScratchOfAllCounts) {
  // porep-8m: 30 + 12; snap-2k: 33 + 6. Together 63 + 12.
  start(74'000'000);
  EXPECT_EQ(prove(kPorepSmall), JobState::kCompleted);
  EXPECT_EQ(prove(kSnap), JobState::kCompleted);
  EXPECT_EQ(device().resident, Ids{"snap-2k"});
}

// What is missing, 33 of 30 + 33 + 12 million in 42, is more than what is resident: its scratch memory is not needed
// either once it has gone.
TEST_F(EngineGpuTest, MoreIsMissingThanIsResident) {
  start(42'000'000);
  EXPECT_EQ(prove(kPorepSmall), JobState::kCompleted);
  EXPECT_EQ(prove(kSnap), JobState::kCompleted);
  EXPECT_EQ(device().resident, Ids{"snap-2k"});
  EXPECT_EQ(prove(kPorepSmall), JobState::kCompleted);
}

TEST_F(EngineGpuTest, RoomInPiecesIsMadeOne) {
  start(300'000'000);
  EXPECT_EQ(prove(kPorep), JobState::kCompleted);
  EXPECT_EQ(prove(kSnap), JobState::kCompleted);
  device().in_pieces = true;
  EXPECT_EQ(prove(kWindow), JobState::kCompleted);
  EXPECT_EQ(device().resident, Ids{"window-2k"});
}

// Where the circuit is known at once it is not even taken; where only the input says it, no retry is promised.
TEST_F(EngineGpuTest, WhatNeverFitsIsRefusedOrFailsForGood) {
  start(50'000'000);
  EXPECT_EQ(engine->submit(sim_submission(kWindow, 99, 1), Attendance::kDetached), 0u);
  EXPECT_EQ(engine->last_refusal.reason, Refusal::Reason::kTooLarge);
  EXPECT_EQ(engine->last_refusal.message,
            "no device has the memory to prove window-2k: it needs about 67000000 bytes, and the largest has 50000000 "
            "bytes");
  EXPECT_EQ(prove(kPorep), JobState::kFailed);
  EXPECT_EQ(engine->results.rbegin()->second.error->error_class, ErrorClass::kUnsupported);
  EXPECT_FALSE(retry_helps(engine->results.rbegin()->second.error->error_class));
  EXPECT_EQ(prove(kPorepSmall), JobState::kCompleted);
}

// A GPU's worker says what memory it has some seconds after the start, and jobs of the journal are there before.
TEST_F(EngineGpuTest, WhatIsKnownTooLateToFitNowhereDoesNotWaitForEver) {
  start(300'000'000);
  std::vector<JobKey> keys;
  for (const size_t circuit : {kPorep, kWindow, kPorepSmall}) {
    keys.push_back(engine->submit(sim_submission(circuit, 7 + circuit, 2), Attendance::kDetached));
  }
  world.run_for(Milliseconds(2'000));
  device().gpu_memory = 50'000'000;
  device().die_now();
  world.run_for(std::chrono::minutes(5));
  EXPECT_EQ(world.violation, "");
  for (const JobKey key : {keys[0], keys[1]}) {
    ASSERT_TRUE(engine->finished.contains(key));
    EXPECT_EQ(engine->results[key].error->error_class, ErrorClass::kUnsupported);
  }
  EXPECT_EQ(engine->results[keys[2]].state, JobState::kCompleted);
}

TEST_F(EngineGpuTest, APreloadThatNeverFitsPromisesNoRetry) {
  start(50'000'000);
  std::optional<ErrorClass> told;
  engine->core->preload("window-2k", [&](Result<Engine::Preloaded> result) { told = result.error().error_class; });
  world.run_for(Milliseconds(5'000));
  EXPECT_EQ(told, ErrorClass::kUnsupported);
}

TEST_F(EngineGpuTest, StatusTellsWhatIsFree) {
  start(300'000'000);
  EXPECT_EQ(prove(kPorep), JobState::kCompleted);
  const EngineStatus status = engine->core->status();
  ASSERT_EQ(status.devices.size(), 1u);
  EXPECT_TRUE(status.devices[0].info.is_gpu);
  EXPECT_EQ(status.devices[0].info.memory_free_bytes, 300'000'000u - 44'000'000u);
  ASSERT_EQ(status.resident.size(), 1u);
  EXPECT_EQ(status.resident[0].circuit_id, "porep-2k");
}

}  // namespace
}  // namespace cuzk::test
