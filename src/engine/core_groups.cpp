// Partitions that a device proves together: which of them, and when they give way to others.
#include <algorithm>

#include "base/assert.hpp"
#include "engine/core.hpp"

namespace cuzk {

void EngineCore::start_prove(uint32_t device, const Candidate& candidate) {
  DeviceSlot& slot = devices_[device];
  const CircuitIndex circuit = *candidate.circuit;
  const CircuitSpec& spec = spec_of(circuit);
  if (!make_room(candidate.task, service_->device_needs(spec, slot.info).prove_scratch, {circuit, device})) return;
  const std::vector<uint32_t> group = group_for(device, candidate);
  const auto together = static_cast<uint32_t>(group.size());
  auto scratch = budget_->reserve(service_->device_needs(spec, slot.info, together).prove_scratch, "proving");
  if (!scratch.ok()) return;
  const RunPtr run = runs_.at(candidate.task.job);
  Witnesses witnesses;
  for (const uint32_t k : group) {
    Partition& partition = run->partitions[k];
    ready_.remove(run->key, k);
    partition.state = PartitionState::kDevice;
    partition.device = device;
    witnesses.push_back(partition.witness);
    table_of(device).use(device, spec);
    tell([run, k, device](EngineObserver& observer) {
      observer.on_picked_up({run->key, run->job_id, run->kind, Stage::kDevice, k, device, 0});
    });
  }
  tell_stage_begin(run, Stage::kDevice, group.front(), device);
  run->passed_over.reset();
  slot.work = DeviceSlot::Work::kProve;
  slot.work_number = next_work_++;
  slot.circuit = circuit;
  slot.run = run;
  slot.partitions = group;
  slot.yielding = false;
  slot.began = now_;
  slot.scratch = std::move(scratch).value();
  calls_.push_back([this, to = slot.device, spec = &spec, witnesses = std::move(witnesses), device,
                    number = slot.work_number, weak = weak_from_this()] {
    to->prove(*spec, witnesses, [weak, device, number](Result<Proofs> result) {
      if (const auto core = weak.lock()) core->on_proved(device, number, std::move(result));
    });
    ask_again(device, number);
  });
}

// The candidate and what comes next of its job and is ready: nobody stands between the partitions of a job. Each device
// that has the circuit gets its share of what there is to do. A partition that a device has failed under goes alone, so
// that it takes no others with it.
std::vector<uint32_t> EngineCore::group_for(uint32_t device, const Candidate& candidate) const {
  const Run& run = *runs_.at(candidate.task.job);
  const CircuitIndex circuit = *candidate.circuit;
  std::vector<uint32_t> group = {candidate.task.partition};
  if (run.partitions[candidate.task.partition].faults > 0) return group;
  size_t having = 0;
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    having += devices_[d].usable() && (resident(d, circuit) || loading(d, circuit));
  }
  const size_t share = (pending_tasks(circuit) + having - 1) / having;
  const size_t most = std::min<size_t>(most_together(devices_[device]), share);
  for (const Task& task : ready_.of_job_from(candidate.task, most)) {
    const bool alone = run.partitions[task.partition].faults > 0;
    if (!(task == candidate.task) && !alone) group.push_back(task.partition);
  }
  group.resize(fitting_group(device, circuit, static_cast<uint32_t>(group.size())));
  return group;
}

// What the memory of the device and that of the host have room for now. Nothing is given up for it, and nobody who
// waits for memory waits longer.
uint32_t EngineCore::fitting_group(uint32_t device, CircuitIndex circuit, uint32_t most) const {
  if (blocked_ || barrier_) return 1;
  const DeviceInfo& info = devices_[device].info;
  for (; most > 1; --most) {
    const DeviceNeeds needs = service_->device_needs(spec_of(circuit), info, most);
    const bool on_device = !info.is_gpu || info.memory_usable_bytes == 0 ||
                           table_of(device).bytes(device) + needs.device_scratch <= info.memory_usable_bytes;
    if (on_device && needs.prove_scratch + free_headroom() <= budget_->available()) break;
  }
  return most;
}

// A group goes on at its next partition as long as the device, were it free then, would be given the same.
void EngineCore::yield_groups() {
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    DeviceSlot& slot = devices_[d];
    const bool goes_on = slot.work == DeviceSlot::Work::kProve && slot.partitions.size() > 1 && !slot.run->ended;
    if (!goes_on || slot.yielding || !must_yield(d)) continue;
    slot.yielding = true;
    calls_.push_back([device = slot.device] { device->yield(); });
  }
}

bool EngineCore::must_yield(uint32_t device) {
  const DeviceSlot& slot = devices_[device];
  if (slot.run->parked || !slot.to_unload.empty()) return true;
  std::vector<Candidate> all = device_candidates();
  const Candidate rest{task_of(*slot.run, slot.partitions[1]), slot.circuit, true, std::nullopt};
  // What a partition that has been proved holds comes back with the group's end.
  for (const std::optional<Task>& lacks_memory : {barrier_, blocked_}) {
    if (lacks_memory && *lacks_memory < rest.task) return true;
  }
  all.insert(std::find_if(all.begin(), all.end(), [&](const Candidate& other) { return rest.task < other.task; }),
             rest);
  const bool urgent = all.front().task.priority > Priority::kNormal;
  if (!urgent && preload_is_next(device)) return true;
  bool kept = false;  // another device is, for a CRITICAL job, so it is not to take the rest
  for (const Candidate& candidate : all) {
    if (candidate.task.job == rest.task.job) break;
    if (would_take(device, candidate, all)) return true;
    kept = kept || holds(candidate);
  }
  return !kept && other_is_idle(device);
}

// As assign() would decide if the device were free.
bool EngineCore::would_take(uint32_t device, const Candidate& candidate, const std::vector<Candidate>& all) {
  const auto can = [&](uint32_t d) {
    return !candidate.circuit || (may_run(d, *candidate.circuit, candidate.avoid) && resident(d, *candidate.circuit));
  };
  if (candidate.ready && can(device)) return true;
  const auto kept = [&] {
    for (uint32_t d = 0; d < devices_.size(); ++d) {
      if (d != device && devices_[d].idle() && can(d)) return false;
    }
    return holds(candidate);
  };
  if (can(device)) return kept();
  const CircuitIndex circuit = *candidate.circuit;
  if (!may_run(device, circuit, candidate.avoid) || !wants_load(candidate)) return false;
  if (!files_fresh(circuit)) {
    if (runs_.at(candidate.task.job)->work != nullptr) want_files(circuit, candidate.task);
    return kept();
  }
  return !swap_must_wait(device, candidate, all) && worth_a_copy(device, candidate);
}

// A device that could take the rest of the group has nothing to do.
bool EngineCore::other_is_idle(uint32_t device) const {
  if (blocked_) return false;
  const CircuitIndex circuit = devices_[device].circuit;
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    if (d != device && devices_[d].idle() && resident(d, circuit) && may_run(d, circuit, std::nullopt)) return true;
  }
  return false;
}

// As if it had never begun.
void EngineCore::put_back(const RunPtr& run, uint32_t k) {
  Partition& partition = run->partitions[k];
  partition.device.reset();
  if (!run->parked) return push_ready(*run, k);
  partition.state = PartitionState::kPending;
  drop_witness(partition);
}

}  // namespace cuzk
