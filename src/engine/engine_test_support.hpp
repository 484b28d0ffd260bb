// A world for the engine in which time, threads, devices, proofs and the journal are simulated: everything that happens
// follows from a seed.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "engine/core.hpp"
#include "engine/whose_code_test_support.hpp"

namespace cuzk::test {

using Milliseconds = std::chrono::milliseconds;

// Time and what is to happen.
class World {
 public:
  explicit World(uint64_t seed) : rng_(seed) {}

  Instant now() const { return now_; }
  // Events of equal times happen in the order in which they were planned.
  void at(Instant when, std::function<void()> event) {
    events_.emplace(std::pair(std::max(when, now_), next_++), std::move(event));
  }
  void in(Milliseconds delay, std::function<void()> event) { at(now_ + delay, std::move(event)); }
  // False where nothing is planned.
  bool step() {
    if (events_.empty()) return false;
    const auto first = events_.begin();
    now_ = first->first.first;
    const std::function<void()> event = std::move(first->second);
    events_.erase(first);
    event();
    return true;
  }
  void run_until(Instant end) {
    while (!events_.empty() && events_.begin()->first.first <= end) step();
    now_ = std::max(now_, end);
  }
  void run_for(Milliseconds time) { run_until(now_ + time); }
  // Nothing happens before.
  Instant next() const { return events_.empty() ? Instant::max() : events_.begin()->first.first; }
  // As when the process ends.
  void forget_events() { events_.clear(); }

  uint64_t random(uint64_t least, uint64_t most) { return least + rng_() % (most - least + 1); }
  bool chance(double probability) { return static_cast<double>(rng_() >> 11) < probability * 9007199254740992.0; }
  Milliseconds random_time(uint64_t least_ms, uint64_t most_ms) { return Milliseconds(random(least_ms, most_ms)); }

  // The first thing that was not as it must be.
  std::string violation;
  void expect(bool holds, const std::string& what) {
    if (!holds && violation.empty())
      violation = what + " at " + std::to_string((now_ - kStart).count() / 1000000) + " ms";
  }

  static constexpr Instant kStart{std::chrono::hours(1000)};

 private:
  std::mt19937_64 rng_;
  Instant now_ = kStart;
  uint64_t next_ = 0;
  std::map<std::pair<Instant, uint64_t>, std::function<void()>> events_;
};

class SimClock final : public Clock {
 public:
  explicit SimClock(const World& world) : world_(world) {}
  Instant now() const override { return world_.now(); }
  std::chrono::system_clock::time_point system_now() const override {
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(world_.now().time_since_epoch()));
  }

 private:
  const World& world_;
};

// Each work takes a random time; nothing waits, since the engine posts no more than there are threads.
class SimExecutor final : public Executor {
 public:
  SimExecutor(World& world, uint32_t threads, uint64_t most_ms) : world_(world), threads_(threads), most_ms_(most_ms) {}
  uint32_t threads() const override { return threads_; }
  void post(Priority priority, std::function<void()> work) override {
    const WorldCode world;
    const auto slot = std::make_shared<Slot>(this, priority);
    const Milliseconds time = std::exchange(next_takes, std::nullopt).value_or(world_.random_time(1, most_ms_));
    world_.in(time, [slot, work = of_engine(std::move(work))]() mutable {
      slot->executor->leave(*slot);
      work();
    });
  }
  void post_at(Instant when, std::function<void()> work) override {
    const WorldCode world;
    world_.at(when, of_engine(std::move(work)));
  }
  uint32_t running() const { return running_; }

  std::optional<Milliseconds> next_takes;  // what is posted next

 private:
  struct Slot {
    Slot(SimExecutor* to, Priority p) : executor(to), priority(p) { ++executor->running_; }
    SimExecutor* executor;
    Priority priority;
  };
  void leave(const Slot&) { --running_; }

  World& world_;
  const uint32_t threads_;
  const uint64_t most_ms_;
  uint32_t running_ = 0;
};

// A submission says itself what becomes of it: registered_proof is the circuit's index among kCircuits, partition_index
// the number of partitions, sector_size its bytes, sector_number decides the proof, and these words in `randomness`
// what is wrong with it.
inline constexpr const char* kBadInput = "bad-input";
inline constexpr const char* kBadWitness = "bad-witness";
inline constexpr const char* kNoMemory = "no-memory";

struct SimCircuit {
  const char* id;
  ProofKind kind;
  uint64_t resident, load_scratch, prove_scratch, witness;  // bytes
  uint64_t load_ms, prove_ms;

  uint64_t scratch(uint64_t together) const { return prove_scratch + (together - 1) * (prove_scratch / 8); }
};
inline constexpr SimCircuit kCircuits[] = {
    {"porep-2k", ProofKind::kPorep, 44'000'000, 2'000'000, 9'000'000, 700'000, 20'000, 4'000},
    {"porep-8m", ProofKind::kPorep, 30'000'000, 1'000'000, 12'000'000, 900'000, 9'000, 2'500},
    {"snap-2k", ProofKind::kSnap, 33'000'000, 1'000'000, 6'000'000, 300'000, 15'000, 3'000},
    {"window-2k", ProofKind::kWindow, 57'000'000, 3'000'000, 10'000'000, 500'000, 25'000, 8'000},
    {"winning-2k", ProofKind::kWinning, 200'000, 10'000, 400'000, 5'000, 1'000, 600},
};
inline const SimCircuit& sim_circuit(const CircuitSpec& spec) {
  for (const SimCircuit& circuit : kCircuits) {
    if (spec.id() == circuit.id) return circuit;
  }
  CUZK_ASSERT(false);
  return kCircuits[0];
}

inline ProofBytes sim_proof(uint64_t sector, uint64_t partition) {
  ProofBytes out{};
  for (size_t i = 0; i < 8; ++i) out[i] = static_cast<uint8_t>(sector >> (8 * i));
  out[8] = static_cast<uint8_t>(partition);
  out[9] = 1;
  return out;
}

class SimWork final : public JobWork {
 public:
  explicit SimWork(const Submission& s)
      : spec_(*circuit_spec_by_id(kCircuits[s.registered_proof].id)),
        partitions_(s.partition_index),
        bytes_(s.sector_size / 2),
        sector_(s.sector_number),
        wrong_(s.randomness) {}
  const CircuitSpec& circuit() const override { return spec_; }
  uint32_t partitions() const override { return partitions_; }
  uint64_t bytes() const override { return bytes_; }
  Result<PackedWitness> witness(uint32_t k) const override {
    if (wrong_ == kNoMemory) throw std::bad_alloc();
    PackedWitness out;
    out.inputs = {Fr::from_u64(sector_), Fr::from_u64(k), Fr::from_u64(wrong_ == kBadWitness ? 1 : 0)};
    return out;
  }
  Status check(uint32_t) const override {
    if (wrong_ == kBadWitness) return Error(ErrorClass::kUnsatisfied, "constraint 7 is violated");
    return {};
  }
  Result<std::vector<uint32_t>> wrong_proofs(std::span<const ProofBytes> proofs) const override {
    std::vector<uint32_t> wrong;
    for (uint32_t k = 0; k < proofs.size(); ++k) {
      if (proofs[k] != sim_proof(sector_, k)) wrong.push_back(k);
    }
    return wrong;
  }

 private:
  const CircuitSpec& spec_;
  const uint32_t partitions_;
  const uint64_t bytes_, sector_;
  const std::string wrong_;
};

// Of a GPU's process, while it works.
inline constexpr uint64_t kSimGpuHost = 1'000'000;

class SimService final : public ProofService {
 public:
  RequestNeeds request_needs(const Submission& s) const override {
    RequestNeeds needs;
    needs.held = s.sector_size;
    needs.check_scratch = 2 * s.sector_size;
    if (s.kind != ProofKind::kPorep) needs.circuit = circuit_spec_by_id(kCircuits[s.registered_proof].id);
    return needs;
  }
  WitnessNeeds witness_needs(const CircuitSpec& spec) const override {
    return {sim_circuit(spec).witness, sim_circuit(spec).witness / 4};
  }
  using ProofService::device_needs;
  DeviceNeeds device_needs(const CircuitSpec& spec, const DeviceInfo& device, uint32_t together) const override {
    const SimCircuit& circuit = sim_circuit(spec);
    const uint64_t scratch = circuit.scratch(together);
    if (device.is_gpu) {
      return {.load_scratch = kSimGpuHost,
              .prove_scratch = kSimGpuHost + together * circuit.witness,
              .device_resident = circuit.resident,
              .device_scratch = scratch,
              .tables = {2, circuit.load_ms}};
    }
    return {circuit.resident / 4 * 3, circuit.resident - circuit.resident / 4 * 3, circuit.load_scratch, scratch, 0, 0};
  }
  Result<std::shared_ptr<const JobWork>> read(const Submission& s) const override {
    if (s.randomness == kBadInput) return Error(ErrorClass::kInvalidInput, "C1 parse failed: it is bad");
    return std::shared_ptr<const JobWork>(std::make_shared<SimWork>(s));
  }
  Result<CircuitFiles> prepare(const CircuitSpec& circuit, Progress&) override {
    ++prepared;
    if (missing.contains(std::string(circuit.id()))) return Error(ErrorClass::kNotFound, "no parameters");
    return CircuitFiles{&circuit, std::string(circuit.id()), "circuit"};
  }

  std::set<std::string> missing;  // whose parameters are not there
  uint32_t prepared = 0;
};

struct SimFaults {
  double load_fault = 0, prove_fault = 0, wrong_proof = 0, refuse_load = 0, idle_fault = 0, give_up = 0;
  double refused_proof = 0, short_group = 0;
};

// A device that fails as it is told to. Its memory is counted, so that it can be compared with the engine's budget.
class SimDevice final : public Device {
 public:
  SimDevice(World& world, uint32_t ordinal, SimFaults faults) : world_(world), ordinal_(ordinal), faults_(faults) {
    world_.in(world_.random_time(0, 500), [this] { become(DeviceState::kIdle); });
  }

  DeviceInfo info() const override {
    return {
        .ordinal = ordinal_, .name = "a simulated device", .is_gpu = gpu_memory > 0, .memory_usable_bytes = gpu_memory};
  }
  DeviceState state() const override { return state_; }
  uint64_t generation() const override { return generation_; }
  void on_change(std::function<void()> changed) override {
    const WorldCode world;
    changed_ = of_engine(std::move(changed));
  }

  void load(const CircuitFiles& files, std::function<void(Result<LoadReport>)> engines) override {
    const WorldCode world;
    const auto done = of_engine(std::move(engines));
    if (!begin(DeviceState::kLoading)) return busy(done);
    const SimCircuit& circuit = sim_circuit(*files.spec);
    world_.expect(!resident.contains(circuit.id), "a circuit is loaded twice");
    world_.expect(gpu_memory == 0 || files.tables == DeviceTables{2, circuit.load_ms},
                  "other tables than were counted");
    scratch = gpu_memory > 0 ? kSimGpuHost : circuit.resident + circuit.load_scratch;
    const uint64_t life = generation_;
    const auto over = std::make_shared<bool>(false);
    stop_load_ = [this, life, over, done] {
      world_.in(world_.random_time(1, 200), [this, life, over, done] {
        if (generation_ != life || std::exchange(*over, true)) return;
        scratch = 0;
        ++stopped_loads;
        finish(done, Result<LoadReport>(Error(ErrorClass::kCancelled, "cancelled")));
      });
    };
    world_.in(world_.random_time(circuit.load_ms / 2, circuit.load_ms), [this, &circuit, life, over, done] {
      if (std::exchange(*over, true)) return;
      if (generation_ != life) return done(Error(ErrorClass::kDeviceFault, "the process ended"));
      if (world_.chance(faults_.load_fault)) return end_process(done);
      scratch = 0;
      if (refuses.contains(circuit.id) || world_.chance(faults_.refuse_load)) {
        return finish(done, Result<LoadReport>(Error(ErrorClass::kCorrupt, "damaged parameters")));
      }
      if (stop_next > 0) {
        --stop_next;
        return finish(done, Result<LoadReport>(Error(ErrorClass::kCancelled, "cancelled")));
      }
      if (in_pieces && !resident.empty()) {
        return finish(done, Result<LoadReport>(Error(ErrorClass::kResource, "no room in one piece")));
      }
      resident.insert(circuit.id);
      check_gpu_memory();
      ++loads;
      const uint64_t parameters = circuit.resident / 4 * 3;
      finish(done, Result<LoadReport>(LoadReport{parameters, circuit.resident - parameters, circuit.load_ms}));
    });
  }

  void unload(const CircuitSpec& spec, std::function<void(Status)> engines) override {
    const WorldCode world;
    const auto done = of_engine(std::move(engines));
    if (!begin(DeviceState::kLoading)) return busy(done);
    const std::string id(spec.id());
    world_.expect(resident.contains(id), "a circuit is unloaded that is not there");
    const uint64_t life = generation_;
    world_.in(world_.random_time(1, 50), [this, id, life, done] {
      if (generation_ != life) return done(Error(ErrorClass::kDeviceFault, "the process ended"));
      resident.erase(id);
      finish(done, Status());
    });
  }

  void prove(const CircuitSpec& spec, Witnesses witnesses, std::function<void(Result<Proofs>)> engines) override {
    const WorldCode world;
    auto done = of_engine(std::move(engines));
    const SimCircuit& circuit = sim_circuit(spec);
    if (on_prove) on_prove(ordinal_, *witnesses[0]);
    if (!begin(DeviceState::kProving)) return busy(std::move(done));
    world_.expect(resident.contains(circuit.id), "proved without parameters");
    world_.expect(witnesses.size() <= kMostTogether, "too many proofs together");
    for (const auto& witness : witnesses) {
      world_.expect(witness->inputs[0] == witnesses[0]->inputs[0], "partitions of several jobs together");
    }
    scratch = gpu_memory > 0 ? kSimGpuHost : circuit.scratch(witnesses.size());
    check_gpu_memory(circuit.scratch(witnesses.size()));
    cancelled_ = yielding_ = false;
    groups.push_back(static_cast<uint32_t>(witnesses.size()));
    group_ = {&circuit, std::move(witnesses), std::move(done), {}, generation_};
    prove_next();
  }

  void cancel() override {
    const WorldCode world;
    cancelled_ = true;
    if (const auto stop = std::exchange(stop_load_, nullptr)) stop();
  }
  void yield() override {
    ++yields;
    yielding_ = true;
  }

  void replace(const std::string& why, bool out_of_use) override {
    const WorldCode world;
    replaced.push_back(why + (out_of_use ? ", out of use" : ""));
    world_.in(Milliseconds(0), [this, out_of_use] { die_now(out_of_use); });
  }

  // Its process ends, whatever it does.
  template <class Done>
  void end_process(const Done& done) {
    die();
    done(Error(ErrorClass::kDeviceFault, "the process ended"));
    if (changed_) changed_();
  }
  void die(bool out_of_use = false) {
    ++generation_;
    resident.clear();
    scratch = 0;
    const bool given_up = out_of_use || world_.chance(faults_.give_up);
    state_ = given_up ? DeviceState::kGivenUp : DeviceState::kRestarting;
    world_.in(world_.random_time(100, given_up ? 60'000 : 3'000), [this, life = generation_] {
      if (life == generation_) become(DeviceState::kIdle);
    });
  }
  void die_now(bool out_of_use = false) {
    die(out_of_use);
    if (changed_) changed_();
  }

  // Of the host's memory.
  uint64_t bytes() const {
    uint64_t sum = scratch;
    if (gpu_memory > 0) return sum;
    for (const SimCircuit& circuit : kCircuits) sum += resident.contains(circuit.id) ? circuit.resident : 0;
    return sum;
  }

  std::set<std::string> resident, refuses;
  uint64_t scratch = 0, loads = 0, stopped_loads = 0;
  uint64_t gpu_memory = 0;                                 // 0: it proves in the host's memory
  bool in_pieces = false;                                  // a GPU that loads a circuit only where it holds no other
  uint32_t fail_next = 0, wrong_next = 0, error_next = 0;  // proofs
  ErrorClass error_class = ErrorClass::kInternal;          // of error_next
  uint32_t stop_next = 0;                                  // proofs and loads that end as if they had been cancelled
  uint32_t fail_in_group_of = 0;                           // at its second proof, once
  std::vector<uint32_t> groups;                            // how many it was asked to prove together, each time
  uint32_t yields = 0;
  std::vector<std::string> replaced;
  std::function<void(uint32_t, const PackedWitness&)> on_prove;

 private:
  void become(DeviceState state) {
    state_ = state;
    if (changed_) changed_();
  }
  bool begin(DeviceState state) {
    if (state_ != DeviceState::kIdle) return false;
    state_ = state;
    stop_load_ = nullptr;
    return true;
  }
  template <class Done>
  void busy(Done done) {
    world_.in(Milliseconds(0), [done = std::move(done)] { done(Error(ErrorClass::kUsage, "busy")); });
  }
  // The state is told before or after the result.
  template <class Done, class Outcome>
  void finish(const Done& done, Outcome outcome) {
    const bool before = world_.chance(0.5);
    state_ = DeviceState::kIdle;
    if (before && changed_) changed_();
    done(std::move(outcome));
    if (changed_) changed_();
  }
  // One after the other. The last, which the group ends with, does not differ from the others here.
  void prove_next() {
    const SimCircuit& circuit = *group_.circuit;
    world_.in(world_.random_time(circuit.prove_ms / 2, circuit.prove_ms), [this] {
      if (generation_ == group_.life) return end_one();
      std::exchange(group_.done, nullptr)(Error(ErrorClass::kDeviceFault, "the process ended"));
    });
  }
  void end_one() {
    const bool planned = group_.proofs.size() == 1 && fail_in_group_of == group_.witnesses.size();
    if (planned) fail_in_group_of = 0;
    if (world_.chance(faults_.prove_fault) || fail_next > 0 || planned) {
      fail_next -= fail_next > 0;
      return end_process(std::exchange(group_.done, nullptr));
    }
    if (cancelled_ || stop_next > 0) {
      stop_next -= stop_next > 0;
      return finish_group(Error(ErrorClass::kCancelled, "cancelled"));
    }
    const PackedWitness& witness = *group_.witnesses[group_.proofs.size()];
    if (!witness.inputs[2].is_zero()) {
      const Error violated(ErrorClass::kUnsatisfied, "some constraint is violated");
      return group_.proofs.empty() ? finish_group(violated) : finish_group(group_.proofs);
    }
    group_.proofs.push_back(proof_of(witness));
    const bool last = group_.proofs.size() == group_.witnesses.size();
    const bool cut = !last && faults_.short_group > 0 && world_.chance(faults_.short_group);
    if (last || yielding_ || cut) return finish_group(group_.proofs);
    if (on_prove) on_prove(ordinal_, *group_.witnesses[group_.proofs.size()]);
    prove_next();
  }
  void finish_group(Result<Proofs> result) {
    scratch = 0;
    const auto done = std::exchange(group_.done, nullptr);
    finish(done, std::move(result));
  }
  Result<PartitionProof> proof_of(const PackedWitness& witness) {
    if (error_next > 0) {
      --error_next;
      return Error(error_class, "as the test wants it");
    }
    if (faults_.refused_proof > 0 && world_.chance(faults_.refused_proof)) {
      return Error(world_.chance(0.5) ? ErrorClass::kBadProof : ErrorClass::kInternal, "it may happen");
    }
    PartitionProof out;
    out.proof = sim_proof(witness.inputs[0].to_plain()[0], witness.inputs[1].to_plain()[0]);
    if (world_.chance(faults_.wrong_proof) || wrong_next > 0) {
      wrong_next -= wrong_next > 0;
      out.proof[9] = 0;
    }
    return out;
  }

  // What is resident and the scratch memory of any of it fit, or `scratch_now`.
  void check_gpu_memory(uint64_t scratch_now = 0) const {
    if (gpu_memory == 0) return;
    uint64_t sum = 0, most = scratch_now;
    for (const SimCircuit& circuit : kCircuits) {
      if (!resident.contains(circuit.id)) continue;
      sum += circuit.resident;
      most = std::max(most, circuit.prove_scratch);
    }
    world_.expect(sum + most <= gpu_memory, "a GPU holds more than it has");
  }

  World& world_;
  const uint32_t ordinal_;
  const SimFaults faults_;
  DeviceState state_ = DeviceState::kStarting;
  uint64_t generation_ = 1;
  bool cancelled_ = false, yielding_ = false;
  struct Group {
    const SimCircuit* circuit = nullptr;
    Witnesses witnesses;
    std::function<void(Result<Proofs>)> done;
    Proofs proofs;
    uint64_t life = 0;
  };
  Group group_;
  std::function<void()> stop_load_;
  std::function<void()> changed_;
};

// The disk: it stays when the process ends.
struct SimDisk {
  struct Record {
    std::string job_id;
    std::shared_ptr<const Submission> submission;
    PayloadDigest digest{};
    Priority priority = Priority::kNormal;
    std::optional<JobResult> result;
    std::chrono::system_clock::time_point ended;
  };
  std::map<JobKey, Record> records;
  JobKey next_key = 1;
  bool broken = false;
  std::function<void()> during_accept;  // once, while the next record is being written
  std::function<void()> on_forget;
  std::vector<std::pair<JobKey, Error>> damaged;  // records
  bool refuses_results = false, no_memory = false;
};

class SimLog final : public JobLog {
 public:
  SimLog(World& world, std::shared_ptr<SimDisk> disk) : world_(world), disk_(std::move(disk)) {
    first_key_ = disk_->next_key;
    disk_->next_key += 1000;
  }
  JobKey first_key() const override { return first_key_; }
  Result<Journal::Recovered> recover() override {
    const WorldCode world;
    Journal::Recovered out;
    out.damaged = disk_->damaged;
    for (const auto& [key, record] : disk_->records) {
      if (record.result) {
        out.ended.push_back(
            {key, record.submission->kind, record.priority, record.digest, *record.result, record.ended});
      } else {
        out.pending.push_back({key, record.job_id, record.submission, record.digest, {}});
      }
    }
    return out;
  }
  Status accept(JobKey key, const std::string& job_id, const Submission& submission, const PayloadDigest& digest,
                std::chrono::system_clock::time_point) override {
    const WorldCode world;
    if (const auto meanwhile = std::exchange(disk_->during_accept, nullptr)) meanwhile();
    if (disk_->no_memory) throw std::bad_alloc();
    if (disk_->broken) return Error(ErrorClass::kResource, "the disk is full");
    if (disk_->records.contains(key)) return {};
    disk_->records[key] = {job_id, std::make_shared<const Submission>(submission), digest, Priority::kNormal, {}};
    return {};
  }
  Status finish(JobKey key, ProofKind, Priority priority, const PayloadDigest&, const JobResult& result,
                std::chrono::system_clock::time_point ended) override {
    const WorldCode world;
    if (disk_->refuses_results) return Error(ErrorClass::kResource, "the disk is full of proofs");
    const auto at = disk_->records.find(key);
    world_.expect(at != disk_->records.end(), "a job is finished that was not accepted");
    if (at == disk_->records.end()) return {};
    world_.expect(!at->second.result, "a job is finished twice");
    at->second.result = result;
    at->second.priority = priority;
    at->second.ended = ended;
    return {};
  }
  Status forget(std::span<const JobKey> keys) override {
    const WorldCode world;
    if (disk_->on_forget) disk_->on_forget();
    for (const JobKey key : keys) disk_->records.erase(key);
    return {};
  }
  Status close(JobKey next_key) override {
    disk_->next_key = std::max(disk_->next_key, next_key);
    return {};
  }

 private:
  World& world_;
  std::shared_ptr<SimDisk> disk_;
  JobKey first_key_ = 1;
};

}  // namespace cuzk::test
