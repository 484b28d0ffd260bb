// Partitions of a job that a device proves together, in a simulated world.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "engine/schedules_test_support.hpp"

namespace cuzk::test {
namespace {

constexpr size_t kPorep = 0, kSnap = 2, kWindow = 3, kWinning = 4;

class EngineGroupTest : public testing::Test {
 protected:
  EngineGroupTest() : world(7) {
    options.budget = 600'000'000;
    options.threads = 4;
    options.engine.other_group = 10;
  }
  ~EngineGroupTest() override {
    if (engine != nullptr && engine->core != nullptr) engine->kill();
  }
  void start() {
    engine = std::make_shared<SimEngine>(world, options, disk);
    engine->start();
    for (SimDevice* device : engine->devices) {
      device->on_prove = [this, device](uint32_t ordinal, const PackedWitness& witness) {
        engine->check_order(ordinal, witness);
        begun.push_back({witness.inputs[0].to_plain()[0], static_cast<uint32_t>(witness.inputs[1].to_plain()[0])});
        if (device->state() != DeviceState::kIdle) return;
        if (const auto then = std::exchange(before_group, nullptr)) then();
      };
    }
  }
  JobKey submit(size_t circuit, uint64_t sector, uint32_t partitions, std::optional<Priority> priority = std::nullopt) {
    Submission s = sim_submission(circuit, sector, partitions, "job-" + std::to_string(sector));
    if (priority) s.priority = *priority;
    return engine->submit(s, Attendance::kDetached);
  }
  const JobResult& result_of(JobKey key) {
    run_until([&] { return engine->finished.contains(key); });
    EXPECT_EQ(world.violation, "");
    return engine->results[key];
  }
  template <class Condition>
  void run_until(Condition condition) {
    const Instant end = world.now() + std::chrono::hours(2);
    while (!condition() && world.now() < end && world.step()) engine->check_memory();
    ASSERT_TRUE(condition());
  }
  void run_until_group(uint32_t least, uint32_t device = 0) {
    const SimDevice& on = *engine->devices[device];
    const size_t before = on.groups.size();
    run_until([&] { return on.groups.size() > before && on.groups.back() >= least; });
  }
  void preload(const char* circuit) {
    bool loaded = false;
    engine->core->preload(circuit, [&](auto result) { loaded = result.ok(); });
    run_until([&] { return loaded; });
  }
  SimDevice& device() { return *engine->devices[0]; }
  uint32_t largest_group(uint32_t of = 0) {
    const auto& groups = engine->devices[of]->groups;
    return groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end());
  }
  EngineStatus status() const { return engine->core->status(); }

  struct Begun {
    uint64_t sector;
    uint32_t partition;
  };
  World world;
  ScheduleOptions options;
  std::shared_ptr<SimDisk> disk = std::make_shared<SimDisk>();
  std::shared_ptr<SimEngine> engine;
  std::vector<Begun> begun;
  // Partitions of the sector, without the first `skipped` of all.
  size_t begun_of(uint64_t sector, size_t skipped) const {
    return static_cast<size_t>(std::count_if(begun.begin() + static_cast<std::ptrdiff_t>(skipped), begun.end(),
                                             [&](const Begun& b) { return b.sector == sector; }));
  }
  std::function<void()> before_group;  // called once, when the engine has decided on the next and no device knows of it
};

TEST_F(EngineGroupTest, WhatIsReadyOfAJobIsProvedTogether) {
  start();
  const JobResult& result = result_of(submit(kPorep, 1, 10));
  EXPECT_EQ(result.state, JobState::kCompleted);
  EXPECT_EQ(begun.size(), 10u);
  EXPECT_EQ(device().groups, std::vector<uint32_t>{10}) << "all were ready before the parameters were";
  EXPECT_EQ(device().yields, 0u);
  // Shares of the group's time.
  EXPECT_GT(result.times.gpu_compute_ms, 10 * 2'000u);
  EXPECT_LE(result.times.gpu_compute_ms, 10 * 4'000u);
  result_of(submit(kPorep, 2, 12));
  EXPECT_EQ(begun.size(), 22u);
  EXPECT_GE(largest_group(), 9u);
}

TEST_F(EngineGroupTest, OneAtATimeWhereTheOptionSaysSo) {
  options.engine.other_group = 1;
  start();
  result_of(submit(kPorep, 1, 5));
  EXPECT_EQ(device().groups, (std::vector<uint32_t>{1, 1, 1, 1, 1}));
}

// Nothing begins on the device between the partition that is there and those of a CRITICAL job, at whatever moment it
// comes, and nothing is proved twice for it.
TEST_F(EngineGroupTest, ACriticalJobOvertakesAtTheNextPartition) {
  start();
  std::vector<JobKey> large;
  for (uint64_t i = 0; i < 3; ++i) large.push_back(submit(kPorep, 100 + i, 60));
  preload("winning-2k");
  run_until_group(9);
  size_t in_groups = 0;
  for (uint64_t i = 0; i < 30; ++i) {
    world.run_for(world.random_time(1'000, 8'000));
    ASSERT_TRUE(CoreInspection(*engine->core).proving(0));
    in_groups += device().groups.back() > 1;
    const size_t before = begun.size();
    ASSERT_EQ(result_of(submit(kWinning, 1'000 + i, 1)).state, JobState::kCompleted);
    ASSERT_GT(begun.size(), before);
    EXPECT_EQ(begun[before].sector, 1'000 + i) << "a partition of sector " << begun[before].sector << " went before it";
  }
  EXPECT_GT(in_groups, 10u);
  EXPECT_GT(device().yields, 10u);
  for (const JobKey key : large) EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  EXPECT_EQ(begun.size(), 3 * 60 + 30u);
  EXPECT_EQ(status().redone_partitions + status().device_faults, 0u);
}

TEST_F(EngineGroupTest, AnOlderJobDoesToo) {
  start();
  preload("porep-2k");
  const JobKey low = submit(kPorep, 1, 20, Priority::kLow);
  run_until_group(9);
  const size_t before = begun.size();
  const JobKey normal = submit(kPorep, 2, 2, Priority::kNormal);
  EXPECT_EQ(result_of(normal).state, JobState::kCompleted);
  EXPECT_LE(begun_of(1, before), 2u);  // while it was read and its first witness made
  EXPECT_EQ(result_of(low).state, JobState::kCompleted);
  EXPECT_EQ(begun.size(), 22u);
}

// Parameters that have to be loaded first, for a job that goes before the group.
TEST_F(EngineGroupTest, ALoadForWhoGoesBeforeComesAtTheNextPartition) {
  start();
  preload("porep-2k");
  const JobKey low = submit(kPorep, 1, 20, Priority::kLow);
  run_until_group(9);
  submit(kSnap, 2, 1, Priority::kHigh);
  run_until([&] { return device().state() == DeviceState::kLoading; });
  EXPECT_LE(begun.size(), 3u);
  EXPECT_EQ(result_of(low).state, JobState::kCompleted);
}

// The first in order is passed over for its parameters no longer than that.
TEST_F(EngineGroupTest, PatienceEndsAGroup) {
  options.engine.swap_patience = Milliseconds(10'000);
  options.budget = 80'000'000;  // one of the two at a time
  start();
  preload("porep-2k");
  const JobKey older = submit(kSnap, 1, 1, Priority::kLow);
  const JobKey younger = submit(kPorep, 2, 40, Priority::kNormal);
  run_until_group(5);
  const Instant begin = world.now();
  ASSERT_EQ(submit(kSnap, 1, 1, Priority::kNormal), older);
  run_until([&] { return device().state() == DeviceState::kLoading || engine->finished.contains(younger); });
  EXPECT_GE(world.now() - begin, Milliseconds(10'000));
  EXPECT_LE(world.now() - begin, Milliseconds(10'000 + 4'000 + 1'000));
  EXPECT_EQ(result_of(older).state, JobState::kCompleted);
  EXPECT_FALSE(engine->finished.contains(younger));
  EXPECT_EQ(result_of(younger).state, JobState::kCompleted);
}

TEST_F(EngineGroupTest, TheDevicesMemoryCutsAGroup) {
  options.engine.gpu_group = 10;
  options.gpu_memory = kCircuits[kPorep].resident + kCircuits[kPorep].scratch(3);
  start();
  EXPECT_EQ(result_of(submit(kPorep, 1, 10)).state, JobState::kCompleted);
  EXPECT_EQ(device().groups, (std::vector<uint32_t>{3, 3, 3, 1}));
  // Another circuit beside it leaves room for less.
  preload("winning-2k");
  EXPECT_EQ(result_of(submit(kPorep, 2, 10)).state, JobState::kCompleted);
  EXPECT_EQ(*std::max_element(device().groups.begin() + 4, device().groups.end()), 2u);
}

TEST_F(EngineGroupTest, TheHostsMemoryCutsAGroup) {
  options.budget = kCircuits[kPorep].resident + kCircuits[kPorep].scratch(4) + 10 * kCircuits[kPorep].witness;
  start();
  EXPECT_EQ(result_of(submit(kPorep, 1, 10)).state, JobState::kCompleted);
  EXPECT_GE(largest_group(), 2u);
  EXPECT_LE(largest_group(), 8u);
}

TEST_F(EngineGroupTest, CancelAndDeadlineEndTheWholeGroup) {
  options.journal = false;
  start();
  for (const bool by_deadline : {false, true}) {
    Submission s = sim_submission(kPorep, 1, 10, "c");
    if (by_deadline) s.deadline = SimClock(world).system_now() + std::chrono::seconds(8);
    const size_t before = begun.size();
    const JobKey key = engine->submit(s, Attendance::kAwaited);
    run_until_group(8);
    world.run_for(Milliseconds(500));
    if (!by_deadline) engine->core->cancel("c");
    EXPECT_EQ(result_of(key).state, by_deadline ? JobState::kExpired : JobState::kCancelled);
    const size_t then = begun.size();
    EXPECT_LT(then - before, 5u);
    world.run_for(Milliseconds(4'500));
    EXPECT_EQ(begun.size(), then) << "nothing more is begun for it";
    EXPECT_TRUE(engine->devices[0]->state() == DeviceState::kIdle);
    const CoreInspection see(*engine->core);
    EXPECT_EQ(see.runs() + see.tasks() + see.held_bytes(), 0u);
    EXPECT_EQ(engine->budget->used("witness") + engine->budget->used("proving"), 0u);
  }
  EXPECT_EQ(status().device_faults, 0u);
  EXPECT_EQ(result_of(submit(kPorep, 2, 3)).state, JobState::kCompleted);
}

// All of them are tried again, each by itself, so that one that kills its device takes no others with it again.
TEST_F(EngineGroupTest, AFaultOfTheDeviceIsOneOfAllInTheGroup) {
  start();
  const JobKey key = submit(kPorep, 1, 10);
  device().fail_in_group_of = 10;
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  EXPECT_EQ(status().device_faults, 1u);
  EXPECT_EQ(status().redone_partitions, 10u);
  EXPECT_EQ(device().groups, (std::vector<uint32_t>{10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST_F(EngineGroupTest, AGroupIsRedoneOnAnotherDevice) {
  options.devices = 2;
  start();
  preload("porep-2k");
  const JobKey key = submit(kPorep, 1, 10);
  for (SimDevice* device : engine->devices) device->fail_in_group_of = 4;
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  EXPECT_GE(status().device_faults, 1u);
  EXPECT_EQ(status().redone_partitions, 4 * status().device_faults);
}

TEST_F(EngineGroupTest, OfAWrongProofOnlyThatPartitionIsRemade) {
  start();
  const JobKey key = submit(kPorep, 1, 10);
  device().wrong_next = 1;
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  EXPECT_EQ(status().wrong_proofs, 1u);
  EXPECT_EQ(status().redone_partitions, 1u);
  EXPECT_EQ(begun.size(), 11u);
  // The same where the device finds it itself.
  const JobKey next = submit(kPorep, 2, 10);
  device().error_next = 1;
  device().error_class = ErrorClass::kBadProof;
  EXPECT_EQ(result_of(next).state, JobState::kCompleted);
  EXPECT_EQ(status().wrong_proofs, 2u);
  EXPECT_EQ(begun.size(), 22u);
}

// Whatever its reason is, a device may end before the last.
TEST_F(EngineGroupTest, WhatIsLeftOfAGroupGoesBackAsIfNeverBegun) {
  options.faults.short_group = 1;
  start();
  EXPECT_EQ(result_of(submit(kPorep, 1, 4)).state, JobState::kCompleted);
  EXPECT_EQ(device().groups, (std::vector<uint32_t>{4, 3, 2, 1}));
  EXPECT_EQ(begun.size(), 4u);
  EXPECT_EQ(status().redone_partitions + status().device_faults, 0u);
}

// A timeline has no beginning without an end.
TEST_F(EngineGroupTest, WhatGoesBackToTheQueueIsNotToldAsBegun) {
  start();
  preload("winning-2k");
  preload("porep-2k");
  const JobKey large = submit(kPorep, 1, 10);
  run_until_group(9);
  EXPECT_EQ(result_of(submit(kWinning, 2, 1)).state, JobState::kCompleted);
  EXPECT_GE(device().yields, 1u);
  EXPECT_EQ(result_of(large).state, JobState::kCompleted);
  size_t again = 0;
  for (const auto& [partition, told] : engine->told) {
    EXPECT_EQ(told.begun, 1u);
    EXPECT_EQ(told.ended, 1u);
    EXPECT_EQ(told.picked_up, told.ready);
    again += told.picked_up - 1;
  }
  EXPECT_GE(again, 8u);
}

TEST_F(EngineGroupTest, DevicesShareAJob) {
  options.devices = 2;
  start();
  preload("porep-2k");
  const JobResult& result = result_of(submit(kPorep, 1, 10));
  EXPECT_EQ(result.state, JobState::kCompleted);
  EXPECT_LE(largest_group(0), 5u);
  EXPECT_LE(largest_group(1), 5u);
  EXPECT_LT(result.times.total_ms, 26'000u);  // 10 proofs of 2 to 4 s
  EXPECT_EQ(begun.size(), 10u);
}

TEST_F(EngineGroupTest, ADeviceWithNothingToDoGetsTheRest) {
  options.devices = 2;
  start();
  preload("porep-2k");
  for (uint64_t i = 0; i < 20; ++i) EXPECT_EQ(result_of(submit(kPorep, 1 + i, 12)).state, JobState::kCompleted);
  EXPECT_GE(engine->devices[0]->yields + engine->devices[1]->yields, 5u);
  EXPECT_EQ(begun.size(), 240u);
}

TEST_F(EngineGroupTest, ADrainWaitsForNoMoreThanWhatWasBegun) {
  start();
  const JobKey key = submit(kPorep, 1, 10);
  run_until_group(8);
  bool drained = false;
  engine->core->drain(world.now() + std::chrono::hours(1), [&] { drained = true; });
  world.run_for(Milliseconds(4'200));
  EXPECT_TRUE(drained);
  EXPECT_EQ(begun.size(), 1u);
  EXPECT_FALSE(engine->finished.contains(key));
  EXPECT_EQ(engine->budget->used("witness"), 0u);
}

// Proofs of a group that the device finds wrong itself are one check, as those of a job that are verified together are:
// they alone do not take the device out of use.
TEST_F(EngineGroupTest, AGroupOfWrongProofsIsOneCheck) {
  start();
  const JobKey key = submit(kPorep, 1, 10);
  device().error_next = 10;
  device().error_class = ErrorClass::kBadProof;
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  EXPECT_EQ(device().groups.front(), 10u);
  EXPECT_EQ(status().wrong_proofs, 10u);
  EXPECT_EQ(status().devices[0].distrusted, 0u);
  EXPECT_TRUE(device().replaced.empty());
}

// Its process is replaced for proofs of others that were found wrong meanwhile: the group goes back as it was.
TEST_F(EngineGroupTest, AReplacedProcessTakesNoGroupOfAnotherJobWithIt) {
  options.engine.max_fault_retries = 0;
  start();
  preload("porep-2k");
  preload("winning-2k");
  device().wrong_next = 2;
  EXPECT_EQ(result_of(submit(kWinning, 1, 1)).state, JobState::kFailed);
  const JobKey large = submit(kPorep, 2, 10);
  run_until_group(8);
  const JobKey third = submit(kWinning, 3, 1);
  run_until([&] { return !begun.empty() && begun.back().sector == 3; });
  device().wrong_next = 1;
  const size_t groups = device().groups.size();
  run_until([&] { return !device().replaced.empty(); });
  ASSERT_GT(device().groups.size(), groups) << "verification is to find the group on the device";
  EXPECT_EQ(result_of(third).state, JobState::kCompleted);
  EXPECT_EQ(result_of(large).state, JobState::kCompleted);
  EXPECT_EQ(status().device_faults, 0u);
  EXPECT_EQ(status().redone_partitions, 2u) << "those that were wrong";
  EXPECT_GE(device().groups.back(), 8u) << "not each by itself";
}

TEST_F(EngineGroupTest, NothingIsBegunOnAProcessThatIsBeingReplaced) {
  options.engine.max_fault_retries = options.engine.max_wrong_retries = 0;
  start();
  preload("porep-2k");
  preload("snap-2k");
  device().error_next = 3;  // which the device finds itself, so that it is free when they are known
  device().error_class = ErrorClass::kBadProof;
  for (uint64_t i = 1; i <= 3; ++i) submit(kSnap, i, 1, Priority::kLow);
  run_until([&] { return begun.size() == 3; });
  const JobKey large = submit(kPorep, 4, 10);
  run_until([&] { return device().error_next == 0; });
  EXPECT_EQ(result_of(large).state, JobState::kCompleted);
  EXPECT_EQ(device().replaced.size(), 1u);
  EXPECT_EQ(status().device_faults, 0u);
  EXPECT_EQ(begun_of(4, 0), 10u);
}

// Another thread asks for the end of work before the device has heard of it.
TEST_F(EngineGroupTest, WhatComesBeforeTheDeviceKnowsOfTheGroupIsNotLost) {
  start();
  preload("porep-2k");
  preload("winning-2k");
  const JobKey first = submit(kPorep, 1, 20);
  run_until_group(8);
  before_group = [this] { engine->core->cancel("job-1"); };
  EXPECT_EQ(result_of(first).state, JobState::kCancelled);
  const size_t then = begun.size();
  run_until([&] { return device().state() == DeviceState::kIdle; });
  EXPECT_GE(device().groups.back(), 8u);
  EXPECT_LE(begun.size(), then) << "it was not stopped";

  const JobKey second = submit(kPorep, 2, 20);
  run_until_group(8);
  JobKey critical = 0;
  before_group = [&] { critical = submit(kWinning, 3, 1, Priority::kCritical); };
  run_until([&] { return critical != 0; });
  const size_t before = begun.size();
  EXPECT_EQ(result_of(critical).state, JobState::kCompleted);
  ASSERT_GT(begun.size(), before);
  EXPECT_EQ(begun[before].sector, 3u);
  EXPECT_GE(device().yields, 1u);
  EXPECT_EQ(result_of(second).state, JobState::kCompleted);
}

// A cancel that was meant for a job before it, and came when that one had just ended.
TEST_F(EngineGroupTest, ACancelForAnotherIsNoFault) {
  options.engine.max_fault_retries = 0;
  start();
  const JobKey key = submit(kPorep, 1, 10);
  run_until_group(8);
  device().cancel();
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  EXPECT_EQ(status().redone_partitions + status().device_faults, 0u);
  EXPECT_EQ(device().groups, (std::vector<uint32_t>{10, 10}));
}

TEST_F(EngineGroupTest, ADrainThatIsCutLeavesTheJobToTheJournal) {
  options.engine.max_fault_retries = 0;
  start();
  const JobKey key = submit(kPorep, 1, 10);
  run_until_group(8);
  bool drained = false;
  engine->core->drain(world.now() + Milliseconds(100), [&] { drained = true; });
  world.run_for(Milliseconds(10'000));
  EXPECT_TRUE(drained);
  EXPECT_FALSE(engine->finished.contains(key)) << "the next start goes on with it";
  EXPECT_EQ(engine->budget->used("witness"), 0u);
}

// Whoever goes before and lacks memory that the group holds waits for no more than a partition either.
TEST_F(EngineGroupTest, WhoLacksMemoryEndsAGroup) {
  const SimCircuit& porep = kCircuits[kPorep];
  const uint64_t need = porep.resident + porep.scratch(9) + 9 * porep.witness;
  options.budget = need + need / 31 + porep.witness / 2;  // with headroom
  start();
  preload("porep-2k");
  const JobKey low = submit(kPorep, 1, 10, Priority::kLow);
  run_until_group(9);
  const size_t before = begun.size();
  const JobKey high = submit(kPorep, 2, 1, Priority::kHigh);
  EXPECT_EQ(result_of(high).state, JobState::kCompleted);
  EXPECT_LE(begun_of(1, before), 2u);
  EXPECT_EQ(result_of(low).state, JobState::kCompleted);
}

// A preload whose files are still being read and digested, which takes minutes the first time.
TEST_F(EngineGroupTest, APreloadCutsNoGroupBeforeItCanBegin) {
  start();
  preload("porep-2k");
  const JobKey key = submit(kPorep, 1, 10);
  run_until_group(9);
  std::optional<bool> preloaded;
  engine->executor->next_takes = Milliseconds(12'000);
  engine->core->preload("snap-2k", [&](auto result) { preloaded = result.ok(); });
  world.run_for(Milliseconds(11'000));
  EXPECT_EQ(device().yields, 0u);
  run_until([&] { return device().state() == DeviceState::kLoading; });
  EXPECT_FALSE(engine->finished.contains(key)) << "it is older than all jobs";
  run_until([&] { return preloaded.has_value(); });
  EXPECT_EQ(preloaded, true);
  EXPECT_EQ(result_of(key).state, JobState::kCompleted);
}

// One that lacks memory as long as work goes on keeps groups small, and a device free, for a time only.
TEST_F(EngineGroupTest, APreloadThatLacksMemoryIsGivenUp) {
  options.devices = 2;
  options.budget = 105'000'000;  // porep-2k, a group, and not window-2k beside them
  start();
  const JobKey first = submit(kPorep, 1, 10, Priority::kHigh);
  run_until([&] { return CoreInspection(*engine->core).proving(0) || CoreInspection(*engine->core).proving(1); });
  const uint32_t at = CoreInspection(*engine->core).proving(0) ? 0 : 1;
  std::vector<JobKey> keys = {first};
  for (uint64_t i = 2; i < 12; ++i) keys.push_back(submit(kPorep, i, 10, Priority::kHigh));
  bool answered = false;
  engine->core->preload("window-2k", [&](auto) { answered = true; });
  world.run_for(Milliseconds(45'000));
  const size_t then = engine->devices[at]->groups.size();
  world.run_for(Milliseconds(60'000));
  const std::vector<uint32_t>& groups = engine->devices[at]->groups;
  EXPECT_GE(*std::max_element(groups.begin() + static_cast<std::ptrdiff_t>(then), groups.end()), 4u);
  for (const JobKey key : keys) EXPECT_EQ(result_of(key).state, JobState::kCompleted);
  run_until([&] { return answered; });  // by the device that was busy
}

TEST_F(EngineGroupTest, JobsOfOnePartitionHaveNoMoreWitnessesAhead) {
  start();
  for (uint64_t i = 0; i < 12; ++i) submit(kWindow, 1 + i, 1);
  run_until([&] { return CoreInspection(*engine->core).proving(0).has_value(); });
  EXPECT_LE(engine->budget->used("witness"), 4 * kCircuits[kWindow].witness);
}

}  // namespace
}  // namespace cuzk::test
