// What devices tell, and what becomes of it.
#include <algorithm>

#include "base/assert.hpp"
#include "base/memory_reserve.hpp"
#include "engine/core.hpp"
#include "engine/error_text.hpp"

namespace cuzk {
namespace {

bool is_cancelled(const Error& error) { return error.error_class == ErrorClass::kCancelled; }

// Nothing is wrong with the device: it was busy, or stopped for another's sake.
bool is_harmless(const Error& error) { return error.error_class == ErrorClass::kUsage || is_cancelled(error); }

// The device failed under the work, which may be done again; so may what harmless reasons kept from being done.
bool is_fault(const Error& error) {
  switch (error.error_class) {
    case ErrorClass::kDeviceFault:
    case ErrorClass::kDeviceUnusable: return true;
    default: return is_harmless(error);
  }
}

// The same work may succeed another time.
bool may_be_redone(const Error& error) { return is_fault(error) || error.error_class == ErrorClass::kResource; }

}  // namespace

// Devices lock: they are asked before the engine's own lock is taken.
EngineCore::Seen EngineCore::look_at(uint32_t device) const {
  const Device& asked = *devices_[device].device;
  Seen seen;
  seen.state = asked.state();  // before the generation: an old state of a new process does no harm
  seen.generation = asked.generation();
  seen.info = asked.info();
  return seen;
}

void EngineCore::note(uint32_t device, const Seen& seen) {
  DeviceSlot& slot = devices_[device];
  const bool is_gpu = slot.info.is_gpu;  // as it was when its ledger was chosen
  device_memory_changed_ = device_memory_changed_ || slot.info.memory_usable_bytes != seen.info.memory_usable_bytes;
  slot.info = seen.info;
  slot.info.is_gpu = is_gpu;
  slot.state = seen.state;
  if (slot.generation == seen.generation) return;
  slot.generation = seen.generation;
  slot.replacing = false;
  // A new process has nothing. What is being done calls back itself.
  for (const ResidencyTable::Entry& entry : table_of(device).erase_device(device)) {
    const CircuitIndex circuit = index_of_circuit(*entry.circuit);
    forget_resident(device, circuit, "the device's process ended");
    note_unload(device, circuit, entry.bytes());
  }
  slot.resident.clear();
  slot.to_unload.clear();
}

void EngineCore::on_device_changed(uint32_t device) {
  if (stopped_) return;
  const UsesReserve uses_reserve;
  const Seen seen = look_at(device);
  const Turn turn(*this);
  note(device, seen);
}

// What an error of the work that has just ended says. That of a process that was replaced is no fault; work that ends
// again and again for harmless reasons that nobody knows of is one: it would be begun again for ever.
Error EngineCore::judged(uint32_t device, Error error, bool asked_to_stop) {
  DeviceSlot& slot = devices_[device];
  const bool ended = error.error_class == ErrorClass::kDeviceFault || error.error_class == ErrorClass::kDeviceUnusable;
  if (ended && slot.replaced_work == slot.work_number) {
    return {ErrorClass::kCancelled, "the device's process is replaced"};
  }
  if (!is_harmless(error) || asked_to_stop) {
    slot.unexplained = 0;
    return error;
  }
  // Once it may be a cancel for the work before, which came late.
  if (++slot.unexplained <= 1) return error;
  slot.unexplained = 0;
  replace_process(device, "gave up work that nobody had stopped", false);
  return {ErrorClass::kDeviceFault, "the device gave up work that nobody had stopped: " + error.message};
}

// Its memory is free again, as far as the host's goes.
void EngineCore::forget_resident(uint32_t device, CircuitIndex circuit, std::string_view why) {
  DeviceSlot& slot = devices_[device];
  const auto at = slot.resident.find(circuit);
  slot.to_unload.erase(circuit);
  if (at == slot.resident.end()) return;
  const uint64_t bytes = at->second.parameters.bytes() + at->second.circuit.bytes();
  slot.resident.erase(at);
  tell([id = spec_of(circuit).id(), device, bytes, why = std::string(why)](EngineObserver& observer) {
    observer.on_evicted(id, device, bytes, why);
  });
}

void EngineCore::on_loaded(uint32_t device, uint64_t number, Result<LoadReport> result) {
  if (stopped_) return;
  const UsesReserve uses_reserve;
  const Seen seen = look_at(device);
  const Turn turn(*this);
  DeviceSlot& slot = devices_[device];
  if (slot.work_number != number || slot.work != DeviceSlot::Work::kLoad) return;
  slot.work = DeviceSlot::Work::kNone;
  slot.scratch.release();
  const CircuitIndex circuit = slot.circuit;
  const CircuitSpec& spec = spec_of(circuit);
  const RunPtr run = std::exchange(slot.run, nullptr);
  const bool there = table_of(device).find(device, spec) != nullptr;
  if (result.ok() && (!there || seen.generation != slot.generation)) {
    result = Error(ErrorClass::kDeviceFault, "the device's process ended after it had loaded the circuit");
  }
  if (!result.ok()) result = judged(device, std::move(result).error(), slot.load_stopped);
  const uint64_t ms = ms_since(slot.began);
  if (run != nullptr && !run->ended) run->srs_load_ms += ms;
  if (result.ok()) {
    slot.unexplained = 0;
    if (slot.info.is_gpu) {
      table_of(device).end_load(device, spec, *result, now_);
    } else {
      DeviceSlot::Resident& memory = slot.resident.at(circuit);
      fit_to(memory.parameters, result->parameter_bytes, "parameters");
      fit_to(memory.circuit, result->circuit_bytes, "circuit");
      table_of(device).end_load(device, spec, *result, now_);
    }
    tell([id = spec.id(), device, bytes = result->parameter_bytes + result->circuit_bytes,
          ms](EngineObserver& observer) { observer.on_loaded(id, device, bytes, ms); });
  } else {
    if (there) table_of(device).erase(device, spec);
    slot.resident.erase(circuit);
    slot.to_unload.erase(circuit);
  }
  note(device, seen);
  note_preload(device, circuit, result);
  if (result.ok()) return;
  Error error = std::move(result).error();
  if (is_harmless(error)) return;
  if (clear_device(device, error)) return;
  if (!is_fault(error)) return refuse_circuit(device, circuit, error);
  ++device_faults_;
  tell([device, error](EngineObserver& observer) { observer.on_device_fault(device, error); });
  if (run != nullptr && !run->ended && !run->partitions.empty()) {
    Partition& partition = run->partitions[slot.partition];
    if (++partition.faults > options_.max_fault_retries) {
      end_job(run, JobState::kFailed, device_failed(*run, slot.partition, std::move(error)));
    }
  }
}

// A reservation made before something was measured becomes what it is.
void EngineCore::fit_to(Reservation& reservation, uint64_t bytes, std::string_view what) {
  if (bytes == reservation.bytes()) return;
  if (bytes < reservation.bytes()) return reservation.shrink_to(bytes);
  const uint64_t before = reservation.bytes();
  reservation.release();
  Result<Reservation> exact = budget_->reserve(bytes, what);
  if (!exact.ok()) {
    tell_warning(exact.error());
    exact = budget_->reserve(before, what);
  }
  if (exact.ok()) reservation = std::move(exact).value();
}

// Room that is there by the ledger may lie in pieces. Once all else has been unloaded it is in one; true where there
// was something to unload.
bool EngineCore::clear_device(uint32_t device, const Error& error) {
  DeviceSlot& slot = devices_[device];
  if (!slot.info.is_gpu || error.error_class != ErrorClass::kResource) return false;
  bool any = false;
  for (const ResidencyTable::Entry& entry : table_of(device).entries()) {
    if (entry.device != device || entry.state != ResidencyTable::State::kResident || entry.in_use > 0) continue;
    slot.to_unload.emplace(index_of_circuit(*entry.circuit), "the device's memory is in pieces");
    any = true;
  }
  return any;
}

// A device cannot load a circuit; where no device can, its jobs fail.
void EngineCore::refuse_circuit(uint32_t device, CircuitIndex circuit, const Error& error) {
  devices_[device].refused.insert_or_assign(circuit, DeviceSlot::Refused{now_ + options_.refused_load_pause, error});
  circuits_[circuit].step = CircuitState::Step::kUnknown;  // its files are looked at again
  tell_warning(with_prefix(
      "device " + std::to_string(device) + " cannot load " + std::string(spec_of(circuit).id()) + ": ", error));
  for (const DeviceSlot& slot : devices_) {
    if (slot.usable() && !slot.refused.contains(circuit)) return;
  }
  fail_all_of(circuit, error);
}

void EngineCore::on_unloaded(uint32_t device, uint64_t number, Status result) {
  if (stopped_) return;
  const UsesReserve uses_reserve;
  const Seen seen = look_at(device);
  const Turn turn(*this);
  DeviceSlot& slot = devices_[device];
  if (slot.work_number != number || slot.work != DeviceSlot::Work::kUnload) return;
  slot.work = DeviceSlot::Work::kNone;
  const CircuitIndex circuit = slot.circuit;
  const ResidencyTable::Entry* entry = table_of(device).find(device, spec_of(circuit));
  if (entry != nullptr) {
    // Where it failed without a fault the process has it no more than we know of it; the next load tells.
    const uint64_t bytes = entry->bytes();
    const auto why = slot.to_unload.find(circuit);
    const std::string reason = why == slot.to_unload.end() ? "" : why->second;
    table_of(device).erase(device, spec_of(circuit));
    forget_resident(device, circuit, reason);
    note_unload(device, circuit, bytes);
  }
  if (!result.ok() && !is_fault(result.error())) tell_warning(result.error());
  note(device, seen);
}

// Of the first partitions of a group there are results, the others were not begun; an error is the first one's alone
// unless the device failed. Where it was cancelled for a job that still goes on, a drain was cut, its process was
// replaced for what it had done to other jobs, or the cancel was meant for a job before: nobody's fault.
void EngineCore::on_proved(uint32_t device, uint64_t number, Result<Proofs> result) {
  if (stopped_) return;
  const UsesReserve uses_reserve;
  const Seen seen = look_at(device);
  const Turn turn(*this);
  DeviceSlot& slot = devices_[device];
  if (slot.work_number != number || slot.work != DeviceSlot::Work::kProve) return;
  slot.work = DeviceSlot::Work::kNone;
  slot.scratch.release();
  const RunPtr run = std::exchange(slot.run, nullptr);
  const std::vector<uint32_t> group = std::exchange(slot.partitions, {});
  const CircuitSpec& spec = spec_of(slot.circuit);
  for (size_t i = 0; i < group.size() && table_of(device).find(device, spec) != nullptr; ++i) {
    table_of(device).release(device, spec, now_);
  }
  const uint64_t ms = ms_since(slot.began);
  note(device, seen);
  const bool asked = run->ended || (run->parked && drain_cut_);
  if (!result.ok()) result = judged(device, std::move(result).error(), asked);
  if (result.ok() && result->empty()) result = Error(ErrorClass::kInternal, "the device has made no proof");
  if (!result.ok() && is_fault(result.error()) && !is_harmless(result.error())) {
    ++device_faults_;
    tell([device, error = result.error()](EngineObserver& observer) { observer.on_device_fault(device, error); });
  }
  if (result.ok()) slot.unexplained = 0;
  size_t done = 1;
  if (result.ok()) done = std::min(result->size(), group.size());
  if (!result.ok() && may_be_redone(result.error())) done = is_cancelled(result.error()) ? 0 : group.size();
  const auto is_wrong = [](const auto& proof) {
    return !proof.ok() && proof.error().error_class == ErrorClass::kBadProof;
  };
  const bool wrong = result.ok() ? std::any_of(result->begin(), result->end(), is_wrong) : is_wrong(result);
  if (wrong && !run->ended) distrust(device);
  if (done == 0 && !run->ended) tell_stage_end(run, Stage::kDevice, group[0], device, ms, result.error());
  for (size_t i = 0; i < group.size(); ++i) {
    if (i < done) {
      if (i > 0 && result.ok()) tell_stage_begin(run, Stage::kDevice, group[i], device, ms);
      take_proof(device, run, group[i], result.ok() ? (*result)[i] : result.error(), ms / done);
    } else if (run->ended) {
      drop_witness(run->partitions[group[i]]);
    } else {
      put_back(run, group[i]);
    }
  }
}

void EngineCore::take_proof(uint32_t device, const RunPtr& run, uint32_t k, Result<PartitionProof> result,
                            uint64_t device_ms) {
  Partition& partition = run->partitions[k];
  const bool fault = !result.ok() && is_fault(result.error());
  if (!run->ended || !fault) {
    tell_stage_end(run, Stage::kDevice, k, device, device_ms,
                   result.ok() ? std::nullopt : std::optional(result.error()));
  }
  if (run->ended) return drop_witness(partition);
  run->device_ms += device_ms;
  if (!result.ok() && may_be_redone(result.error())) {
    return redo_after_fault(run, k, device, std::move(result).error());
  }
  drop_witness(partition);
  if (result.ok()) {
    partition.proof = result->proof;
    partition.device_ms = device_ms;
    partition.state = PartitionState::kDone;
    if (++run->proved == run->partitions.size()) verify_.push(task_of(*run, 0));
    return;
  }
  switch (result.error().error_class) {
    case ErrorClass::kUnsatisfied:
      partition.state = PartitionState::kVerifying;
      if (!run->parked) diagnose_.push(task_of(*run, k));
      return;
    case ErrorClass::kBadProof: return redo_wrong(run, k, device, std::move(result).error());
    case ErrorClass::kInternal: return redo_unexplained(run, k, device, std::move(result).error());
    default:
      partition.state = PartitionState::kFailed;
      return end_job(run, JobState::kFailed, device_failed(*run, k, std::move(result).error()));
  }
}

void EngineCore::drop_witness(Partition& partition) {
  dropped_.push_back(std::exchange(partition.witness, nullptr));
  partition.witness_memory.release();
}

void EngineCore::redo_after_fault(const RunPtr& run, uint32_t k, uint32_t device, Error error) {
  Partition& partition = run->partitions[k];
  if (++partition.faults > options_.max_fault_retries) {
    partition.state = PartitionState::kFailed;
    return end_job(run, JobState::kFailed, device_failed(*run, k, std::move(error)));
  }
  ++redone_;
  partition.avoid = device;
  partition.state = PartitionState::kPending;
  if (run->parked) {
    return drop_witness(partition);
  }
  push_ready(*run, k);
}

// What must not happen did, and says nothing against what the device computes.
void EngineCore::redo_unexplained(const RunPtr& run, uint32_t k, uint32_t device, Error error) {
  Partition& partition = run->partitions[k];
  if (++partition.faults > options_.max_fault_retries) {
    partition.state = PartitionState::kFailed;
    return end_job(run, JobState::kFailed, device_failed(*run, k, std::move(error)));
  }
  redo_with_new_witness(run, k, device);
}

void EngineCore::redo_wrong(const RunPtr& run, uint32_t k, uint32_t device, Error error) {
  Partition& partition = run->partitions[k];
  ++wrong_proofs_;
  ++devices_[device].wrong_proofs;
  tell([run, k, device](EngineObserver& observer) { observer.on_wrong_proof(run->key, run->job_id, k, device); });
  if (++partition.wrong > options_.max_wrong_retries) {
    partition.state = PartitionState::kFailed;
    error.error_class = ErrorClass::kInternal;  // not the request's: a retry may help
    return end_job(run, JobState::kFailed, std::move(error));
  }
  redo_with_new_witness(run, k, device);
}

// The old one may have been at fault.
void EngineCore::redo_with_new_witness(const RunPtr& run, uint32_t k, uint32_t device) {
  Partition& partition = run->partitions[k];
  ++redone_;
  partition.avoid = device;
  partition.state = PartitionState::kPending;
  if (!run->parked) witness_.push(task_of(*run, k, static_cast<uint32_t>(*run->circuit)));
}

// What it computed was wrong. One check of one job counts once, however many of its partitions were wrong: the job may
// be at fault, and is to take no device with it.
void EngineCore::distrust(uint32_t device) {
  DeviceSlot& slot = devices_[device];
  const uint32_t count = ++slot.wrong_in_a_row;
  const bool give_up = options_.wrong_to_give_up != 0 && count >= options_.wrong_to_give_up;
  const bool restart = options_.wrong_to_restart != 0 && count % options_.wrong_to_restart == 0;
  if (!give_up && !restart) return;
  ++slot.distrusted;
  tell([device, count, give_up](EngineObserver& observer) { observer.on_distrusted(device, count, give_up); });
  replace_process(device, "computed " + std::to_string(count) + " wrong proofs in a row", give_up);
}

// At once, whatever it does: what such a device makes of another job's partitions meanwhile may be as wrong, and would
// count against that job. They go back to the queue as if never begun.
void EngineCore::replace_process(uint32_t device, std::string why, bool out_of_use) {
  DeviceSlot& slot = devices_[device];
  slot.replacing = true;
  slot.replaced_work = slot.work == DeviceSlot::Work::kNone ? 0 : slot.work_number;
  calls_.push_back([to = slot.device, out_of_use, why = std::move(why)] { to->replace(why, out_of_use); });
}

}  // namespace cuzk
