// PreloadSRS and EvictSRS.
#include <algorithm>

#include "engine/core.hpp"
#include "engine/read_submission.hpp"

namespace cuzk {
namespace {

// As jobs of normal priority that are older than all others.
constexpr Task kPreloadTask{Priority::kNormal, 0, 0, 0};
constexpr uint32_t kPreloadTries = 3;

Error unknown_circuit(std::string_view name) {
  std::string known;
  for (const CircuitSpec& spec : circuit_specs()) known += (known.empty() ? "" : ", ") + std::string(spec.id());
  return Error(ErrorClass::kUsage, "unknown circuit ID: " + std::string(name) + "; there are " + known);
}

}  // namespace

void EngineCore::preload(std::string_view name, std::function<void(Result<Preloaded>)> done) {
  const CircuitSpec* spec = circuit_by_any_name(name);
  const Turn turn(*this);
  if (spec == nullptr) {
    outbox_.push([done = std::move(done), error = unknown_circuit(name)] { done(error); });
    return;
  }
  PreloadWork work;
  work.circuit = index_of_circuit(*spec);
  work.done = std::move(done);
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d].usable() && !resident(d, work.circuit)) work.devices.insert(d);
  }
  if (work.devices.empty() && usable_devices() > 0) {
    Preloaded loaded;
    loaded.already_loaded = true;
    outbox_.push([done = std::move(work.done), loaded] { done(loaded); });
    return;
  }
  preloads_.push_back(std::move(work));
}

// Loads what is to be preloaded on one of the idle devices, or finds that it cannot be. True where a device was taken.
bool EngineCore::start_preload(std::vector<uint32_t>& idle) {
  for (PreloadWork& work : preloads_) {
    for (const uint32_t d : idle) {
      if (!work.devices.contains(d)) continue;
      if (resident(d, work.circuit)) {
        work.devices.erase(d);
        work.any = true;
        continue;
      }
      if (!files_fresh(work.circuit)) {
        want_files(work.circuit, kPreloadTask);
        break;
      }
      const DeviceNeeds needs = service_->device_needs(spec_of(work.circuit), devices_[d].info);
      if (!fits_device(devices_[d], needs)) {
        work.error = Error(ErrorClass::kUnsupported, "the parameters never fit into memory");
        work.devices.erase(d);
        break;
      }
      if (start_load(d, work.circuit, kPreloadTask, nullptr)) {
        work.short_since.reset();
        std::erase(idle, d);
        return true;
      }
      if (!work.short_since) work.short_since = now_;
      const bool too_long = now_ - *work.short_since >= options_.preload_patience;
      if (devices_[d].to_unload.empty() && (nothing_ends() || too_long)) {
        work.error = Error(ErrorClass::kResource, "there is no memory for the parameters now beside the other work");
        work.short_since.reset();
        work.devices.erase(d);
        break;
      }
      std::erase(idle, d);  // it waits for memory
      return true;
    }
  }
  return false;
}

// Whether start_preload() would take the device, were it free, which no CRITICAL or HIGH work needs.
bool EngineCore::preload_is_next(uint32_t device) {
  return std::any_of(preloads_.begin(), preloads_.end(), [&](const PreloadWork& work) {
    if (!work.devices.contains(device) || resident(device, work.circuit)) return false;
    if (!fits_device(devices_[device], service_->device_needs(spec_of(work.circuit), devices_[device].info))) {
      return false;
    }
    if (files_fresh(work.circuit)) return true;
    want_files(work.circuit, kPreloadTask);
    return false;
  });
}

// Nothing goes on that would give memory back.
bool EngineCore::nothing_ends() const {
  return host_running_ == 0 && std::all_of(devices_.begin(), devices_.end(), [](const DeviceSlot& slot) {
           return slot.work == DeviceSlot::Work::kNone && slot.to_unload.empty();
         });
}

void EngineCore::note_preload(uint32_t device, CircuitIndex circuit, const Result<LoadReport>& result) {
  for (PreloadWork& work : preloads_) {
    if (work.circuit != circuit || !work.devices.contains(device)) continue;
    if (!result.ok() && result.error().error_class == ErrorClass::kCancelled) continue;  // for a CRITICAL job's sake
    if (!result.ok() && result.error().error_class == ErrorClass::kDeviceFault && ++work.faults < kPreloadTries)
      continue;
    work.devices.erase(device);
    if (result.ok()) {
      work.any = true;
      work.load_ms = std::max(work.load_ms, result->load_ms);
    } else {
      work.error = result.error();
    }
  }
}

void EngineCore::note_prepared_failed(CircuitIndex circuit, const Error& error) {
  for (PreloadWork& work : preloads_) {
    if (work.circuit != circuit) continue;
    work.devices.clear();
    work.error = error;
  }
}

void EngineCore::evict(std::string_view name, std::function<void(Result<Evicted>)> done) {
  const CircuitSpec* spec = circuit_by_any_name(name);
  const Turn turn(*this);
  const auto answer = [&](Result<Evicted> result) {
    outbox_.push([done = std::move(done), result = std::move(result)] { done(result); });
  };
  if (spec == nullptr) return answer(unknown_circuit(name));
  EvictWork work;
  work.circuit = index_of_circuit(*spec);
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    const ResidencyTable::Entry* entry = table_of(d).find(d, *spec);
    if (entry == nullptr) continue;
    if (entry->in_use > 0 || entry->state == ResidencyTable::State::kLoading) {
      return answer(Error(ErrorClass::kResource, "the parameters are in use"));
    }
    work.devices.insert(d);
  }
  if (work.devices.empty()) return answer(Evicted{});
  for (const uint32_t d : work.devices) {
    if (table_of(d).resident(d, *spec)) devices_[d].to_unload.insert_or_assign(work.circuit, "a client asked for it");
  }
  work.done = std::move(done);
  evictions_.push_back(std::move(work));
}

void EngineCore::note_unload(uint32_t device, CircuitIndex circuit, uint64_t bytes) {
  for (EvictWork& work : evictions_) {
    if (work.circuit == circuit && work.devices.erase(device) > 0) work.freed += bytes;
  }
}

// Answers those whose work is done.
void EngineCore::settle_residents() {
  for (PreloadWork& work : preloads_) {
    std::erase_if(work.devices, [this](uint32_t d) { return !devices_[d].usable(); });
    if (!work.devices.empty()) continue;
    Result<Preloaded> result = Preloaded{false, work.load_ms};
    if (!work.any) {
      result = work.error.value_or(Error(ErrorClass::kDeviceUnusable, "there is no device that works"));
    }
    outbox_.push([done = std::move(work.done), result = std::move(result)] { done(result); });
    work.done = nullptr;
  }
  std::erase_if(preloads_, [](const PreloadWork& work) { return work.done == nullptr; });
  for (EvictWork& work : evictions_) {
    if (!work.devices.empty()) continue;
    outbox_.push([done = std::move(work.done), freed = work.freed] { done(Evicted{true, freed}); });
    work.done = nullptr;
  }
  std::erase_if(evictions_, [](const EvictWork& work) { return work.done == nullptr; });
}

}  // namespace cuzk
