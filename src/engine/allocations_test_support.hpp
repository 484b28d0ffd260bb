// A shortage of memory in a simulated world, and jobs that go through it. Include in one source of a test binary, as
// support/failing_allocations.hpp.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/schedules_test_support.hpp"
#include "support/failing_allocations.hpp"

namespace cuzk::test {

// What becomes of the engine's allocations. One thread.
struct Shortage {
  uint64_t fail_at = 0;    // this one fails
  bool lasting = false;    // and all after it, until over()
  bool is_feared = false;  // there is no memory to be seen, though none has failed since
  uint64_t one_in = 0;     // of so many one fails, at random
  uint64_t most_more = 0;  // and up to so many after it
  uint64_t more = 0;       // now
  uint64_t random = 1;
  uint64_t seen = 0, seen_bytes = 0, failed = 0, thrown_away = 0;

  bool is_on() const { return (lasting && seen >= fail_at) || more > 0; }
  uint64_t draw() {
    random = random * 6364136223846793005 + 1442695040888963407;
    return random >> 33;
  }
  void over() { lasting = false; }
};
inline Shortage shortage;

inline bool fails(size_t bytes) {
  if (!in_engine) return false;
  Shortage& s = shortage;
  ++s.seen;
  s.seen_bytes += bytes;
  bool failed = s.seen == s.fail_at || s.is_on();
  s.more -= s.more > 0;
  if (s.one_in > 0 && s.draw() % s.one_in == 0) {
    failed = true;
    if (s.most_more > 0) s.more = std::max(s.more, s.draw() % s.most_more);
  }
  s.failed += failed;
  return failed;
}

inline bool there_is_memory() { return !shortage.is_on() && !shortage.is_feared; }
inline void exit_with_nine() { _exit(9); }

inline constexpr uint64_t kReserveBytes = 1'000'000;

inline std::shared_ptr<MemoryReserve> make_reserve(uint64_t bytes = kReserveBytes) {
  MemoryReserve::Options options;
  options.give_up = exit_with_nine;
  options.bytes = bytes;
  options.there_is_memory = there_is_memory;
  auto made = MemoryReserve::make(options);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

// Some jobs and what happens to them.
class Scenario {
 public:
  Scenario(const ScheduleOptions& options, const Shortage& planned) : world(7), options_(options) {
    shortage = planned;
    options_.reserve = make_reserve();
    start();
    allocation_fails = fails;
  }
  ~Scenario() {
    allocation_fails = nullptr;
    if (engine != nullptr && engine->core != nullptr) engine->kill();
  }
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  void at(int ms, std::function<void()> what) { world.at(World::kStart + Milliseconds(ms), std::move(what)); }

  // A client that comes again when it is refused. `allowed` is a state that the job may end in beside those that any
  // may.
  void submit(int ms, const Submission& s, Attendance attendance, JobState allowed = JobState::kCompleted,
              bool watches = true) {
    at(ms, [=, this] { submit_now(s, attendance, allowed, watches, 40); });
  }
  void cancel(int ms, const std::string& id) {
    at(ms, [this, id] {
      const EngineCode code;
      engine->core->cancel(id);
    });
  }
  void unwatch(int ms, size_t index) {
    at(ms, [this, index] {
      if (index >= watches_.size()) return;
      *watches_[index].gone = true;
      const EngineCode code;
      engine->core->unwatch(watches_[index].id);
    });
  }
  void ask(int ms) {
    at(ms, [this] {
      try {
        const EngineCode code;
        engine->core->status();
        (void)engine->core->find("some-long-id-of-a-job");
      } catch (const std::bad_alloc&) {
        ++shortage.thrown_away;
      }
    });
  }
  void upload(int ms, uint64_t bytes) {
    at(ms, [this, bytes] {
      try {
        const EngineCode code;
        const Result<Reservation> memory = engine->core->reserve_upload(bytes);
        world.expect(memory.ok() || memory.error().error_class == ErrorClass::kResource, "another error of an upload");
      } catch (const std::bad_alloc&) {
        ++shortage.thrown_away;
      }
    });
  }
  void preload(int ms, const char* circuit) {
    at(ms, [this, circuit] {
      ++asked_;
      std::function<void(Result<Engine::Preloaded>)> done = [this](Result<Engine::Preloaded>) { ++answered_; };
      const EngineCode code;
      engine->core->preload(circuit, std::move(done));
    });
  }
  void evict(int ms, const char* circuit) {
    at(ms, [this, circuit] {
      ++asked_;
      std::function<void(Result<Engine::Evicted>)> done = [this](Result<Engine::Evicted>) { ++answered_; };
      const EngineCode code;
      engine->core->evict(circuit, std::move(done));
    });
  }
  void drain(int ms, Milliseconds limit) {
    at(ms, [this, limit] {
      drains_ = true;
      std::function<void()> done = [this] { ++drained_; };
      const Instant deadline = world.now() + limit;
      const EngineCode code;
      engine->core->drain(deadline, std::move(done));
    });
  }
  SimDevice& device(size_t i = 0) { return *engine->devices[i]; }

  // The process ends, and the next one takes up what the disk has.
  void restart_after(int ms) {
    run_until(World::kStart + Milliseconds(ms));
    engine->kill();
    killed_.push_back(engine);  // what was planned may hold it
    for (const auto& [key, job] : jobs_) {
      if (!disk->records.contains(key)) lost_.insert(key);  // with its client
    }
    watches_.clear();
    start();
  }

  // Until all has ended; then what must hold is checked, and one more job is proved.
  std::string run() {
    const Instant end = World::kStart + std::chrono::hours(4);
    world.at(World::kStart + Milliseconds(120'000), [] {});
    while (is_open() && world.now() < end && step()) {
    }
    run_until(world.now() + std::chrono::minutes(2));
    world.expect(!is_open(), "something never ended");
    allocation_fails = nullptr;
    shortage.over();
    check();
    return world.violation;
  }

  World world;
  std::shared_ptr<SimDisk> disk = std::make_shared<SimDisk>();
  std::shared_ptr<SimEngine> engine;

 private:
  void start() {
    engine = std::make_shared<SimEngine>(world, options_, disk);
    engine->start();
    for (const auto& [key, record] : disk->records) engine->submissions.emplace(key, record.submission);
  }

  bool step() {
    if (!world.violation.empty() || !world.step()) return false;
    engine->check_memory();
    // A shortage lasts for two seconds.
    if (shortage.is_on() && !shortage_since_) shortage_since_ = world.now();
    if (shortage_since_ && world.now() >= *shortage_since_ + Milliseconds(2'000)) shortage.over();
    return true;
  }
  void run_until(Instant end) {
    world.at(end, [] {});
    while (world.now() < end && step()) {
    }
  }

  void submit_now(const Submission& s, Attendance attendance, JobState allowed, bool watches, int tries) {
    const JobKey key = engine->submit(s, attendance);
    if (key == 0) {
      const Refusal& refusal = engine->last_refusal;
      if (refusal.reason == Refusal::Reason::kDraining) return;
      world.expect(refusal.reason == Refusal::Reason::kQueueFull && refusal.retry_after_ms > 0,
                   "another refusal: " + refusal.message);
      world.expect(tries > 0, "refused for ever: " + refusal.message);
      if (tries == 0) return;
      world.in(Milliseconds(1'000), [=, this] { submit_now(s, attendance, allowed, watches, tries - 1); });
      return;
    }
    jobs_[key] = allowed;
    if (!watches) return;
    const auto called = std::make_shared<int>(0);
    const auto gone = std::make_shared<bool>(false);
    std::function<void(const JobResult&)> done = [this, called, gone](const JobResult&) {
      world.expect(++*called == 1 && !*gone, "a watcher was called twice, or after it had gone");
    };
    watches_.push_back({0, called, gone});
    Seen& seen = watches_.back();
    const EngineCode code;
    seen.id = engine->core->watch(key, std::move(done));
  }

  bool is_open() const {
    if (world.now() < World::kStart + Milliseconds(120'000)) return true;
    const CoreInspection see(*engine->core);
    if (drains_ && drained_ == 0) return true;
    if (answered_ < asked_) return true;
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) {
      return !lost_.contains(job.first) && !see.finished(job.first) && !(drains_ && see.parked(job.first));
    });
  }

  void check() {
    for (const auto& [key, allowed] : jobs_) check_end(key, allowed);
    for (const Seen& seen : watches_) world.expect(*seen.called == 1 || *seen.gone || drains_, "nobody told a watcher");
    world.expect(answered_ == asked_, "an answer too many");
    world.expect(drained_ == (drains_ ? 1 : 0), "a drain that ended more than once");
    if (drains_) return;
    const CoreInspection see(*engine->core);
    world.expect(see.runs() == 0 && see.tasks() == 0 && see.held_bytes() == 0, "something is left of ended jobs");
    world.expect(see.watches() == 0, "a watch is left");
    uint64_t bytes = 0;
    for (const SimDevice* device : engine->devices) bytes += device->bytes();
    world.expect(engine->budget->used() == bytes, "memory is reserved for nothing");
    // It goes on serving.
    disk->broken = false;
    engine->service->missing.clear();
    const JobKey key =
        engine->submit(sim_submission(std::size(kCircuits) - 1, 77, 1, "one more"), Attendance::kAwaited);
    world.expect(key != 0, "the next job is refused: " + engine->last_refusal.message);
    world.run_for(std::chrono::minutes(5));
    world.expect(engine->results[key].state == JobState::kCompleted, "the next job is not proved");
    const EngineStatus status = engine->core->status();
    world.expect(status.reserve_left_bytes >= status.reserve_bytes * 9 / 10, "the reserve is not given back");
  }
  // As it would without the shortage, or for want of memory, which a retry helps.
  void check_end(JobKey key, JobState allowed) {
    if (lost_.contains(key)) return;
    const auto at = engine->results.find(key);
    if (at == engine->results.end()) {  // left to the journal, or ended before the restart
      world.expect(drains_ || !killed_.empty(), "a job has no end");
      return;
    }
    const JobResult& result = at->second;
    const bool for_memory = result.state == JobState::kFailed && result.error->error_class == ErrorClass::kResource &&
                            retry_helps(result.error->error_class);
    world.expect(
        result.state == JobState::kCompleted || result.state == allowed || for_memory,
        std::string("a job ended as ") + to_string(result.state) + (result.error ? ": " + result.error->message : ""));
  }

  struct Seen {
    WatchId id;
    std::shared_ptr<int> called;
    std::shared_ptr<bool> gone;
  };
  ScheduleOptions options_;
  std::optional<Instant> shortage_since_;
  std::map<JobKey, JobState> jobs_;
  std::set<JobKey> lost_;
  std::vector<Seen> watches_;
  std::vector<std::shared_ptr<SimEngine>> killed_;
  uint32_t asked_ = 0, answered_ = 0, drained_ = 0;
  bool drains_ = false;
};

}  // namespace cuzk::test
