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

}  // namespace
}  // namespace cuzk::test
