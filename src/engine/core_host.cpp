// Work on threads: reading and checking, witnesses, verification, files.
#include <algorithm>
#include <set>

#include "base/assert.hpp"
#include "engine/core.hpp"
#include "engine/error_text.hpp"
#include "engine/guarded.hpp"

namespace cuzk {
namespace {

std::shared_ptr<Reservation> shared(Reservation reservation) {
  return std::make_shared<Reservation>(std::move(reservation));
}

}  // namespace

void EngineCore::post(Priority priority, std::function<void()> work) {
  if (!stopped_) executor_->post(priority, std::move(work));
}

// As many as there are threads; one more for CRITICAL work, so that it never waits for other work to end.
void EngineCore::start_host_work() {
  for (;;) {
    const bool ordinary_free = host_running_ < executor_->threads();
    if (host_running_ > executor_->threads()) return;
    bool started = false;
    for (const HostChoice& choice : host_choices()) {
      if (!ordinary_free && choice.task.priority != Priority::kCritical) break;  // and all after it
      if (start_host(choice)) {
        started = true;
        break;
      }
    }
    if (!started) return;
  }
}

// What could be begun, the first in order first.
std::vector<EngineCore::HostChoice> EngineCore::host_choices() const {
  std::vector<HostChoice> out;
  if (const auto task = check_.first()) out.push_back({*task, HostStage::kCheck});
  if (const auto task = verify_.first()) out.push_back({*task, HostStage::kVerify});
  if (const auto task = diagnose_.first()) out.push_back({*task, HostStage::kDiagnose});
  for (const Task& task : witness_.first_of_lanes()) {
    if (may_make_witness(task)) out.push_back({task, HostStage::kWitness});
  }
  for (const auto& [circuit, state] : circuits_) {
    if (state.wanted && state.step != CircuitState::Step::kPreparing) {
      out.push_back({*state.wanted, HostStage::kPrepare, circuit});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const HostChoice& a, const HostChoice& b) { return a.task < b.task; });
  return out;
}

bool EngineCore::start_host(const HostChoice& choice) {
  switch (choice.stage) {
    case HostStage::kCheck: return start_check(choice.task);
    case HostStage::kWitness: return start_witness(choice.task);
    case HostStage::kVerify: start_verify(choice.task); return true;
    case HostStage::kDiagnose: start_diagnosis(choice.task); return true;
    case HostStage::kPrepare: start_prepare(choice.circuit); return true;
  }
  return false;
}

void EngineCore::begin_run(Run& run) {
  if (run.started) return;
  run.started = now_;
  table_.start(run.key, now_);
}

bool EngineCore::start_check(const Task& task) {
  const RunPtr run = runs_.at(task.job);
  auto scratch = try_reserve(task, run->check_scratch, "checking", {});
  if (!scratch) return false;
  check_.remove(task.job, task.partition);
  run->step = Run::Step::kChecking;
  begin_run(*run);
  ++host_running_;
  tell_stage_begin(run, Stage::kCheck, std::nullopt, std::nullopt);
  post(run->priority, [self = shared_from_this(), run, submission = run->submission,
                       memory = shared(*std::move(scratch)), began = now_]() mutable {
    auto work = guarded([&] { return self->service_->read(*submission); });
    submission.reset();
    self->on_checked(run, std::move(work), std::move(*memory), began);
  });
  return true;
}

void EngineCore::on_checked(const RunPtr& run, Result<std::shared_ptr<const JobWork>> work, Reservation scratch,
                            Instant began) {
  const Turn turn(*this);
  --host_running_;
  scratch.release();
  checking_critical_.erase(run->key);
  const uint64_t ms = ms_since(began);
  if (run->ended) {
    if (work.ok()) dropped_.push_back(std::move(work).value());
    return;
  }
  run->synthesis_ms += ms;
  const Status taken = work.ok() ? take_work(*run, std::move(work).value()) : Status(std::move(work).error());
  tell_stage_end(run, Stage::kCheck, std::nullopt, std::nullopt, ms,
                 taken.ok() ? std::nullopt : std::optional(taken.error()));
  if (!taken.ok()) return end_job(run, JobState::kFailed, taken.error());
  if (run->parked) return;
  for (uint32_t k = 0; k < run->partitions.size(); ++k) {
    witness_.push(task_of(*run, k, static_cast<uint32_t>(*run->circuit)));
  }
  if (!files_known(*run->circuit)) want_files(*run->circuit, task_of(*run, 0));
}

// Errors: kUnsupported where its circuit, which may be known only now, can never be proved here; kResource where it
// cannot beside the requests that are there.
Status EngineCore::take_work(Run& run, std::shared_ptr<const JobWork> work) {
  run.work = std::move(work);
  run.circuit = index_of_circuit(run.work->circuit());
  run.step = Run::Step::kProving;
  run.partitions = std::vector<Partition>(run.work->partitions());
  dropped_.push_back(std::exchange(run.submission, nullptr));
  dropped_.push_back(table_.drop_submission(run.key));

  const uint64_t need = needed_by(*run.circuit);
  needs_.erase(needs_.find(run.need));
  run.need = need;
  needs_.insert(need);
  if (run.work->bytes() != run.held) {
    // What was read takes the place of what came.
    fit_to(run.request, run.work->bytes(), "requests");
    held_bytes_ = held_bytes_ - run.held + run.work->bytes();
    run.held = run.work->bytes();
  }
  std::optional<std::string> never = fits_no_device(*run.circuit);
  if (!never) never = exceeds_memory(run.held + need);
  if (never) return Error(ErrorClass::kUnsupported, std::move(*never));
  if (budget_->could_ever_fit(held_bytes_ + need + headroom_)) return {};
  return Error(ErrorClass::kResource, "proving " + std::string(spec_of(*run.circuit).id()) + " needs about " +
                                          std::to_string(need) + " bytes of memory beside requests of " +
                                          std::to_string(held_bytes_) + ", and there are " +
                                          std::to_string(budget_->total()) + " (" + budget_->origin() + ")");
}

size_t EngineCore::witnesses_of(CircuitIndex circuit, Priority least) const {
  size_t count = 0;
  for (const TaskQueue* queue : {&making_, &ready_}) {
    for (const Task& task : queue->all()) {
      const bool same = queue == &making_ ? task.lane == circuit : task.lane / (devices_.size() + 1) == circuit;
      if (same && task.priority >= least) ++count;
    }
  }
  return count;
}

// For each circuit and priority apart: a circuit that waits for its parameters does not keep others from their devices.
bool EngineCore::may_make_witness(const Task& task) const {
  const CircuitIndex circuit = task.lane;
  if (!files_known(circuit)) return false;
  const size_t count = witnesses_of(circuit, task.priority);
  if (count < options_.witnesses_ahead * std::max<size_t>(1, usable_devices())) return true;
  // More, for groups that devices will take next, as long as nobody lacks the memory.
  size_t together = 0;
  for (const DeviceSlot& slot : devices_) together += slot.usable() ? most_together(slot) : 0;
  if (count >= together || runs_.at(task.job)->partitions.size() == 1 || blocked_ || barrier_) return false;
  const WitnessNeeds needs = service_->witness_needs(spec_of(circuit));
  return needs.witness + needs.scratch + free_headroom() <= budget_->available();
}

bool EngineCore::start_witness(const Task& task) {
  const RunPtr run = runs_.at(task.job);
  const CircuitIndex circuit = *run->circuit;
  const WitnessNeeds needs = service_->witness_needs(spec_of(circuit));
  if (!make_room(task, needs.witness + needs.scratch, {circuit, std::nullopt})) return false;
  auto memory = budget_->reserve(needs.witness, "witness");
  auto scratch = budget_->reserve(needs.scratch, "witness");
  if (!memory.ok() || !scratch.ok()) return false;
  const uint32_t k = task.partition;
  Partition& partition = run->partitions[k];
  partition.witness_memory = std::move(memory).value();
  partition.state = PartitionState::kWitness;
  witness_.remove(run->key, k);
  making_.push(task_of(*run, k, static_cast<uint32_t>(circuit)));
  ++host_running_;
  tell_stage_begin(run, Stage::kWitness, k, std::nullopt);
  post(run->priority, [self = shared_from_this(), run, k, work = run->work,
                       scratch = shared(std::move(scratch).value()), began = now_]() mutable {
    auto witness = guarded([&] { return work->witness(k); });
    work.reset();
    self->on_witness(run, k, std::move(witness), std::move(*scratch), began);
  });
  return true;
}

void EngineCore::on_witness(const RunPtr& run, uint32_t k, Result<PackedWitness> witness, Reservation scratch,
                            Instant began) {
  const Turn turn(*this);
  --host_running_;
  scratch.release();
  Partition& partition = run->partitions[k];
  const uint64_t ms = ms_since(began);
  if (run->ended) {
    partition.witness_memory.release();
    return;
  }
  making_.remove(run->key, k);
  run->synthesis_ms += ms;
  partition.witness_ms = ms;
  tell_stage_end(run, Stage::kWitness, k, std::nullopt, ms,
                 witness.ok() ? std::nullopt : std::optional(witness.error()));
  if (!witness.ok()) {
    partition.witness_memory.release();
    partition.state = PartitionState::kFailed;
    return end_job(run, JobState::kFailed, synthesis_failed(*run, k, std::move(witness).error()));
  }
  if (run->parked) {
    partition.witness_memory.release();
    partition.state = PartitionState::kPending;
    return;
  }
  partition.witness = std::make_shared<const PackedWitness>(std::move(witness).value());
  push_ready(*run, k);
}

void EngineCore::start_verify(const Task& task) {
  const RunPtr run = runs_.at(task.job);
  verify_.remove(task.job, task.partition);
  run->step = Run::Step::kVerifying;
  for (Partition& partition : run->partitions) partition.state = PartitionState::kVerifying;
  std::vector<ProofBytes> proofs;
  for (const Partition& partition : run->partitions) proofs.push_back(partition.proof);
  ++host_running_;
  tell_stage_begin(run, Stage::kVerify, std::nullopt, std::nullopt);
  post(run->priority,
       [self = shared_from_this(), run, work = run->work, proofs = std::move(proofs), began = now_]() mutable {
         auto wrong = guarded([&] { return work->wrong_proofs(proofs); });
         work.reset();
         self->on_verified(run, std::move(wrong), began);
       });
}

std::vector<uint8_t> EngineCore::proof_of(const Run& run) const {
  std::vector<uint8_t> proof;
  proof.reserve(run.partitions.size() * kProofBytes);
  for (const Partition& partition : run.partitions) {
    proof.insert(proof.end(), partition.proof.begin(), partition.proof.end());
  }
  return proof;
}

void EngineCore::on_verified(const RunPtr& run, Result<std::vector<uint32_t>> wrong, Instant began) {
  const Turn turn(*this);
  --host_running_;
  if (run->ended) return;
  run->step = Run::Step::kProving;
  for (Partition& partition : run->partitions) partition.state = PartitionState::kDone;
  std::optional<Error> error;
  if (!wrong.ok()) error = wrong.error();
  if (wrong.ok() && !wrong->empty()) error = verification_failed(*run);
  tell_stage_end(run, Stage::kVerify, std::nullopt, std::nullopt, ms_since(began), error);
  if (!error) {
    for (const Partition& partition : run->partitions) devices_[*partition.device].wrong_in_a_row = 0;
    return end_job(run, JobState::kCompleted, std::nullopt, proof_of(*run));
  }
  if (!wrong.ok()) return end_job(run, JobState::kFailed, std::move(error));
  std::set<uint32_t> devices;
  for (const uint32_t k : *wrong) {
    CUZK_ASSERT(k < run->partitions.size());
    devices.insert(*run->partitions[k].device);
  }
  for (const uint32_t device : devices) distrust(device);
  for (const uint32_t k : *wrong) {
    if (run->ended) return;
    --run->proved;
    redo_wrong(run, k, *run->partitions[k].device, *error);
  }
}

// A device said that the witness does not satisfy the circuit; which constraint it is only the circuit knows.
void EngineCore::start_diagnosis(const Task& task) {
  const RunPtr run = runs_.at(task.job);
  const uint32_t k = task.partition;
  diagnose_.remove(task.job, k);
  ++host_running_;
  post(run->priority, [self = shared_from_this(), run, k, work = run->work]() mutable {
    Status found = guarded([&] { return work->check(k); });
    work.reset();
    self->on_diagnosed(run, k, std::move(found));
  });
}

void EngineCore::on_diagnosed(const RunPtr& run, uint32_t k, Status found) {
  const Turn turn(*this);
  --host_running_;
  if (run->ended) return;
  if (!found.ok()) return end_job(run, JobState::kFailed, synthesis_failed(*run, k, std::move(found).error()));
  // It satisfies the circuit: the device was wrong.
  distrust(*run->partitions[k].device);
  redo_wrong(run, k, *run->partitions[k].device,
             Error(ErrorClass::kInternal, "the device says that a witness violates its circuit, which it satisfies"));
}

bool EngineCore::files_known(CircuitIndex circuit) const {
  const auto at = circuits_.find(circuit);
  if (at != circuits_.end() && at->second.step == CircuitState::Step::kPrepared) return true;
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    if (resident(d, circuit)) return true;
  }
  return false;
}

bool EngineCore::files_fresh(CircuitIndex circuit) const {
  const auto at = circuits_.find(circuit);
  return at != circuits_.end() && at->second.step == CircuitState::Step::kPrepared &&
         now_ - at->second.looked_at <= options_.recheck_files;
}

void EngineCore::want_files(CircuitIndex circuit, const Task& task) {
  if (files_fresh(circuit)) return;
  CircuitState& state = circuits_[circuit];
  if (state.step == CircuitState::Step::kPreparing) return;
  state.wanted = state.wanted ? std::min(*state.wanted, task) : task;
}

void EngineCore::start_prepare(CircuitIndex circuit) {
  CircuitState& state = circuits_[circuit];
  const Priority priority = state.wanted->priority;
  state.wanted.reset();
  state.step = CircuitState::Step::kPreparing;
  ++host_running_;
  post(priority, [self = shared_from_this(), circuit] {
    NoProgress progress;
    auto files = guarded([&] { return self->service_->prepare(self->spec_of(circuit), progress); });
    self->on_prepared(circuit, std::move(files));
  });
}

void EngineCore::on_prepared(CircuitIndex circuit, Result<CircuitFiles> files) {
  const Turn turn(*this);
  --host_running_;
  CircuitState& state = circuits_[circuit];
  state.looked_at = now_;
  if (files.ok()) {
    state.step = CircuitState::Step::kPrepared;
    state.files = std::move(files).value();
    return;
  }
  state.step = CircuitState::Step::kUnknown;
  note_prepared_failed(circuit, files.error());
  fail_all_of(circuit, files.error());
}

}  // namespace cuzk
