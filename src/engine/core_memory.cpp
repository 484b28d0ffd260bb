// Who gets memory, and who has to give some up.
#include <algorithm>
#include <set>

#include "engine/core.hpp"

namespace cuzk {

// The most that a partition of the circuit takes beside its request, on the device that takes least: its witness, the
// parameters, and the scratch of the stage that has most. While it is the only work that goes on, all else can be given
// up for it. 0 where it fits no device.
uint64_t EngineCore::needed_by(CircuitIndex circuit) const {
  const CircuitSpec& spec = spec_of(circuit);
  const WitnessNeeds witness = service_->witness_needs(spec);
  std::optional<uint64_t> least;
  for (const DeviceSlot& slot : devices_) {
    const DeviceNeeds device = service_->device_needs(spec, slot.info);
    if (!fits_gpu(slot, device)) continue;
    const uint64_t on_device = device.resident() + std::max(device.load_scratch, device.prove_scratch);
    const uint64_t bytes = witness.witness + std::max(witness.scratch, on_device);
    least = least ? std::min(*least, bytes) : bytes;
  }
  return least.value_or(0);
}

bool EngineCore::fits_device(const DeviceSlot& slot, const DeviceNeeds& needs) const {
  return budget_->could_ever_fit(needs.resident() + std::max(needs.load_scratch, needs.prove_scratch)) &&
         fits_gpu(slot, needs);
}

// The memory of the device itself, where it has some.
bool EngineCore::fits_gpu(const DeviceSlot& slot, const DeviceNeeds& needs) const {
  return !slot.info.is_gpu || slot.info.memory_usable_bytes == 0 ||
         needs.device_resident + needs.device_scratch <= slot.info.memory_usable_bytes;
}

constexpr std::string_view kUploads = "uploads";
// Too little to be refused for what others wait for.
constexpr uint64_t kSmallUpload = uint64_t{1} << 20;
// How often it is told that memory ran out, at most.
constexpr auto kShortageTold = std::chrono::seconds(10);

// What ordinary work leaves free: of the room for uploads that part which they do not hold now.
uint64_t EngineCore::free_headroom() const {
  return headroom_ - std::min(budget_->used(kUploads), options_.upload_room_bytes);
}

// Memory ran out, whatever the budget says, and is not back yet. As long as half of the reserve is left CRITICAL work
// is taken: it is small, and its clients cannot come again.
bool EngineCore::short_of_memory(Priority priority) const {
  if (!memory_short_) return false;
  return priority != Priority::kCritical || reserve_->left_bytes() < reserve_->bytes() / 2;
}

// At the begin of each turn. Where memory runs out again and again it is not told each time.
void EngineCore::look_at_reserve() {
  if (reserve_ == nullptr) return;
  const uint64_t left = reserve_->left_bytes(), uses = reserve_->uses();
  memory_short_ = reserve_->is_short();
  if (std::exchange(reserve_uses_, uses) != uses && (!shortage_told_ || now_ - *shortage_told_ >= kShortageTold)) {
    shortage_told_ = now_;
    shortage_open_ = true;
    tell([left, all = reserve_->bytes()](EngineObserver& observer) { observer.on_memory_short(left, all); });
  }
  if (memory_short_ || !shortage_open_) return;
  shortage_open_ = false;
  tell([](EngineObserver& observer) { observer.on_memory_back(); });
}

std::optional<Reservation> EngineCore::take_for_upload(uint64_t bytes) {
  if (bytes > kSmallUpload && short_of_memory(Priority::kNormal)) return std::nullopt;
  const bool in_its_room = budget_->used(kUploads) + bytes <= options_.upload_room_bytes;
  const bool nobody_waits = !blocked_ && budget_->available() >= bytes + free_headroom();
  if (!in_its_room && !nobody_waits && bytes > kSmallUpload) return std::nullopt;
  Result<Reservation> taken = budget_->reserve(bytes, kUploads);
  if (!taken.ok()) return std::nullopt;
  return std::move(taken).value();
}

// A turn only where nothing is free: uploads are many, and what they take concerns nobody else.
Result<Reservation> EngineCore::reserve_upload(uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (auto taken = take_for_upload(bytes)) return std::move(*taken);
  }
  const Turn turn(*this);
  if (!blocked_) give_up_for(Task{Priority::kNormal, table_.next_key(), 0, 0}, bytes + free_headroom(), {});
  if (auto taken = take_for_upload(bytes)) return std::move(*taken);
  if (short_of_memory(Priority::kNormal)) return Error(ErrorClass::kResource, "the daemon is short of memory");
  return Error(ErrorClass::kResource, "there is no memory for a request of " + std::to_string(bytes) +
                                          " bytes now: " + std::to_string(budget_->available()) + " of " +
                                          std::to_string(budget_->total()) + " are free");
}

// True where the bytes are there for this task now. Where not, things that can go are asked to, the task is noted as
// the one that must not be overtaken, and it is tried again when something has ended.
bool EngineCore::make_room(const Task& task, uint64_t bytes, const MemoryUse& use) {
  if (bytes == 0) return true;
  if (barrier_ && *barrier_ < task) return false;
  const uint64_t headroom = task.priority == Priority::kCritical ? 0 : free_headroom();
  const auto there = [&] { return budget_->available() >= bytes + headroom; };
  if (!there()) give_up_for(task, bytes + headroom, use);
  if (there()) {
    if (barrier_ == task) barrier_.reset();
    return true;
  }
  blocked_ = blocked_ ? std::min(*blocked_, task) : task;
  barrier_ = barrier_ ? std::min(*barrier_, task) : task;
  return false;
}

std::optional<Reservation> EngineCore::try_reserve(const Task& task, uint64_t bytes, std::string_view what,
                                                   const MemoryUse& use) {
  if (!make_room(task, bytes, use)) return std::nullopt;
  Result<Reservation> reservation = budget_->reserve(bytes, what);
  if (!reservation.ok()) return std::nullopt;
  return std::move(reservation).value();
}

// First parameters that nobody has used for a while, then witnesses of later tasks, which are soon made again, then
// parameters that nobody uses now. Circuits of tasks that go before this one stay, as does its own; at last on one
// device each, on its own device where it needs that.
void EngineCore::give_up_for(const Task& task, uint64_t bytes, const MemoryUse& use) {
  const auto shortfall = [&] {
    const uint64_t available = budget_->available();
    return bytes > available ? bytes - available : 0;
  };
  const auto unload = [&](bool urgent, bool one_copy) {
    const ResidencyTable table = with_kept_in_use(task, use, one_copy);
    const ResidencyTable::Victims victims = table.victims({shortfall(), std::nullopt, urgent}, now_);
    unload_victims(victims, "memory is needed for other work");
    return victims.enough;
  };
  if (shortfall() == 0 || unload(false, false)) return;
  if (drop_later_witnesses(task, bytes)) return;
  if (!unload(true, false)) unload(true, true);
}

// The residency of host memory, where what must stay counts as used.
ResidencyTable EngineCore::with_kept_in_use(const Task& task, const MemoryUse& use, bool one_copy) const {
  std::set<CircuitIndex> kept;
  if (use.circuit) kept.insert(*use.circuit);
  for (const TaskQueue* queue : {&witness_, &making_, &ready_}) {
    for (const Task& other : queue->first_of_lanes()) {
      if (other < task) kept.insert(*runs_.at(other.job)->circuit);
    }
  }
  const ResidencyTable& real = residency_.front();
  ResidencyTable table = real;
  std::set<CircuitIndex> seen;
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    if (residency_of_[d] != 0) continue;
    for (const CircuitIndex circuit : kept) {
      if (!real.resident(d, spec_of(circuit))) continue;
      const bool elsewhere = circuit == use.circuit && use.device && *use.device != d;
      if (one_copy && (elsewhere || !seen.insert(circuit).second)) continue;
      table.use(d, spec_of(circuit));
    }
  }
  return table;
}

// From the last in order on. True where that is enough.
bool EngineCore::drop_later_witnesses(const Task& task, uint64_t bytes) {
  std::vector<Task> later;
  for (const Task& other : ready_.all()) {
    if (task < other) later.push_back(other);
  }
  while (!later.empty() && budget_->available() < bytes) {
    const RunPtr run = runs_.at(later.back().job);
    const uint32_t k = later.back().partition;
    later.pop_back();
    Partition& partition = run->partitions[k];
    ready_.remove(run->key, k);
    drop_witness(partition);
    partition.state = PartitionState::kPending;
    witness_.push(task_of(*run, k, static_cast<uint32_t>(*run->circuit)));
  }
  return budget_->available() >= bytes;
}

void EngineCore::unload_victims(const ResidencyTable::Victims& victims, std::string_view why) {
  for (const ResidencyTable::Entry& entry : victims.entries) {
    devices_[entry.device].to_unload.emplace(index_of_circuit(*entry.circuit), why);
  }
}

// The scratch memory that what is resident on a GPU needs there: proofs are made one at a time.
uint64_t EngineCore::device_scratch(uint32_t device) const {
  uint64_t most = 0;
  for (const ResidencyTable::Entry& entry : table_of(device).entries()) {
    if (entry.device != device || entry.state == ResidencyTable::State::kUnloading) continue;
    most = std::max(most, service_->device_needs(*entry.circuit, devices_[device].info).device_scratch);
  }
  return most;
}

// The same for a device's own memory.
bool EngineCore::make_device_room(uint32_t device, const DeviceNeeds& needs) {
  const DeviceSlot& slot = devices_[device];
  if (!slot.info.is_gpu || slot.info.memory_usable_bytes == 0) return true;
  const uint64_t used = table_of(device).bytes(device);
  const uint64_t wanted = needs.device_resident + std::max(needs.device_scratch, device_scratch(device));
  if (used + wanted <= slot.info.memory_usable_bytes) return true;
  const uint64_t missing = used + wanted - slot.info.memory_usable_bytes;
  ResidencyTable::Victims victims = table_of(device).victims({missing, device, true}, now_);
  // What is missing may be the scratch memory of something small that is resident: then all of it goes.
  if (!victims.enough) victims = table_of(device).victims({used, device, true}, now_);
  unload_victims(victims, "room on the device is needed for other work");
  return false;
}

}  // namespace cuzk
