// A drain while the journal is being written: who is answered that his job is accepted is not cancelled by it
// (models/daemon.pml found that).
#include <gtest/gtest.h>

#include "engine/schedules_test_support.hpp"

namespace cuzk::test {
namespace {

constexpr size_t kPorep = 0;

class EngineDrainTest : public testing::Test {
 protected:
  EngineDrainTest() : world(11) {
    options.budget = 600'000'000;
    start();
  }
  ~EngineDrainTest() override { engine->kill(); }

  void start() {
    engine = std::make_shared<SimEngine>(world, options, disk);
    engine->start();
  }
  // SIGTERM comes while the next accept() is being written, and its deadline passes if that is `late`.
  void drain_during_accept(bool late) {
    disk->during_accept = [this, late] {
      engine->core->drain(world.now() + std::chrono::seconds(10), [] {});
      if (late) world.run_for(Milliseconds(20'000));
    };
  }
  // What was promised by this process is kept by the next.
  void expect_proved_after_restart(JobKey key, const char* id) {
    ASSERT_NE(key, 0u) << "it was refused";
    world.run_for(Milliseconds(60'000));
    EXPECT_FALSE(disk->records.at(key).result.has_value());
    engine->kill();
    start();
    ASSERT_EQ(engine->core->find(id), key);
    const Instant end = world.now() + std::chrono::hours(2);
    while (!engine->finished.contains(key) && world.now() < end && world.step()) {
    }
    EXPECT_EQ(engine->results[key].state, JobState::kCompleted);
    EXPECT_EQ(world.violation, "");
  }

  World world;
  ScheduleOptions options;
  std::shared_ptr<SimDisk> disk = std::make_shared<SimDisk>();
  std::shared_ptr<SimEngine> engine;
};

TEST_F(EngineDrainTest, ANewJobIsLeftToTheJournal) {
  for (const bool late : {false, true}) {
    const std::string id = late ? "late" : "early";
    drain_during_accept(late);
    const JobKey key = engine->submit(sim_submission(kPorep, 5, 3, id.c_str()), Attendance::kDetached);
    expect_proved_after_restart(key, id.c_str());
  }
}

TEST_F(EngineDrainTest, AnAwaitedJobThatBecomesDetachedIsLeftToTheJournal) {
  for (const bool late : {false, true}) {
    const std::string id = late ? "late" : "early";
    const Submission s = sim_submission(kPorep, late ? 7 : 6, 50, id.c_str());
    const JobKey awaited = engine->submit(s, Attendance::kAwaited);
    engine->core->watch(awaited, [](const JobResult&) {});
    world.run_for(Milliseconds(30'000));
    drain_during_accept(late);
    const JobKey key = engine->submit(s, Attendance::kDetached);
    EXPECT_EQ(key, awaited);
    expect_proved_after_restart(key, id.c_str());
  }
}

// Nobody can come back to them: they do not wait for their grace time.
TEST_F(EngineDrainTest, JobsWithoutClientsAreCancelledAtOnce) {
  const JobKey gone = engine->submit(sim_submission(kPorep, 1, 50, "gone"), Attendance::kAwaited);
  const JobKey leaving = engine->submit(sim_submission(kPorep, 2, 50, "leaving"), Attendance::kAwaited);
  const WatchId client = engine->core->watch(leaving, [](const JobResult&) {});
  world.run_for(Milliseconds(30'000));
  bool drained = false;
  engine->core->drain(world.now() + std::chrono::hours(1), [&] { drained = true; });
  world.run_for(Milliseconds(200));
  EXPECT_EQ(engine->results[gone].state, JobState::kCancelled);
  EXPECT_EQ(engine->results[gone].error->error_class, ErrorClass::kCancelled);
  EXPECT_FALSE(engine->finished.contains(leaving));
  EXPECT_FALSE(drained);
  engine->core->unwatch(client);
  world.run_for(Milliseconds(200));
  EXPECT_EQ(engine->results[leaving].state, JobState::kCancelled);
  EXPECT_TRUE(drained);
}

TEST_F(EngineDrainTest, DamagedRecordsAreToldOfBeforeTheyAreForgotten) {
  engine->kill();
  disk->damaged.emplace_back(7, Error(ErrorClass::kCorrupt, "record 7 is damaged"));
  std::vector<std::string> told;
  disk->on_forget = [&] { told = engine->warnings; };
  start();
  EXPECT_EQ(told, std::vector<std::string>{"record 7 is damaged"});
}

// The job ends while its record is being written; its result cannot be, so the next process proves it again.
TEST_F(EngineDrainTest, AResultThatTheJournalRefusesIsToldOf) {
  const Submission s = sim_submission(kPorep, 5, 1, "twice");
  const JobKey key = engine->submit(s, Attendance::kAwaited);
  engine->core->watch(key, [](const JobResult&) {});
  disk->during_accept = [this] { world.run_for(Milliseconds(60'000)); };
  disk->refuses_results = true;
  EXPECT_EQ(engine->submit(s, Attendance::kDetached), key);
  ASSERT_EQ(engine->results[key].state, JobState::kCompleted);
  EXPECT_EQ(engine->warnings, std::vector<std::string>{"the disk is full of proofs"});
}

}  // namespace
}  // namespace cuzk::test
