// Random schedules of the engine, and what must hold in all of them.
#pragma once

#include <functional>
#include <string>

#include "engine/engine_test_support.hpp"

namespace cuzk {

// What tests may see of the core.
class CoreInspection {
 public:
  explicit CoreInspection(const EngineCore& core) : core_(core) {}
  // The first ready task that this device could prove at once.
  std::optional<Task> best_for(uint32_t device) const {
    for (const Task& task : core_.ready_.first_of_lanes()) {
      const Run& run = *core_.runs_.at(task.job);
      const auto avoid = run.partitions[task.partition].avoid;
      if (core_.resident(device, *run.circuit) && core_.may_run(device, *run.circuit, avoid)) return task;
    }
    return std::nullopt;
  }
  std::optional<Task> proving(uint32_t device) const {
    const DeviceSlot& slot = core_.devices_[device];
    if (slot.work != DeviceSlot::Work::kProve) return std::nullopt;
    return Task{slot.run->priority, slot.run->key, slot.partitions.front(), 0};
  }
  std::optional<JobKey> job_on(uint32_t device) const {
    const DeviceSlot& slot = core_.devices_[device];
    return slot.work == DeviceSlot::Work::kProve ? std::optional(slot.run->key) : std::nullopt;
  }
  size_t runs() const { return core_.runs_.size(); }
  // That this process is to finish.
  bool has_work() const {
    return std::any_of(core_.runs_.begin(), core_.runs_.end(), [](const auto& run) { return !run.second->parked; });
  }
  uint64_t held_bytes() const { return core_.held_bytes_; }
  size_t tasks() const {
    return core_.check_.size() + core_.witness_.size() + core_.making_.size() + core_.ready_.size() +
           core_.verify_.size() + core_.diagnose_.size();
  }
  size_t watches() const { return core_.watches_.size(); }
  bool finished(JobKey key) const {
    const Job* job = core_.table_.find(key);
    return job == nullptr || is_final(job->state);
  }
  bool parked(JobKey key) const {
    const auto at = core_.runs_.find(key);
    return at != core_.runs_.end() && at->second->parked;
  }

 private:
  const EngineCore& core_;
};

namespace test {

struct ScheduleOptions {
  uint32_t devices = 1, threads = 2;
  uint64_t budget = 200'000'000;
  uint64_t gpu_memory = 0;  // of each device; 0: they are no GPUs
  SimFaults faults;
  EngineOptions engine;
  bool journal = true;
  std::shared_ptr<MemoryReserve> reserve;  // may be absent
};

// An engine in a world of its own.
class SimEngine : public EngineObserver, public std::enable_shared_from_this<SimEngine> {
 public:
  SimEngine(World& world, const ScheduleOptions& options, std::shared_ptr<SimDisk> disk)
      : world_(world), options_(options), disk_(std::move(disk)) {}

  void start() {
    budget = std::make_shared<HostBudget>(options_.budget, "simulated");
    service = std::make_shared<SimService>();
    CoreParts parts;
    parts.budget = budget;
    parts.service = service;
    for (uint32_t d = 0; d < options_.devices; ++d) {
      auto device = std::make_unique<SimDevice>(world_, d, options_.faults);
      device->gpu_memory = options_.gpu_memory;
      device->on_prove = [this](uint32_t ordinal, const PackedWitness& witness) { check_order(ordinal, witness); };
      devices.push_back(device.get());
      parts.devices.push_back(std::move(device));
    }
    auto made = std::make_unique<SimExecutor>(world_, options_.threads, 300);
    executor = made.get();
    parts.executor = std::move(made);
    parts.clock = std::make_shared<SimClock>(world_);
    if (options_.journal) parts.log = std::make_unique<SimLog>(world_, disk_);
    parts.observer = shared_from_this();
    parts.reserve = options_.reserve;
    core = std::make_shared<EngineCore>(options_.engine, std::move(parts));
    const Status started = [&] {
      const EngineCode engine;
      return core->start();
    }();
    world_.expect(started.ok(), "the engine does not start");
  }

  // The process ends: what it had is lost, the disk stays.
  void kill() {
    world_.forget_events();
    core->stop();
    world_.forget_events();  // what stopping planned: its devices are gone
    core.reset();
    devices.clear();
  }

  void check_memory() {
    uint64_t bytes = 0;
    for (const SimDevice* device : devices) bytes += device->bytes();
    world_.expect(bytes <= budget->used(), "devices hold more than is reserved: " + std::to_string(bytes) + " of " +
                                               std::to_string(budget->used()));
    world_.expect(budget->used() <= budget->total(), "the budget is exceeded");
  }

  // Whatever a job waits for takes less: a load, a proof, a device that is out of use, another's patience.
  void check_progress() {
    const bool stands = world_.next() > world_.now() + std::chrono::minutes(3);
    world_.expect(!stands || !CoreInspection(*core).has_work(), "a job waits for nothing that is to come");
  }

  // Whoever begins on a device is the first of those that could, in a group too; of one job any may.
  void check_order(uint32_t device, const PackedWitness& witness) {
    const CoreInspection see(*core);
    auto begun = see.proving(device);
    const auto best = see.best_for(device);
    if (!begun || !best || begun->job == best->job) return;
    begun->partition = static_cast<uint32_t>(witness.inputs[1].to_plain()[0]);
    world_.expect(*begun < *best, "a later task went before an earlier one");
  }

  void on_finished(JobKey key, ProofKind, const JobResult& result) override {
    const WorldCode world;
    note_end(key, result);
    if (on_end) on_end();
  }
  void note_end(JobKey key, const JobResult& result) {
    ++finished[key];
    results[key] = result;
    world_.expect(finished[key] == 1, "a job ended twice");
    world_.expect(is_final(result.state), "a job ended in no final state");
    world_.expect(result.error.has_value() == (result.state != JobState::kCompleted), "an error does not fit a state");
    const auto at = submissions.find(key);
    if (result.state != JobState::kCompleted || at == submissions.end()) return;
    const Submission& s = *at->second;
    world_.expect(s.randomness.empty(), "an impossible job was proved: " + s.randomness);
    std::vector<uint8_t> proof;
    for (uint32_t k = 0; k < s.partition_index; ++k) {
      const ProofBytes bytes = sim_proof(s.sector_number, k);
      proof.insert(proof.end(), bytes.begin(), bytes.end());
    }
    world_.expect(proof == result.proof, "a wrong proof left the engine");
  }

  void on_warning(const Error& error) override {
    const WorldCode world;
    warnings.push_back(error.message);
  }
  void on_memory_short(uint64_t, uint64_t) override { ++shortages; }
  void on_memory_back() override { ++memory_back; }

  // Of a partition on a device: it is picked up, then it begins and ends, or is ready again as if it had never begun.
  struct Told {
    uint32_t ready = 0, picked_up = 0, begun = 0, ended = 0, failed = 0;
  };
  void on_ready(const StageEvent& event) override {
    const WorldCode world;
    Told& of = told_of(event);
    ++of.ready;
    world_.expect(of.begun == of.ended + of.failed, "a partition that is ready again was begun and has not ended");
  }
  void on_picked_up(const StageEvent& event) override {
    const WorldCode world;
    Told& of = told_of(event);
    world_.expect(++of.picked_up <= of.ready, "a partition is picked up that is not ready");
  }
  void on_stage_begin(const StageEvent& event) override {
    if (event.stage != Stage::kDevice) return;
    const WorldCode world;
    Told& of = told_of(event);
    ++of.begun;
    world_.expect(of.begun == of.ended + of.failed + 1, "a partition begins that has begun");
    world_.expect(of.begun <= of.picked_up, "a partition begins that no device has");
  }
  void on_stage_end(const StageEvent& event, const Error* error) override {
    if (event.stage != Stage::kDevice) return;
    const WorldCode world;
    Told& of = told_of(event);
    const bool has_begun = of.begun == of.ended + of.failed + 1;
    world_.expect(has_begun || error != nullptr, "a partition ends that was not begun");
    if (error == nullptr) ++of.ended;
    if (error != nullptr && has_begun) ++of.failed;
  }
  Told& told_of(const StageEvent& event) { return told[{event.key, *event.partition}]; }

  // 0 where it is refused, or gets no memory: a server answers RESOURCE_EXHAUSTED then.
  JobKey submit(const Submission& submission, Attendance attendance) {
    const SubmitOutcome outcome = [&]() -> SubmitOutcome {
      Submission copy = submission;
      const size_t before = CoreInspection(*core).runs();
      try {
        const EngineCode engine;
        return core->submit(std::move(copy), attendance);
      } catch (const std::bad_alloc&) {
        world_.expect(CoreInspection(*core).runs() == before, "a job was taken and its client told that it was not");
        return Refusal{Refusal::Reason::kQueueFull, "out of memory", 1000};
      }
    }();
    const auto* submitted = std::get_if<Submitted>(&outcome);
    if (submitted == nullptr) {
      ++refused;
      last_refusal = std::get<Refusal>(outcome);
      return 0;
    }
    if (attendance == Attendance::kDetached && options_.journal) {
      world_.expect(disk_->records.contains(submitted->key), "a detached job is not in the journal");
    }
    submissions.emplace(submitted->key, std::make_shared<const Submission>(submission));
    return submitted->key;
  }

  World& world_;
  const ScheduleOptions options_;
  const std::shared_ptr<SimDisk> disk_;
  std::shared_ptr<HostBudget> budget;
  std::shared_ptr<SimService> service;
  std::vector<SimDevice*> devices;
  SimExecutor* executor = nullptr;
  std::shared_ptr<EngineCore> core;

  std::map<JobKey, std::shared_ptr<const Submission>> submissions;
  std::map<JobKey, uint32_t> finished;
  std::map<JobKey, JobResult> results;
  uint32_t refused = 0;
  Refusal last_refusal;
  std::vector<std::string> warnings;
  std::map<std::pair<JobKey, uint32_t>, Told> told;
  uint32_t shortages = 0, memory_back = 0;
  std::function<void()> on_end;  // of a job
};

inline Submission sim_submission(size_t circuit, uint64_t sector, uint32_t partitions, std::string id = "") {
  Submission out;
  out.kind = kCircuits[circuit].kind;
  out.registered_proof = circuit;
  out.sector_number = sector;
  out.partition_index = partitions;
  out.request_id = std::move(id);
  out.sector_size = 50'000;
  return out;
}

// One life of a daemon under random load, or two with a sudden end between them.
class Schedule {
 public:
  explicit Schedule(uint64_t seed, std::shared_ptr<MemoryReserve> reserve = nullptr)
      : world_(seed), disk_(std::make_shared<SimDisk>()) {
    options_.reserve = std::move(reserve);
  }

  // Empty, or what was violated.
  std::string run() {
    choose();
    begin();
    const Milliseconds span(90'000);
    const uint64_t jobs = world_.random(4, 18);
    for (uint64_t i = 0; i < jobs; ++i) world_.in(world_.random_time(0, 60'000), [this] { submit_one(); });
    for (int i = 0; i < 3; ++i) world_.in(world_.random_time(0, 90'000), [this] { disturb(); });
    if (world_.chance(0.15)) {
      step_until(world_.now() + world_.random_time(1'000, 60'000));
      restart();
    }
    if (world_.chance(0.3)) world_.in(world_.random_time(30'000, 90'000), [this] { drain(); });
    step_until(world_.now() + span);
    finish();
    return world_.violation;
  }

  uint64_t completed() const { return completed_; }

 private:
  void choose() {
    options_.devices = static_cast<uint32_t>(world_.random(1, 3));
    options_.threads = static_cast<uint32_t>(world_.random(1, 4));
    // The largest circuit and its scratch need 70 MB with headroom; then it is tight.
    options_.budget = world_.chance(0.5) ? world_.random(76'000'000, 120'000'000) : 600'000'000;
    options_.engine.witnesses_ahead = static_cast<uint32_t>(world_.random(1, 3));
    options_.engine.other_group = options_.engine.gpu_group = static_cast<uint32_t>(world_.random(1, 6));
    if (world_.chance(0.3)) options_.gpu_memory = world_.random(70'000'000, 200'000'000);
    options_.engine.swap_patience = world_.random_time(0, 30'000);
    options_.engine.evict_min_idle = world_.random_time(0, 300'000);
    options_.engine.jobs.grace = world_.random_time(1'000, 60'000);
    options_.engine.jobs.max_jobs = world_.random(6, 40);
    if (world_.chance(0.6)) {
      options_.faults = {0.05, 0.08, 0.05, 0.03, 0.3, 0.05, 0.02, 0.1};
      options_.engine.max_fault_retries = static_cast<uint32_t>(world_.random(0, 3));
    }
    options_.journal = world_.chance(0.8);
  }

  void begin() {
    engine_ = std::make_shared<SimEngine>(world_, options_, disk_);
    engine_->start();
  }

  void restart() {
    engine_->kill();
    lives_.push_back(engine_);
    watches_.clear();
    drained_ = 0;
    drain_asked_ = false;
    begin();
    for (const auto& [key, record] : disk_->records) engine_->submissions.emplace(key, record.submission);
    for (int i = 0; i < 4; ++i) world_.in(world_.random_time(0, 30'000), [this] { submit_one(); });
  }

  void step_until(Instant end) {
    world_.at(end, [] {});
    while (world_.now() < end && world_.violation.empty() && world_.step()) {
      engine_->check_memory();
      engine_->check_progress();
      world_.expect(engine_->executor->running() <= options_.threads + 1 + 4, "more work than threads");
    }
  }

  void submit_one() {
    const size_t circuit = world_.random(0, std::size(kCircuits) - 1);
    const uint32_t partitions =
        kCircuits[circuit].kind == ProofKind::kPorep || kCircuits[circuit].kind == ProofKind::kSnap
            ? static_cast<uint32_t>(world_.random(1, 5))
            : 1;
    Submission s = sim_submission(circuit, world_.random(1, 12), partitions);
    if (world_.chance(0.8)) s.request_id = "job-" + std::to_string(world_.random(1, 12));
    if (world_.chance(0.4)) s.priority = static_cast<Priority>(world_.random(1, 4));
    if (world_.chance(0.2)) {
      s.deadline = SimClock(world_).system_now() + world_.random_time(0, 60'000);
    }
    if (world_.chance(0.05)) s.randomness = kBadInput;
    if (world_.chance(0.05)) s.randomness = kBadWitness;
    if (world_.chance(0.03)) s.randomness = kNoMemory;
    if (world_.chance(0.02)) s.sector_size = 30'000'000;
    const Attendance attendance = world_.chance(0.5) ? Attendance::kAwaited : Attendance::kDetached;
    const JobKey key = engine_->submit(s, attendance);
    if (key == 0) return;
    const std::string id = s.request_id;
    if (world_.chance(0.85)) watch(key);
    if (world_.chance(0.12)) {
      world_.in(world_.random_time(0, 40'000), [this, id] {
        const EngineCode engine;
        engine_->core->cancel(id);
      });
    }
  }

  void watch(JobKey key) {
    const auto called = std::make_shared<int>(0);
    const auto gone = std::make_shared<bool>(false);
    const auto tell = [this, called, gone, key](const JobResult& result) {
      const WorldCode world;
      world_.expect(++*called == 1, "a watcher was called twice");
      world_.expect(!*gone, "a watcher was called after it had gone");
      world_.expect(is_final(result.state), "a watcher was told of no end");
      world_.expect(engine_->finished[key] <= 1, "a job ended twice");
    };
    const WatchId id = [&] {
      std::function<void(const JobResult&)> done = tell;
      const EngineCode engine;
      return engine_->core->watch(key, std::move(done));
    }();
    watches_.push_back({key, called, gone});
    if (!world_.chance(0.2)) return;
    world_.in(world_.random_time(0, 40'000), [this, id, gone] {
      const EngineCode engine;
      engine_->core->unwatch(id);
      *gone = true;
    });
  }

  void disturb() {
    const char* circuit = kCircuits[world_.random(0, std::size(kCircuits) - 1)].id;
    ++asked_;
    std::function<void(Result<Engine::Preloaded>)> preloaded = [this](Result<Engine::Preloaded>) { ++answered_; };
    std::function<void(Result<Engine::Evicted>)> evicted = [this](Result<Engine::Evicted>) { ++answered_; };
    const EngineCode engine;
    switch (world_.random(0, 4)) {
      case 0: engine_->core->preload(circuit, std::move(preloaded)); return;
      case 1: engine_->core->evict(circuit, std::move(evicted)); return;
      case 2:
        if (options_.faults.idle_fault > 0) {
          const WorldCode world;
          engine_->devices[world_.random(0, options_.devices - 1)]->die_now();
        }
        break;
      case 3: try { engine_->core->status();
        } catch (const std::bad_alloc&) {  // and nothing but this call fails
        }
        break;
      default: disk_->broken = world_.chance(0.2);
    }
    ++answered_;
  }

  void drain() {
    drain_asked_ = true;
    std::function<void()> drained = [this] { ++drained_; };
    const Instant deadline = world_.now() + world_.random_time(0, 30'000);
    const EngineCode engine;
    engine_->core->drain(deadline, std::move(drained));
  }

  // All that was begun must end within a day, and then nothing may be left.
  void finish() {
    disk_->broken = false;
    const CoreInspection see(*engine_->core);
    const Instant end = world_.now() + std::chrono::hours(24);
    const auto open = [&] {
      if (drain_asked_ && drained_ == 0) return true;
      if (answered_ < asked_ && lives_.empty()) return true;
      for (const auto& [key, submission] : engine_->submissions) {
        if (!see.finished(key) && !(drain_asked_ && see.parked(key))) return true;
      }
      return false;
    };
    while (open() && world_.now() < end && world_.violation.empty() && world_.step()) {
      engine_->check_memory();
      engine_->check_progress();
    }
    world_.expect(!open(), "something never ended: " + describe());
    if (!world_.violation.empty()) return;
    world_.run_for(std::chrono::minutes(10));  // what is dropped ends too
    for (const Seen& seen : watches_) {
      const bool told = *seen.called == 1 || *seen.gone || (drain_asked_ && see.parked(seen.key));
      world_.expect(told, "a watcher was never told");
    }
    for (const auto& [key, result] : engine_->results) completed_ += result.state == JobState::kCompleted;
    if (drain_asked_) return engine_->kill();
    world_.expect(see.runs() == 0 && see.tasks() == 0 && see.held_bytes() == 0, "something is left of ended jobs");
    for (const KindCounters& kind : engine_->core->status().kinds) {
      world_.expect(kind.accepted == kind.completed + kind.failed + kind.cancelled + kind.expired,
                    "not all jobs that were accepted are counted where they ended");
    }
    uint64_t bytes = 0;
    for (const SimDevice* device : engine_->devices) bytes += device->bytes();
    world_.expect(
        engine_->budget->used() == bytes,
        "memory is reserved for nothing: " + std::to_string(engine_->budget->used()) + " for " + std::to_string(bytes));
    engine_->kill();
  }

  std::string describe() const {
    std::string out;
    const EngineStatus status = engine_->core->status();
    for (const JobStatus& job : status.jobs) {
      if (is_final(job.state)) continue;
      out += "[" + std::to_string(job.key) + " " + to_string(job.priority) + " " + std::string(to_string(job.kind)) +
             " " + to_string(job.state);
      for (const PartitionStatus& partition : job.partitions) {
        out += " " + std::to_string(static_cast<int>(partition.state));
      }
      out += "] ";
    }
    for (const DeviceStatus& device : status.devices) out += std::string(to_string(device.state)) + " ";
    for (const auto& [what, bytes] : status.used_by) out += what + " " + std::to_string(bytes) + " ";
    for (const ResidentStatus& resident : status.resident) {
      out += resident.circuit_id + "@" + std::to_string(resident.device) + (resident.in_use > 0 ? "* " : " ");
    }
    return out + "of " + std::to_string(status.budget_bytes) + ", answered " + std::to_string(answered_) + " of " +
           std::to_string(asked_) + (drain_asked_ ? ", drain asked, drained " + std::to_string(drained_) : "");
  }

  struct Seen {
    JobKey key;
    std::shared_ptr<int> called;
    std::shared_ptr<bool> gone;
  };

  World world_;
  std::shared_ptr<SimDisk> disk_;
  ScheduleOptions options_;
  std::shared_ptr<SimEngine> engine_;
  std::vector<std::shared_ptr<SimEngine>> lives_;
  std::vector<Seen> watches_;
  uint32_t drained_ = 0, asked_ = 0, answered_ = 0;
  bool drain_asked_ = false;
  uint64_t completed_ = 0;
};

}  // namespace test
}  // namespace cuzk
