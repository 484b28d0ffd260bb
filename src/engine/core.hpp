// The engine itself: one mutex, and decisions that follow from the order of events alone.
//
// Every event (a submission, the end of some work, a device's change, time) opens a Turn: it takes the lock, notes what
// happened, lets pump() decide what is done next, and lets go of the lock before devices and others are called.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/memory_reserve.hpp"
#include "engine/clock.hpp"
#include "engine/engine.hpp"
#include "engine/executor.hpp"
#include "engine/job_log.hpp"
#include "engine/observer.hpp"
#include "engine/options.hpp"
#include "engine/outbox.hpp"
#include "engine/run.hpp"
#include "residency/residency_table.hpp"

namespace cuzk {

struct CoreParts {
  std::shared_ptr<HostBudget> budget;
  std::shared_ptr<ProofService> service;
  std::vector<std::unique_ptr<Device>> devices;
  std::unique_ptr<Executor> executor;
  std::shared_ptr<const Clock> clock;
  std::unique_ptr<JobLog> log;               // may be absent
  std::shared_ptr<EngineObserver> observer;  // may be absent
  std::shared_ptr<MemoryReserve> reserve;    // may be absent
};

class EngineCore final : public Engine, public std::enable_shared_from_this<EngineCore> {
 public:
  EngineCore(EngineOptions options, CoreParts parts);

  // Once, before everything else: takes up what the journal has, and listens to the devices.
  Status start();
  // Waits for what is being done; afterwards nothing is called any more. Once, before the last reference goes.
  void stop();

  using Engine::submit;
  SubmitOutcome submit(Submission submission, Attendance attendance, Reservation received) override;
  Result<Reservation> reserve_upload(uint64_t bytes) override;
  std::optional<JobKey> find(std::string_view job_id) const override;
  WatchId watch(JobKey job, std::function<void(const JobResult&)> done) override;
  void unwatch(WatchId watch) override;
  CancelOutcome cancel(std::string_view job_id) override;
  void preload(std::string_view circuit, std::function<void(Result<Preloaded>)> done) override;
  void evict(std::string_view circuit, std::function<void(Result<Evicted>)> done) override;
  EngineStatus status() const override;
  void drain(Instant deadline, std::function<void()> done) override;

 private:
  friend class CoreInspection;  // of tests
  class Turn;
  using RunPtr = std::shared_ptr<Run>;

  // core_submit.cpp
  struct Plan {  // what a new job is admitted with
    RequestNeeds request;
    uint64_t need = 0;
    std::optional<std::string> never;  // it can never fit, and why
  };
  Plan plan(const RequestNeeds& request) const;
  std::optional<std::string> fits_no_device(CircuitIndex circuit) const;
  std::optional<std::string> exceeds_memory(uint64_t bytes) const;
  std::optional<Refusal> admit(JobKey key, const Plan& plan);
  RunPtr add_run(const Job& job, const Plan& plan, Reservation request);
  void count_accepted(JobKey key);
  void activate(JobKey key);
  std::optional<Instant> deadline_of(const Submission& submission) const;
  SubmitOutcome refuse(ProofKind kind, Refusal refusal);
  std::optional<Refusal> write_to_journal(const Admitted& admitted, const std::string& job_id,
                                          const Submission& submission, const PayloadDigest& digest);
  void restore(const Journal::Recovered& recovered);
  void reprioritise(JobKey key);
  void call_watcher(WatchId watch, const std::shared_ptr<const JobResult>& result);

  // core_pump.cpp
  void pump();
  void end_due();
  void arm_timer();
  void fail_without_device();
  void fail_what_fits_no_device();
  void check_drain();

  // core_host.cpp: work on threads
  enum class HostStage : uint8_t { kCheck, kWitness, kVerify, kDiagnose, kPrepare };
  struct HostChoice {
    Task task;
    HostStage stage = HostStage::kCheck;
    CircuitIndex circuit = 0;  // kPrepare
  };
  void start_host_work();
  std::vector<HostChoice> host_choices() const;
  bool start_host(const HostChoice& choice);
  bool start_check(const Task& task);
  bool start_witness(const Task& task);
  void start_verify(const Task& task);
  void start_diagnosis(const Task& task);
  void start_prepare(CircuitIndex circuit);
  void post(Priority priority, std::function<void()> work);
  void begin_run(Run& run);
  void on_checked(const RunPtr& run, Result<std::shared_ptr<const JobWork>> work, Reservation scratch, Instant began);
  Status take_work(Run& run, std::shared_ptr<const JobWork> work);
  void on_witness(const RunPtr& run, uint32_t partition, Result<PackedWitness> witness, Reservation scratch,
                  Instant began);
  void on_verified(const RunPtr& run, Result<std::vector<uint32_t>> wrong, Instant began);
  void on_diagnosed(const RunPtr& run, uint32_t partition, Status found);
  void on_prepared(CircuitIndex circuit, Result<CircuitFiles> files);
  bool may_make_witness(const Task& task) const;
  size_t witnesses_of(CircuitIndex circuit, Priority least) const;
  bool files_known(CircuitIndex circuit) const;
  bool files_fresh(CircuitIndex circuit) const;
  void want_files(CircuitIndex circuit, const Task& task);
  std::vector<uint8_t> proof_of(const Run& run) const;

  // core_devices.cpp, core_groups.cpp: work on devices
  struct Candidate {
    Task task;
    std::optional<CircuitIndex> circuit;  // nothing: a CRITICAL job whose input is being read
    bool ready = false;
    std::optional<uint32_t> avoid;
  };
  void dispatch();
  bool assign_one(std::vector<uint32_t>& idle);
  bool assign(const Candidate& candidate, const std::vector<Candidate>& all, std::vector<uint32_t>& idle);
  bool assign_load(const Candidate& candidate, const std::vector<Candidate>& all, const std::vector<uint32_t>& able,
                   std::vector<uint32_t>& idle);
  std::vector<Candidate> device_candidates() const;
  std::vector<uint32_t> able_devices(const Candidate& candidate, const std::vector<uint32_t>& among) const;
  bool may_run(uint32_t device, CircuitIndex circuit, std::optional<uint32_t> avoid) const;
  bool holds(const Candidate& candidate) const;
  bool wants_load(const Candidate& candidate) const;
  bool worth_a_copy(uint32_t device, const Candidate& candidate) const;
  bool swap_must_wait(uint32_t device, const Candidate& candidate, const std::vector<Candidate>& all);
  size_t pending_tasks(CircuitIndex circuit) const;
  uint32_t ready_lane(CircuitIndex circuit, std::optional<uint32_t> avoid) const;
  void push_ready(Run& run, uint32_t partition);
  void start_prove(uint32_t device, const Candidate& candidate);
  uint32_t most_together(const DeviceSlot& slot) const {
    return slot.info.is_gpu ? options_.gpu_group : options_.other_group;
  }
  std::vector<uint32_t> group_for(uint32_t device, const Candidate& candidate) const;
  uint32_t fitting_group(uint32_t device, CircuitIndex circuit, uint32_t most) const;
  void yield_groups();
  bool must_yield(uint32_t device);
  bool would_take(uint32_t device, const Candidate& candidate, const std::vector<Candidate>& all);
  bool other_is_idle(uint32_t device) const;
  bool start_load(uint32_t device, CircuitIndex circuit, const Task& task, const RunPtr& run);
  bool start_unload(uint32_t device);
  void stop_load(DeviceSlot& slot);
  void ask_again(uint32_t device, uint64_t work_number);
  void stop_loads_for_critical();
  void on_device_changed(uint32_t device);
  void on_loaded(uint32_t device, uint64_t work_number, Result<LoadReport> result);
  void on_unloaded(uint32_t device, uint64_t work_number, Status result);
  void on_proved(uint32_t device, uint64_t work_number, Result<Proofs> result);
  void put_back(const RunPtr& run, uint32_t partition);
  void take_proof(uint32_t device, const RunPtr& run, uint32_t partition, Result<PartitionProof> result,
                  uint64_t device_ms);
  Error judged(uint32_t device, Error error, bool asked_to_stop);
  void drop_witness(Partition& partition);
  void redo_after_fault(const RunPtr& run, uint32_t partition, uint32_t device, Error error);
  void distrust(uint32_t device);
  void replace_process(uint32_t device, std::string why, bool out_of_use);
  void redo_wrong(const RunPtr& run, uint32_t partition, uint32_t device, Error error);
  void redo_unexplained(const RunPtr& run, uint32_t partition, uint32_t device, Error error);
  void redo_with_new_witness(const RunPtr& run, uint32_t partition, uint32_t device);
  void refuse_circuit(uint32_t device, CircuitIndex circuit, const Error& error);
  bool clear_device(uint32_t device, const Error& error);
  // Reads the device's state without the lock, and stores it with it.
  struct Seen {
    DeviceInfo info;
    DeviceState state;
    uint64_t generation;
  };
  Seen look_at(uint32_t device) const;
  void note(uint32_t device, const Seen& seen);
  void forget_resident(uint32_t device, CircuitIndex circuit, std::string_view why);
  size_t usable_devices() const;

  // core_memory.cpp
  void look_at_reserve();
  bool short_of_memory(Priority priority) const;
  struct MemoryUse {  // what memory is needed for
    std::optional<CircuitIndex> circuit;
    std::optional<uint32_t> device;
  };
  bool make_room(const Task& task, uint64_t bytes, const MemoryUse& use);
  uint64_t free_headroom() const;
  std::optional<Reservation> take_for_upload(uint64_t bytes);
  std::optional<Reservation> try_reserve(const Task& task, uint64_t bytes, std::string_view what, const MemoryUse& use);
  void give_up_for(const Task& task, uint64_t bytes, const MemoryUse& use);
  ResidencyTable with_kept_in_use(const Task& task, const MemoryUse& use, bool one_copy) const;
  bool drop_later_witnesses(const Task& task, uint64_t bytes);
  bool make_device_room(uint32_t device, const DeviceNeeds& needs);
  uint64_t device_scratch(uint32_t device) const;
  void fit_to(Reservation& reservation, uint64_t bytes, std::string_view what);
  void unload_victims(const ResidencyTable::Victims& victims, std::string_view why);
  uint64_t needed_by(CircuitIndex circuit) const;
  bool fits_device(const DeviceSlot& slot, const DeviceNeeds& needs) const;
  bool fits_gpu(const DeviceSlot& slot, const DeviceNeeds& needs) const;
  ResidencyTable& table_of(uint32_t device) { return residency_[residency_of_[device]]; }
  const ResidencyTable& table_of(uint32_t device) const { return residency_[residency_of_[device]]; }
  bool resident(uint32_t device, CircuitIndex circuit) const;
  bool loading(uint32_t device, CircuitIndex circuit) const;

  // core_end.cpp
  void end_job(const RunPtr& run, JobState state, std::optional<Error> error, std::vector<uint8_t> proof = {});
  void end_by_key(JobKey key, JobState state, Error error);
  void drop_run(const RunPtr& run);
  void leave_stages(const Run& run);
  void forget_in_journal(std::vector<JobKey> keys);
  void deliver(JobKey key, JobResult result);
  void record(const Job& job, JobResult result);
  void stop_work_of(const Run& run);
  void park(Run& run);
  void fail_all_of(CircuitIndex circuit, const Error& error);

  // core_residents.cpp: preload and evict
  struct PreloadWork {
    CircuitIndex circuit = 0;
    std::function<void(Result<Preloaded>)> done;
    std::set<uint32_t> devices;  // still to be loaded
    uint64_t load_ms = 0;
    bool any = false;
    uint32_t faults = 0;
    std::optional<Instant> short_since;  // when it first lacked memory on a device that could load it
    std::optional<Error> error;
  };
  struct EvictWork {
    CircuitIndex circuit = 0;
    std::function<void(Result<Evicted>)> done;
    std::set<uint32_t> devices;  // still to be unloaded
    uint64_t freed = 0;
  };
  bool start_preload(std::vector<uint32_t>& idle);
  bool nothing_ends() const;
  bool preload_is_next(uint32_t device);
  void note_preload(uint32_t device, CircuitIndex circuit, const Result<LoadReport>& result);
  void note_unload(uint32_t device, CircuitIndex circuit, uint64_t bytes);
  void note_prepared_failed(CircuitIndex circuit, const Error& error);
  void settle_residents();

  // core_status.cpp
  JobStatus status_of(const Job& job) const;
  DeviceStatus status_of(const DeviceSlot& slot) const;
  std::vector<ResidentStatus> resident_status() const;

  // What is told, in order.
  template <class Call>
  void tell(Call call) {
    if (observer_ == nullptr) return;
    outbox_.push([observer = observer_, call = std::move(call)] { call(*observer); });
  }
  void tell_stage_begin(const RunPtr& run, Stage stage, std::optional<uint32_t> partition,
                        std::optional<uint32_t> device, uint64_t ms_ago = 0);
  void tell_stage_end(const RunPtr& run, Stage stage, std::optional<uint32_t> partition, std::optional<uint32_t> device,
                      uint64_t ms, std::optional<Error> error);
  void tell_warning(Error error);

  const CircuitSpec& spec_of(CircuitIndex circuit) const { return circuit_specs()[circuit]; }
  static CircuitIndex index_of_circuit(const CircuitSpec& spec);
  uint64_t ms_since(Instant instant) const;
  static Task task_of(const Run& run, uint32_t partition, uint32_t lane = 0) {
    return {run.priority, run.key, partition, lane};
  }

  const EngineOptions options_;
  const std::shared_ptr<HostBudget> budget_;
  const std::shared_ptr<ProofService> service_;
  const std::shared_ptr<const Clock> clock_;
  const std::shared_ptr<EngineObserver> observer_;
  const std::unique_ptr<JobLog> log_;
  const std::shared_ptr<MemoryReserve> reserve_;
  std::unique_ptr<Executor> executor_;
  std::vector<std::unique_ptr<Device>> owned_devices_;
  uint64_t headroom_ = 0;  // of the budget, for requests, uploads and CRITICAL work only
  Instant born_{};

  mutable std::mutex mutex_;
  std::atomic<bool> stopped_ = false;  // changes with the mutex only
  // All below: with the mutex.
  Instant now_{};                                     // of this turn
  std::vector<std::function<void()>> calls_;          // to devices, after this turn
  std::vector<std::shared_ptr<const void>> dropped_;  // large things that this turn has let go of

  JobTable table_;
  std::map<JobKey, RunPtr> runs_;
  std::set<JobKey> inactive_;  // being written into the journal
  std::multiset<uint64_t> needs_;
  uint64_t held_bytes_ = 0;  // of requests

  // Stages. Lanes of witness_, making_: the circuit; of ready_: ready_lane().
  TaskQueue check_, witness_, making_, ready_, verify_, diagnose_;
  std::set<JobKey> checking_critical_;
  uint32_t host_running_ = 0;
  std::map<CircuitIndex, CircuitState> circuits_;

  std::vector<DeviceSlot> devices_;
  std::vector<ResidencyTable> residency_;  // of host memory, then one a device with its own
  std::vector<size_t> residency_of_;       // by device
  uint64_t next_work_ = 1;
  std::optional<Instant> no_device_since_;
  bool device_memory_changed_ = false;  // or has become known

  bool memory_short_ = false;             // in spite of the budget
  uint64_t reserve_uses_ = 0;             // that were noted
  std::optional<Instant> shortage_told_;  // when it was told last that memory ran out
  bool shortage_open_ = false;            // and not yet that it is there again

  std::optional<Task> barrier_, blocked_;  // nobody behind it gets memory; the first that lacked memory in this pass
  std::optional<Instant> armed_;

  std::vector<PreloadWork> preloads_;
  std::vector<EvictWork> evictions_;

  bool draining_ = false, drain_cut_ = false;
  Instant drain_deadline_{};
  std::vector<std::function<void()>> drained_;
  std::set<JobKey> being_recorded_;  // whose results are being written into the journal

  struct Watch {
    JobKey job = 0;
    WatchId in_table = 0;  // 0: the job had ended
    std::function<void(const JobResult&)> done;
    std::optional<std::thread::id> calling;
  };
  WatchId next_watch_ = 1;
  std::map<WatchId, Watch> watches_;
  std::map<WatchId, WatchId> watch_of_table_;
  std::condition_variable called_;

  std::map<JobKey, std::vector<PartitionStatus>> ended_partitions_;  // of those still shown
  std::deque<std::pair<Instant, JobKey>> shown_;                     // and when they ended
  std::array<KindCounters, kProofKinds.size()> counters_{};
  uint64_t refused_ = 0, wrong_proofs_ = 0, device_faults_ = 0, redone_ = 0;

  Outbox outbox_;
};

// Takes the lock; when it is destroyed decides, lets go of the lock, and calls. Half a turn is worth nothing, so where
// memory runs out it goes on with that of the reserve, and does not throw.
class EngineCore::Turn {
 public:
  explicit Turn(EngineCore& core);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  EngineCore& core_;
  const UsesReserve uses_reserve_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace cuzk
