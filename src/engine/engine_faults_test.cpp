// Faults, wrong proofs, memory and parameters, one behaviour at a time, in a simulated world.
#include <gtest/gtest.h>

#include "engine/schedules_test_support.hpp"

namespace cuzk::test {
namespace {

constexpr size_t kPorep = 0, kPorep8m = 1, kSnap = 2, kWindow = 3, kWinning = 4;

class EngineFaultsTest : public testing::Test {
 protected:
  EngineFaultsTest() : world(11) { options.budget = 600'000'000; }
  ~EngineFaultsTest() override {
    if (engine != nullptr && engine->core != nullptr) engine->kill();
  }

  void start() {
    engine = std::make_shared<SimEngine>(world, options, disk);
    engine->start();
  }
  JobKey submit(const Submission& s) { return engine->submit(s, Attendance::kDetached); }
  const JobResult& result_of(JobKey key) {
    const auto has_ended = [&] { return engine->finished.contains(key); };
    const Instant end = world.now() + std::chrono::hours(2);
    while (!has_ended() && world.now() < end && world.step()) engine->check_memory();
    EXPECT_TRUE(has_ended());
    EXPECT_EQ(world.violation, "");
    return engine->results[key];
  }
  EngineStatus status() const { return engine->core->status(); }

  World world;
  ScheduleOptions options;
  std::shared_ptr<SimDisk> disk = std::make_shared<SimDisk>();
  std::shared_ptr<SimEngine> engine;
};

TEST_F(EngineFaultsTest, AFaultOfTheDeviceIsNotNoticed) {
  start();
  const JobKey key = submit(sim_submission(kPorep, 1, 4));
  engine->devices[0]->fail_next = 3;
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  EXPECT_EQ(status().device_faults, 3u);
  EXPECT_EQ(status().redone_partitions, 3u);
  EXPECT_EQ(status().devices[0].restarts, 3u);
  EXPECT_EQ(engine->devices[0]->loads, 4u);
}

TEST_F(EngineFaultsTest, APartitionUnderWhichDevicesFailAgainAndAgainFailsItsJobAlone) {
  start();
  const JobKey key = submit(sim_submission(kPorep, 1, 4)), next = submit(sim_submission(kPorep, 2, 1));
  engine->devices[0]->fail_next = 4;
  const JobResult& result = result_of(key);
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_EQ(result.error->message, "partition 0 GPU prove failed: the process ended");
  EXPECT_EQ(result.error->error_class, ErrorClass::kDeviceFault);
  EXPECT_EQ(result_of(next).state, JobState::kCompleted);
}

TEST_F(EngineFaultsTest, AFaultIsRedoneOnAnotherDevice) {
  options.devices = 2;
  start();
  world.run_for(Milliseconds(1'000));
  const JobKey key = submit(sim_submission(kWinning, 1, 1));
  std::vector<uint32_t> used;
  for (SimDevice* device : engine->devices) {
    device->on_prove = [&](uint32_t ordinal, const PackedWitness&) { used.push_back(ordinal); };
    device->fail_next = 1;
  }
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  ASSERT_EQ(used.size(), 3u);
  EXPECT_NE(used[0], used[1]);
  EXPECT_NE(used[1], used[2]);
}

TEST_F(EngineFaultsTest, AWrongProofIsRedoneElsewhereAndCounted) {
  options.devices = 2;
  start();
  world.run_for(Milliseconds(1'000));
  const JobKey key = submit(sim_submission(kWinning, 1, 1));
  std::vector<uint32_t> used;
  for (SimDevice* device : engine->devices) {
    device->on_prove = [&, device](uint32_t ordinal, const PackedWitness&) {
      if (used.empty()) device->wrong_next = 1;
      used.push_back(ordinal);
    };
  }
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  ASSERT_EQ(used.size(), 2u);
  EXPECT_NE(used[0], used[1]);
  EXPECT_EQ(status().wrong_proofs, 1u);
  EXPECT_EQ(status().redone_partitions, 1u);
}

TEST_F(EngineFaultsTest, ASecondWrongProofFailsTheJobAndNeverLeaves) {
  start();
  const JobKey key = submit(sim_submission(kPorep, 77, 3));
  engine->devices[0]->wrong_next = 4;  // all three, then the first again
  const JobResult& result = result_of(key);
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_TRUE(result.proof.empty());
  EXPECT_EQ(result.error->message,
            "PoRep proof self-check failed: assembled proof did not verify (sector=77, miner=0)");
  EXPECT_EQ(status().wrong_proofs, 4u);
}

// First its process is replaced, then it is out of use for a time; a good proof begins anew.
TEST_F(EngineFaultsTest, ADeviceThatGoesOnComputingWrongProofsIsTakenOutOfUse) {
  start();
  SimDevice& device = *engine->devices[0];
  uint64_t sector = 0;
  const auto prove = [&](uint32_t wrong) {
    device.wrong_next = wrong;
    return result_of(submit(sim_submission(kWinning, ++sector, 1))).state;
  };
  EXPECT_EQ(prove(1), JobState::kCompleted);  // the second try is good
  EXPECT_EQ(prove(2), JobState::kFailed);
  EXPECT_EQ(prove(0), JobState::kCompleted);
  EXPECT_TRUE(device.replaced.empty());
  EXPECT_EQ(prove(2), JobState::kFailed);
  EXPECT_EQ(prove(2), JobState::kFailed);
  EXPECT_EQ(device.replaced, std::vector<std::string>{"computed 3 wrong proofs in a row"});
  EXPECT_EQ(prove(2), JobState::kFailed);
  ASSERT_EQ(device.replaced.size(), 2u);
  EXPECT_EQ(device.replaced[1], "computed 6 wrong proofs in a row, out of use");
  world.run_for(Milliseconds(1));
  EXPECT_EQ(status().devices[0].state, DeviceState::kGivenUp);
  EXPECT_FALSE(status().ready);
  world.run_for(Milliseconds(61'000));  // it is tried again, and trusted once it is right
  device.wrong_next = 1;
  const JobKey again = submit(sim_submission(kWinning, ++sector, 1));
  world.run_for(Milliseconds(100'000));
  EXPECT_EQ(result_of(again).state, JobState::kCompleted);
  EXPECT_EQ(device.replaced.size(), 3u);
  EXPECT_EQ(prove(2), JobState::kFailed);
  EXPECT_EQ(device.replaced.size(), 3u);
  EXPECT_EQ(status().devices[0].wrong_proofs, 12u);
  EXPECT_EQ(status().devices[0].distrusted, 3u);
}

// A device that finds its proof wrong is as little trusted as one that hands it out.
TEST_F(EngineFaultsTest, ASelfCheckThatFailsIsAWrongProof) {
  start();
  SimDevice& device = *engine->devices[0];
  device.error_class = ErrorClass::kBadProof;
  device.error_next = 1;
  EXPECT_EQ(result_of(submit(sim_submission(kWinning, 1, 1))).state, JobState::kCompleted);
  EXPECT_EQ(status().wrong_proofs, 1u);
  EXPECT_EQ(status().redone_partitions, 1u);
  device.error_next = 2;
  const JobResult& result = result_of(submit(sim_submission(kWinning, 2, 1)));
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_EQ(result.error->error_class, ErrorClass::kInternal);  // a retry may help
  EXPECT_EQ(status().wrong_proofs, 3u);
  device.error_next = 1;
  result_of(submit(sim_submission(kWinning, 3, 1)));
  EXPECT_EQ(device.replaced, std::vector<std::string>{"computed 3 wrong proofs in a row"});
}

// Whatever else a device says of itself is no wrong proof: the partition is tried again, and the device kept.
TEST_F(EngineFaultsTest, OtherInternalErrorsAreNoWrongProofs) {
  start();
  SimDevice& device = *engine->devices[0];
  device.error_next = 3;
  EXPECT_EQ(result_of(submit(sim_submission(kWinning, 1, 1))).state, JobState::kCompleted);
  EXPECT_EQ(status().redone_partitions, 3u);
  device.error_next = 4;
  const JobResult& result = result_of(submit(sim_submission(kWinning, 2, 1)));
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_EQ(result.error->error_class, ErrorClass::kInternal);
  EXPECT_EQ(result.error->message, "GPU prove failed: as the test wants it");
  EXPECT_EQ(device.error_next, 0u);
  EXPECT_EQ(status().wrong_proofs, 0u);
  EXPECT_EQ(status().devices[0].wrong_proofs, 0u);
  EXPECT_EQ(status().devices[0].distrusted, 0u);
  EXPECT_TRUE(device.replaced.empty());
  EXPECT_TRUE(status().ready);
}

// Once it may be a cancel that came late. Where it goes on so it is a fault, and the process is replaced.
TEST_F(EngineFaultsTest, ADeviceThatGivesUpItsWorkForEverIsAtFault) {
  options.engine.max_fault_retries = 2;
  start();
  SimDevice& device = *engine->devices[0];
  result_of(submit(sim_submission(kWinning, 1, 1)));
  device.stop_next = 1;
  EXPECT_EQ(result_of(submit(sim_submission(kWinning, 2, 1))).state, JobState::kCompleted);
  EXPECT_EQ(status().device_faults, 0u);
  device.stop_next = 2;
  EXPECT_EQ(result_of(submit(sim_submission(kWinning, 3, 1))).state, JobState::kCompleted);
  EXPECT_EQ(status().device_faults, 1u);
  EXPECT_EQ(device.replaced, std::vector<std::string>{"gave up work that nobody had stopped"});
  device.stop_next = 1'000'000;
  for (const size_t circuit : {kWinning, kSnap}) {  // proofs; then a load
    const JobResult& result = result_of(submit(sim_submission(circuit, 4, 1)));
    EXPECT_EQ(result.state, JobState::kFailed);
    EXPECT_EQ(result.error->error_class, ErrorClass::kDeviceFault);
    EXPECT_NE(result.error->message.find("nobody had stopped"), std::string::npos) << result.error->message;
  }
  std::optional<ErrorClass> preloaded;
  engine->core->preload("window-2k", [&](Result<Engine::Preloaded> result) { preloaded = result.error().error_class; });
  world.run_for(std::chrono::minutes(30));
  EXPECT_EQ(preloaded, ErrorClass::kDeviceFault);
  EXPECT_EQ(status().device_faults, 1u + 3 + 3 + 3);
  device.stop_next = 0;
  EXPECT_EQ(result_of(submit(sim_submission(kSnap, 5, 1))).state, JobState::kCompleted);
}

// All partitions of a job that is at fault itself.
TEST_F(EngineFaultsTest, OneJobDoesNotMakeADeviceDistrusted) {
  start();
  const JobKey key = submit(sim_submission(kPorep, 77, 5));
  engine->devices[0]->wrong_next = 10;
  EXPECT_EQ(result_of(key).state, JobState::kFailed);
  EXPECT_TRUE(engine->devices[0]->replaced.empty());
}

TEST_F(EngineFaultsTest, WhatViolatesItsCircuitIsNamed) {
  start();
  Submission s = sim_submission(kPorep, 1, 2);
  s.randomness = kBadWitness;
  const JobResult& result = result_of(submit(s));
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_EQ(result.error->error_class, ErrorClass::kUnsatisfied);
  EXPECT_EQ(result.error->message, "partition 0 synthesis failed: constraint 7 is violated");
}

TEST_F(EngineFaultsTest, WorkThatThrowsFailsItsJobAlone) {
  start();
  Submission s = sim_submission(kPorep, 1, 2);
  s.randomness = kNoMemory;
  const JobKey bad = submit(s), good = submit(sim_submission(kPorep, 2, 2));
  EXPECT_EQ(result_of(bad).error->error_class, ErrorClass::kResource);
  EXPECT_EQ(result_of(good).state, JobState::kCompleted);
}

TEST_F(EngineFaultsTest, MissingParametersFailTheirJobsUntilTheyAreThere) {
  start();
  engine->service->missing.insert("snap-2k");
  const JobKey missing = submit(sim_submission(kSnap, 1, 2)), other = submit(sim_submission(kPorep, 1, 2));
  EXPECT_EQ(result_of(missing).error->error_class, ErrorClass::kNotFound);
  EXPECT_EQ(result_of(other).state, JobState::kCompleted);
  engine->service->missing.clear();
  EXPECT_EQ(result_of(submit(sim_submission(kSnap, 1, 2))).state, JobState::kCompleted);
}

TEST_F(EngineFaultsTest, DamagedParametersFailTheirJobsUntilTheyAreReplaced) {
  start();
  engine->devices[0]->refuses.insert("snap-2k");
  const JobKey first = submit(sim_submission(kSnap, 1, 2)), second = submit(sim_submission(kSnap, 2, 2));
  EXPECT_EQ(result_of(first).error->error_class, ErrorClass::kCorrupt);
  EXPECT_EQ(result_of(second).error->error_class, ErrorClass::kCorrupt);
  engine->devices[0]->refuses.clear();
  world.run_for(options.engine.refused_load_pause);
  EXPECT_EQ(result_of(submit(sim_submission(kSnap, 1, 2))).state, JobState::kCompleted);
}

TEST_F(EngineFaultsTest, ADeviceThatCannotLoadACircuitLeavesItToAnother) {
  options.devices = 2;
  start();
  engine->devices[0]->refuses.insert("snap-2k");
  EXPECT_EQ(result_of(submit(sim_submission(kSnap, 1, 4))).state, JobState::kCompleted);
  EXPECT_EQ(engine->devices[0]->loads, 0u);
  ASSERT_FALSE(engine->warnings.empty()) << "nobody would know why it does nothing";
  EXPECT_EQ(engine->warnings.front(), "device 0 cannot load snap-2k: damaged parameters");
}

TEST_F(EngineFaultsTest, WithoutADeviceAwaitedJobsFailSoonAndJournalledOnesWait) {
  options.faults.give_up = 1;
  start();
  world.run_for(Milliseconds(1'000));
  const JobKey kept = submit(sim_submission(kPorep, 1, 1));
  const JobKey awaited = engine->submit(sim_submission(kPorep, 2, 1), Attendance::kAwaited);
  engine->core->watch(awaited, [](const JobResult&) {});
  for (int i = 0; i < 40; ++i) {  // it comes back only to be lost again
    engine->devices[0]->die_now();
    world.run_for(Milliseconds(1'000));
  }
  EXPECT_EQ(result_of(awaited).error->error_class, ErrorClass::kDeviceUnusable);
  EXPECT_FALSE(status().ready);
  EXPECT_EQ(result_of(kept).state, JobState::kCompleted);
}

TEST_F(EngineFaultsTest, WhatCanNeverFitIsRefusedAtOnceWithTheNumbers) {
  options.budget = 60'000'000;  // window-2k needs 57 MB and 10 MB to prove
  start();
  EXPECT_EQ(submit(sim_submission(kWindow, 1, 1)), 0u);
  EXPECT_EQ(engine->last_refusal.reason, Refusal::Reason::kTooLarge);
  EXPECT_NE(engine->last_refusal.message.find("60000000"), std::string::npos) << engine->last_refusal.message;
  // Where only the input says which circuit it needs (the PoReps of this world) it fails, and no retry is promised.
  options.budget = 40'000'000;
  engine->kill();
  start();
  const JobResult& result = result_of(submit(sim_submission(kPorep, 1, 1)));
  EXPECT_EQ(result.error->error_class, ErrorClass::kUnsupported);
  EXPECT_FALSE(retry_helps(result.error->error_class));
  EXPECT_NE(result.error->message.find("40000000"), std::string::npos) << result.error->message;
  EXPECT_EQ(result_of(submit(sim_submission(kWinning, 1, 1))).state, JobState::kCompleted);
}

// A machine that has become smaller: what its journal has is not proved in vain at each start.
TEST_F(EngineFaultsTest, WhatTheJournalHasAndCanNeverFitFailsForGood) {
  start();
  const JobKey key = submit(sim_submission(kWindow, 1, 1));
  engine->kill();
  options.budget = 60'000'000;
  start();
  EXPECT_EQ(result_of(key).error->error_class, ErrorClass::kUnsupported);
}

// Beside the requests of others it does not fit now, and will when they have gone.
TEST_F(EngineFaultsTest, WhatFitsOnlyWithoutOthersRequestsMayBeTriedAgain) {
  options.budget = 62'000'000;
  start();
  Submission large = sim_submission(kWinning, 1, 1);
  large.sector_size = 12'000'000;
  ASSERT_NE(submit(large), 0u);
  const JobResult& result = result_of(submit(sim_submission(kPorep, 2, 1)));
  ASSERT_EQ(result.state, JobState::kFailed);
  EXPECT_EQ(result.error->error_class, ErrorClass::kResource);
  world.run_for(Milliseconds(60'000));
  EXPECT_EQ(result_of(submit(sim_submission(kPorep, 2, 1))).state, JobState::kCompleted);
}

TEST_F(EngineFaultsTest, RequestsAreRefusedBeforeTheyTakeTheRoomOfProofs) {
  options.budget = 90'000'000;
  start();
  Submission s = sim_submission(kPorep, 1, 3);
  s.sector_size = 4'000'000;
  std::vector<JobKey> taken;
  for (uint64_t i = 0; i < 30; ++i) {
    s.sector_number = i;
    if (const JobKey key = submit(s)) taken.push_back(key);
  }
  EXPECT_EQ(engine->last_refusal.reason, Refusal::Reason::kQueueFull);
  EXPECT_GT(engine->last_refusal.retry_after_ms, 0u);
  EXPECT_GT(taken.size(), 5u);
  EXPECT_LT(taken.size(), 25u);
  for (const JobKey key : taken) EXPECT_TRUE(is_final(result_of(key).state));
  EXPECT_NE(submit(s), 0u);
}

TEST_F(EngineFaultsTest, MemoryThatRunsOutInTheJournalRefusesOneSubmission) {
  start();
  disk->no_memory = true;
  EXPECT_EQ(submit(sim_submission(kWinning, 1, 1)), 0u);
  EXPECT_EQ(engine->last_refusal.reason, Refusal::Reason::kQueueFull);
  EXPECT_EQ(engine->last_refusal.message, "the journal cannot be written: out of memory");
  EXPECT_EQ(CoreInspection(*engine->core).runs(), 0u);
  EXPECT_EQ(engine->budget->used(), 0u);
  disk->no_memory = false;
  EXPECT_EQ(result_of(submit(sim_submission(kWinning, 1, 1))).state, JobState::kCompleted);
}

// Requests that come all the time, and are checked all the time, do not keep a large job from the memory that it waits
// for: there is never enough for it and for two checks at once.
TEST_F(EngineFaultsTest, TheFirstInLineIsNotStarvedBySmallerJobs) {
  options.budget = 76'000'000;
  start();
  const JobKey large = submit(sim_submission(kWindow, 1, 1));
  const Instant end = world.now() + std::chrono::seconds(120);
  Submission s = sim_submission(kWinning, 10, 1);
  s.priority = Priority::kHigh;  // as the large one, but younger
  s.sector_size = 1'500'000;     // twice as much for its check
  s.randomness = kBadInput;      // so that nothing but its check is done
  const auto fill = [&] {
    do ++s.sector_number;
    while (world.now() < end && engine->submit(s, Attendance::kAwaited) != 0);
  };
  engine->on_end = [&] { world.in(Milliseconds(0), fill); };  // when the engine has seen to the end
  fill();
  EXPECT_EQ(result_of(large).state, JobState::kCompleted);
  EXPECT_LT(engine->results[large].times.total_ms, 60'000u);  // without a barrier: until no more requests come
  EXPECT_GT(engine->finished.size(), 200u);
  engine->on_end = nullptr;
}

TEST_F(EngineFaultsTest, ParametersAreNotExchangedForEveryJobInTurn) {
  options.budget = 76'000'000;  // one of the two at a time
  start();
  std::vector<JobKey> keys;
  for (uint64_t i = 0; i < 20; ++i) keys.push_back(submit(sim_submission(i % 2 == 0 ? kPorep : kSnap, 1 + i, 1)));
  for (const JobKey key : keys) EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  EXPECT_LE(engine->devices[0]->loads, 6u);  // 20 of them take 90 s on the device; patience is 30 s
}

// A Winning PoSt does not wait for parameters that others have begun to load.
TEST_F(EngineFaultsTest, ALoadGivesWayToCriticalWorkAndIsBegunAgain) {
  start();
  result_of(submit(sim_submission(kWinning, 1, 1)));
  std::optional<bool> preloaded;
  for (const bool by_preload : {false, true}) {
    const JobKey large = submit(sim_submission(by_preload ? kWindow : kPorep, 2, 1));
    if (by_preload) engine->core->preload("snap-2k", [&](auto result) { preloaded = result.ok(); });
    world.run_for(Milliseconds(2'000));
    ASSERT_EQ(engine->devices[0]->state(), DeviceState::kLoading);
    const uint64_t stopped = engine->devices[0]->stopped_loads;
    const JobKey critical = submit(sim_submission(kWinning, 3 + by_preload, 1));
    const JobResult& result = result_of(critical);
    EXPECT_EQ(result.state, JobState::kCompleted);
    EXPECT_LT(result.times.total_ms, 2'000u);  // reading, witness, proof, verification; the load takes 10 to 25 s
    EXPECT_EQ(engine->devices[0]->stopped_loads, stopped + 1);
    EXPECT_EQ(result_of(large).state, JobState::kCompleted);
  }
  world.run_for(Milliseconds(60'000));
  EXPECT_EQ(preloaded, true);
  EXPECT_EQ(status().device_faults, 0u);
}

TEST_F(EngineFaultsTest, ALoadThatNobodyWantsAnyMoreIsStopped) {
  start();
  submit(sim_submission(kPorep, 1, 1, "cancelled"));
  world.run_for(Milliseconds(3'000));
  ASSERT_EQ(engine->devices[0]->state(), DeviceState::kLoading);
  engine->core->cancel("cancelled");
  world.run_for(Milliseconds(500));
  EXPECT_EQ(engine->devices[0]->state(), DeviceState::kIdle);
  EXPECT_EQ(engine->devices[0]->stopped_loads, 1u);
  // Where another job wants it, it goes on.
  submit(sim_submission(kPorep, 1, 1, "cancelled"));
  const JobKey other = submit(sim_submission(kPorep, 2, 1));
  world.run_for(Milliseconds(3'000));
  engine->core->cancel("cancelled");
  EXPECT_EQ(result_of(other).state, JobState::kCompleted);
  EXPECT_EQ(engine->devices[0]->stopped_loads, 1u);
}

// Requests on their way have a room of their own: it is theirs while others wait for memory, and others' is not.
TEST_F(EngineFaultsTest, UploadsAreCountedAndNeitherSideStarvesTheOther) {
  options.budget = 90'000'000;
  options.engine.upload_room_bytes = 10'000'000;
  start();
  std::vector<Reservation> uploads;
  const auto upload = [&](uint64_t bytes) {
    Result<Reservation> taken = engine->core->reserve_upload(bytes);
    if (!taken.ok()) {
      EXPECT_EQ(taken.error().error_class, ErrorClass::kResource);
      EXPECT_TRUE(retry_helps(taken.error().error_class));
      return false;
    }
    uploads.push_back(std::move(taken).value());
    return true;
  };
  // Nobody waits: as much as is free. Parameters that nobody uses go for them.
  result_of(submit(sim_submission(kPorep, 1, 1)));
  EXPECT_FALSE(upload(50'000'000));
  world.run_for(Milliseconds(1'000));
  EXPECT_TRUE(upload(50'000'000));
  EXPECT_EQ(engine->budget->used("uploads"), 50'000'000u);
  // A job that waits for memory gets it when they have ended, and new ones have their room only.
  const JobKey waits = submit(sim_submission(kWindow, 2, 1));
  world.run_for(Milliseconds(5'000));
  EXPECT_FALSE(engine->finished.contains(waits));
  EXPECT_FALSE(upload(2'000'000));
  uploads.clear();
  EXPECT_TRUE(upload(9'000'000));
  EXPECT_FALSE(upload(2'000'000));
  EXPECT_EQ(result_of(waits).state, JobState::kCompleted);
  // A submission takes the place of what it was counted with.
  const SubmitOutcome outcome =
      engine->core->submit(sim_submission(kWinning, 3, 1), Attendance::kDetached, std::move(uploads[0]));
  EXPECT_TRUE(std::holds_alternative<Submitted>(outcome));
  EXPECT_EQ(engine->budget->used("uploads"), 0u);
}

TEST_F(EngineFaultsTest, PreloadAndEvict) {
  start();
  std::vector<std::string> told;
  const auto preload = [&](const char* circuit) {
    engine->core->preload(circuit, [&](Result<Engine::Preloaded> result) {
      told.push_back(!result.ok()             ? result.error().message.substr(0, 22)
                     : result->already_loaded ? "already"
                                              : "loaded " + std::to_string(result->load_ms));
    });
  };
  const auto evict = [&](const char* circuit) {
    engine->core->evict(circuit, [&](Result<Engine::Evicted> result) {
      told.push_back(!result.ok()          ? result.error().message.substr(0, 22)
                     : !result->was_loaded ? "not there"
                                           : "freed " + std::to_string(result->freed_bytes));
    });
  };
  evict("porep-2k");
  preload("porep-2k");
  world.run_for(Milliseconds(30'000));
  preload("porep-2k");
  evict("porep-2k");
  world.run_for(Milliseconds(1'000));
  preload("porep-3k");
  evict("");
  EXPECT_EQ(told, (std::vector<std::string>{"not there", "loaded 20000", "already", "freed 44000000",
                                            "unknown circuit ID: po", "unknown circuit ID: ; "}));
  told.clear();
  const JobKey key = submit(sim_submission(kPorep, 1, 3));
  world.run_for(Milliseconds(26'000));
  ASSERT_TRUE(CoreInspection(*engine->core).job_on(0));
  evict("porep-2k");
  EXPECT_EQ(told, std::vector<std::string>{"the parameters are in "});
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
}

TEST_F(EngineFaultsTest, APreloadThatCannotBeSaysSo) {
  options.budget = 50'000'000;
  start();
  engine->service->missing.insert("porep-8m");
  std::vector<ErrorClass> told;
  for (const char* circuit : {"window-2k", "porep-8m"}) {
    engine->core->preload(circuit, [&](Result<Engine::Preloaded> result) {
      told.push_back(result.ok() ? ErrorClass::kUsage : result.error().error_class);
    });
    world.run_for(Milliseconds(30'000));
  }
  EXPECT_EQ(told, (std::vector{ErrorClass::kUnsupported, ErrorClass::kNotFound}));
  EXPECT_EQ(result_of(submit(sim_submission(kWinning, 1, 1))).state, JobState::kCompleted);
  (void)kPorep8m;
}

// A thousand epochs of Winning PoSt, each with 25 s, under everything else.
TEST_F(EngineFaultsTest, NoWinningDeadlineIsMissedInAThousandEpochs) {
  options.budget = 250'000'000;
  options.engine.jobs.max_jobs = 200;
  start();
  std::vector<JobKey> winning;
  uint64_t sector = 1;
  for (int epoch = 0; epoch < 1000; ++epoch) {
    world.in(std::chrono::seconds(30) * epoch, [&] {
      Submission s = sim_submission(kWinning, ++sector, 1);
      s.deadline = SimClock(world).system_now() + std::chrono::seconds(25);
      winning.push_back(submit(s));
    });
    for (int i = 0; i < 2; ++i) {
      world.in(std::chrono::seconds(30) * epoch + world.random_time(0, 29'999), [&] {
        const size_t circuit = world.random(0, 3);
        const bool post = circuit == kWindow;
        Submission s = sim_submission(circuit, ++sector, post ? 1 : static_cast<uint32_t>(world.random(1, 3)));
        s.priority = static_cast<Priority>(world.random(1, 3));
        submit(s);
      });
    }
  }
  world.run_for(std::chrono::seconds(30) * 1001);
  EXPECT_EQ(world.violation, "");
  ASSERT_EQ(winning.size(), 1000u);
  uint64_t longest = 0;
  for (const JobKey key : winning) {
    const JobResult& result = result_of(key);
    ASSERT_EQ(result.state, JobState::kCompleted);
    longest = std::max(longest, result.times.total_ms);
  }
  RecordProperty("longest_ms", std::to_string(longest));
  EXPECT_LT(longest, 25'000u);
}

}  // namespace
}  // namespace cuzk::test
