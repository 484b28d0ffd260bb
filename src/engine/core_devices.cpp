// Which device does what next.
#include <algorithm>

#include "base/assert.hpp"
#include "engine/core.hpp"

namespace cuzk {

uint32_t EngineCore::ready_lane(CircuitIndex circuit, std::optional<uint32_t> avoid) const {
  return static_cast<uint32_t>(circuit * (devices_.size() + 1) + (avoid ? 1 + *avoid : 0));
}

void EngineCore::push_ready(Run& run, uint32_t k) {
  Partition& partition = run.partitions[k];
  partition.state = PartitionState::kReady;
  ready_.push(task_of(run, k, ready_lane(*run.circuit, partition.avoid)));
  const auto at = runs_.find(run.key);
  tell([kept = at->second, k](EngineObserver& observer) {
    observer.on_ready({kept->key, kept->job_id, kept->kind, Stage::kWitness, k, std::nullopt, 0});
  });
}

bool EngineCore::resident(uint32_t device, CircuitIndex circuit) const {
  return table_of(device).resident(device, spec_of(circuit));
}

bool EngineCore::loading(uint32_t device, CircuitIndex circuit) const {
  const DeviceSlot& slot = devices_[device];
  return slot.work == DeviceSlot::Work::kLoad && slot.circuit == circuit;
}

// Who might be next on a device: of every circuit the first task that is ready and the first that is not, and CRITICAL
// jobs whose input is being read, so that they find a free device. In order.
std::vector<EngineCore::Candidate> EngineCore::device_candidates() const {
  std::vector<Candidate> out;
  for (const Task& task : ready_.first_of_lanes()) {
    const Run& run = *runs_.at(task.job);
    out.push_back({task, run.circuit, true, run.partitions[task.partition].avoid});
  }
  for (const TaskQueue* queue : {&making_, &witness_}) {
    for (const Task& task : queue->first_of_lanes()) {
      const Run& run = *runs_.at(task.job);
      out.push_back({task, run.circuit, false, run.partitions[task.partition].avoid});
    }
  }
  size_t held = 0;
  for (const JobKey key : checking_critical_) {
    if (++held > devices_.size()) break;
    const Run& run = *runs_.at(key);
    out.push_back({task_of(run, 0), run.circuit, false, std::nullopt});
  }
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) { return a.task < b.task; });
  return out;
}

void EngineCore::dispatch() {
  while (!checking_critical_.empty() &&
         now_ - runs_.at(*checking_critical_.begin())->submitted >= options_.critical_hold) {
    checking_critical_.erase(checking_critical_.begin());
  }
  std::vector<uint32_t> idle;
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    std::erase_if(devices_[d].refused, [&](const auto& refused) { return refused.second.until <= now_; });
    if (devices_[d].idle() && !start_unload(d)) idle.push_back(d);
  }
  while (!idle.empty() && assign_one(idle)) {
  }
  // What was found to be in the way goes at once: nothing else may happen for long.
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d].idle()) start_unload(d);
  }
  stop_loads_for_critical();
  yield_groups();
}

// A CRITICAL task that is ready waits for no load that others wanted: the load is stopped, and begun again later.
void EngineCore::stop_loads_for_critical() {
  for (const Task& task : ready_.first_of_lanes()) {
    if (task.priority != Priority::kCritical) continue;
    const Run& run = *runs_.at(task.job);
    DeviceSlot* found = nullptr;
    bool served = false;  // soon, by a device that is free or has been told to stop its load
    for (uint32_t d = 0; d < devices_.size(); ++d) {
      DeviceSlot& slot = devices_[d];
      if (!may_run(d, *run.circuit, run.partitions[task.partition].avoid)) continue;
      const bool loads = slot.work == DeviceSlot::Work::kLoad;
      served = served || slot.idle() || (loads && (slot.load_stopped || slot.circuit == *run.circuit));
      const bool for_critical = slot.run != nullptr && slot.run->priority == Priority::kCritical;
      if (loads && !for_critical && (found == nullptr || resident(d, *run.circuit))) found = &slot;
    }
    if (!served && found != nullptr) stop_load(*found);
  }
}

void EngineCore::stop_load(DeviceSlot& slot) {
  slot.load_stopped = true;
  calls_.push_back([device = slot.device] { device->cancel(); });
}

// Turns decide one after the other, but their calls to a device may come in any order: one that stops work may come
// before the device has heard of that work, and does nothing.
void EngineCore::ask_again(uint32_t device, uint64_t number) {
  bool cancel = false, yield = false;
  {
    const std::lock_guard lock(mutex_);
    const DeviceSlot& slot = devices_[device];
    if (stopped_ || slot.work_number != number) return;
    if (slot.work == DeviceSlot::Work::kLoad) cancel = slot.load_stopped;
    if (slot.work == DeviceSlot::Work::kProve) {
      cancel = slot.run->ended || (slot.run->parked && drain_cut_);
      yield = slot.yielding;
    }
  }
  if (cancel) devices_[device].device->cancel();
  if (yield) devices_[device].device->yield();
}

// Gives one idle device something, or sets it aside for somebody; false where nothing is to be done.
bool EngineCore::assign_one(std::vector<uint32_t>& idle) {
  const std::vector<Candidate> candidates = device_candidates();
  const bool urgent = !candidates.empty() && candidates.front().task.priority > Priority::kNormal;
  if (!urgent && start_preload(idle)) return true;
  for (const Candidate& candidate : candidates) {
    if (assign(candidate, candidates, idle)) return true;
  }
  return urgent && start_preload(idle);
}

std::vector<uint32_t> EngineCore::able_devices(const Candidate& candidate, const std::vector<uint32_t>& among) const {
  std::vector<uint32_t> able;
  for (const uint32_t d : among) {
    if (!candidate.circuit || may_run(d, *candidate.circuit, candidate.avoid)) able.push_back(d);
  }
  return able;
}

bool EngineCore::may_run(uint32_t device, CircuitIndex circuit, std::optional<uint32_t> avoid) const {
  const DeviceSlot& slot = devices_[device];
  if (!slot.usable() || slot.refused.contains(circuit)) return false;
  if (!fits_device(slot, service_->device_needs(spec_of(circuit), slot.info))) return false;
  if (avoid != device) return true;
  for (uint32_t other = 0; other < devices_.size(); ++other) {
    if (other != device && may_run(other, circuit, std::nullopt)) return false;
  }
  return true;
}

bool EngineCore::assign(const Candidate& candidate, const std::vector<Candidate>& all, std::vector<uint32_t>& idle) {
  // Who lacks memory on one device does not have others give it up on the next.
  if (blocked_ == candidate.task) return false;
  const std::vector<uint32_t> able = able_devices(candidate, idle);
  if (able.empty()) return false;
  const auto set_aside = [&idle](uint32_t device) {
    std::erase(idle, device);
    return true;
  };
  if (!candidate.circuit) return holds(candidate) && set_aside(able.front());
  for (const uint32_t d : able) {
    if (!resident(d, *candidate.circuit)) continue;
    if (!candidate.ready) return holds(candidate) && set_aside(d);
    start_prove(d, candidate);  // or it waits for memory, and nobody else takes the device meanwhile
    return set_aside(d);
  }
  return assign_load(candidate, all, able, idle);
}

bool EngineCore::assign_load(const Candidate& candidate, const std::vector<Candidate>& all,
                             const std::vector<uint32_t>& able, std::vector<uint32_t>& idle) {
  if (!wants_load(candidate)) return false;
  const CircuitIndex circuit = *candidate.circuit;
  const auto set_aside = [&idle](uint32_t device) {
    std::erase(idle, device);
    return true;
  };
  if (!files_fresh(circuit)) {
    if (runs_.at(candidate.task.job)->work != nullptr) want_files(circuit, candidate.task);
    return holds(candidate) && set_aside(able.front());
  }
  const auto at = runs_.find(candidate.task.job);
  for (const uint32_t d : able) {
    if (swap_must_wait(d, candidate, all) || !worth_a_copy(d, candidate)) continue;
    start_load(d, circuit, candidate.task, at->second);
    return set_aside(d);
  }
  return false;
}

// A device is kept free for a CRITICAL job that will need it soon, so that it waits for nothing that began after it.
bool EngineCore::holds(const Candidate& candidate) const {
  return candidate.task.priority == Priority::kCritical &&
         now_ - runs_.at(candidate.task.job)->submitted < options_.critical_hold;
}

size_t EngineCore::pending_tasks(CircuitIndex circuit) const {
  size_t count =
      witness_.size_of_lane(static_cast<uint32_t>(circuit)) + making_.size_of_lane(static_cast<uint32_t>(circuit));
  count += ready_.size_of_lane(ready_lane(circuit, std::nullopt));
  for (uint32_t d = 0; d < devices_.size(); ++d) count += ready_.size_of_lane(ready_lane(circuit, d));
  return count;
}

// Whether one more device is to have the circuit: there are more tasks than devices that have it or will. A CRITICAL
// task does not count on those that are busy.
bool EngineCore::wants_load(const Candidate& candidate) const {
  const CircuitIndex circuit = *candidate.circuit;
  size_t having = 0;
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    const bool busy_with_it = candidate.task.priority != Priority::kCritical && candidate.avoid != d &&
                              devices_[d].usable() && !devices_[d].to_unload.contains(circuit) && resident(d, circuit);
    if (busy_with_it || loading(d, circuit)) ++having;
  }
  return std::max<size_t>(1, pending_tasks(circuit)) > having;
}

// A second copy of a circuit in the host's memory has to find room that is free, for proving with it too.
bool EngineCore::worth_a_copy(uint32_t device, const Candidate& candidate) const {
  const CircuitIndex circuit = *candidate.circuit;
  if (candidate.task.priority == Priority::kCritical) return true;
  bool elsewhere = false;
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    if (d == device || !may_run(d, circuit, candidate.avoid)) continue;
    elsewhere = elsewhere || resident(d, circuit) || loading(d, circuit);
  }
  if (!elsewhere) return true;
  const DeviceNeeds needs = service_->device_needs(spec_of(circuit), devices_[device].info);
  return budget_->available() >= needs.resident() + std::max(needs.load_scratch, needs.prove_scratch) + headroom_;
}

// Parameters are not exchanged for a task while tasks of the same priority, or ones before it, find theirs on the
// device; but the first in order is not passed over for ever.
bool EngineCore::swap_must_wait(uint32_t device, const Candidate& candidate, const std::vector<Candidate>& all) {
  Run& run = *runs_.at(candidate.task.job);
  for (const Candidate& other : all) {
    if (!other.circuit || other.circuit == candidate.circuit || !resident(device, *other.circuit)) continue;
    if (!may_run(device, *other.circuit, other.avoid)) continue;
    if (other.task < candidate.task) return true;
    if (other.task.priority != candidate.task.priority) continue;
    if (!run.passed_over) run.passed_over = now_;
    if (now_ - *run.passed_over < options_.swap_patience) return true;
  }
  return false;
}

// False where there is no memory yet. `run` may be nobody (a preload).
bool EngineCore::start_load(uint32_t device, CircuitIndex circuit, const Task& task, const RunPtr& run) {
  DeviceSlot& slot = devices_[device];
  const DeviceNeeds needs = service_->device_needs(spec_of(circuit), slot.info);
  if (!make_device_room(device, needs)) return false;
  if (!make_room(task, needs.resident() + needs.load_scratch, {circuit, device})) return false;
  auto parameters = budget_->reserve(needs.parameters, "parameters");
  auto compiled = budget_->reserve(needs.circuit, "circuit");
  auto scratch = budget_->reserve(needs.load_scratch, "proving");
  if (!parameters.ok() || !compiled.ok() || !scratch.ok()) return false;
  slot.resident[circuit] = {std::move(parameters).value(), std::move(compiled).value()};
  slot.scratch = std::move(scratch).value();
  const bool own_memory = slot.info.is_gpu;
  table_of(device).begin_load(device, spec_of(circuit), own_memory ? needs.device_resident : needs.parameters,
                              own_memory ? 0 : needs.circuit, now_);
  slot.work = DeviceSlot::Work::kLoad;
  slot.load_stopped = false;
  slot.work_number = next_work_++;
  slot.circuit = circuit;
  slot.run = run;
  slot.partition = task.partition;
  slot.began = now_;
  CircuitFiles files = circuits_[circuit].files;
  files.tables = needs.tables;
  calls_.push_back(
      [this, to = slot.device, files = std::move(files), device, number = slot.work_number, weak = weak_from_this()] {
        to->load(files, [weak, device, number](Result<LoadReport> result) {
          if (const auto core = weak.lock()) core->on_loaded(device, number, std::move(result));
        });
        ask_again(device, number);
      });
  return true;
}

// False where nothing is to be unloaded.
bool EngineCore::start_unload(uint32_t device) {
  DeviceSlot& slot = devices_[device];
  if (slot.to_unload.empty()) return false;
  const CircuitIndex circuit = slot.to_unload.begin()->first;
  table_of(device).begin_unload(device, spec_of(circuit));
  slot.work = DeviceSlot::Work::kUnload;
  slot.work_number = next_work_++;
  slot.circuit = circuit;
  slot.run = nullptr;
  slot.began = now_;
  calls_.push_back(
      [to = slot.device, spec = &spec_of(circuit), device, number = slot.work_number, weak = weak_from_this()] {
        to->unload(*spec, [weak, device, number](Status result) {
          if (const auto core = weak.lock()) core->on_unloaded(device, number, std::move(result));
        });
      });
  return true;
}

}  // namespace cuzk
