#include "residency/residency_table.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace cuzk {

const ResidencyTable::Entry* ResidencyTable::find(uint32_t device, const CircuitSpec& circuit) const {
  for (const Entry& entry : entries_) {
    if (entry.device == device && *entry.circuit == circuit) return &entry;
  }
  return nullptr;
}

bool ResidencyTable::resident(uint32_t device, const CircuitSpec& circuit) const {
  const Entry* entry = find(device, circuit);
  return entry != nullptr && entry->state == State::kResident;
}

uint64_t ResidencyTable::bytes(uint32_t device) const {
  uint64_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.device == device ? entry.bytes() : 0;
  return sum;
}

uint64_t ResidencyTable::bytes() const {
  uint64_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.bytes();
  return sum;
}

ResidencyTable::Entry& ResidencyTable::at(uint32_t device, const CircuitSpec& circuit) {
  const Entry* entry = find(device, circuit);
  CUZK_ASSERT(entry != nullptr);
  return entries_[static_cast<size_t>(entry - entries_.data())];
}

void ResidencyTable::begin_load(uint32_t device, const CircuitSpec& circuit, uint64_t parameter_bytes,
                                uint64_t circuit_bytes, TimePoint now) {
  CUZK_ASSERT(find(device, circuit) == nullptr);
  entries_.push_back({.device = device,
                      .circuit = &circuit_spec_of(circuit.shape()),
                      .parameter_bytes = parameter_bytes,
                      .circuit_bytes = circuit_bytes,
                      .last_used = now});
}

void ResidencyTable::end_load(uint32_t device, const CircuitSpec& circuit, const LoadReport& report, TimePoint now) {
  Entry& entry = at(device, circuit);
  CUZK_ASSERT(entry.state == State::kLoading);
  entry.state = State::kResident;
  entry.parameter_bytes = report.parameter_bytes;
  entry.circuit_bytes = report.circuit_bytes;
  entry.last_used = now;
}

void ResidencyTable::use(uint32_t device, const CircuitSpec& circuit) {
  Entry& entry = at(device, circuit);
  CUZK_ASSERT(entry.state != State::kUnloading);
  ++entry.in_use;
}

void ResidencyTable::release(uint32_t device, const CircuitSpec& circuit, TimePoint now) {
  Entry& entry = at(device, circuit);
  CUZK_ASSERT(entry.in_use > 0);
  --entry.in_use;
  entry.last_used = now;
}

void ResidencyTable::begin_unload(uint32_t device, const CircuitSpec& circuit) {
  Entry& entry = at(device, circuit);
  CUZK_ASSERT(entry.state == State::kResident && entry.in_use == 0);
  entry.state = State::kUnloading;
}

void ResidencyTable::erase(uint32_t device, const CircuitSpec& circuit) {
  const Entry& gone = at(device, circuit);
  entries_.erase(entries_.begin() + (&gone - entries_.data()));
}

std::vector<ResidencyTable::Entry> ResidencyTable::erase_device(uint32_t device) {
  const auto others = std::stable_partition(entries_.begin(), entries_.end(),
                                            [&](const Entry& entry) { return entry.device != device; });
  std::vector<Entry> gone(others, entries_.end());
  entries_.erase(others, entries_.end());
  return gone;
}

bool ResidencyTable::evictable(const Entry& entry, TimePoint now) const {
  return entry.state == State::kResident && entry.in_use == 0 && now - entry.last_used >= min_idle_;
}

ResidencyTable::Victims ResidencyTable::victims(const Need& need, TimePoint now) const {
  Victims out;
  std::vector<Entry> idle;  // those that may go, now or later
  for (const Entry& entry : entries_) {
    if (need.device && entry.device != *need.device) continue;
    if (entry.state == State::kUnloading) out.leaving += entry.bytes();
    if (entry.state == State::kResident && entry.in_use == 0) idle.push_back(entry);
  }
  // Where ages are equal, what frees most goes first; the rest makes the order the same everywhere.
  std::sort(idle.begin(), idle.end(), [](const Entry& a, const Entry& b) {
    if (a.last_used != b.last_used) return a.last_used < b.last_used;
    if (a.bytes() != b.bytes()) return a.bytes() > b.bytes();
    return a.device != b.device ? a.device < b.device : a.circuit->id() < b.circuit->id();
  });
  const uint64_t wanted = need.bytes - std::min(need.bytes, out.leaving);
  for (const Entry& entry : idle) {
    if (out.bytes >= wanted) break;
    if (!need.urgent && !evictable(entry, now)) {
      // All that follow are younger still; the one that completes the sum says when.
      out.ask_again = entry.last_used + min_idle_;
    }
    out.entries.push_back(entry);
    out.bytes += entry.bytes();
  }
  out.enough = out.bytes >= wanted && !out.ask_again;
  if (out.bytes < wanted) out.ask_again.reset();
  if (!out.enough) {
    out.entries.clear();
    out.bytes = 0;
    return out;
  }
  // A large one that was added last may make smaller ones before it unnecessary: the youngest of those stay.
  for (size_t k = out.entries.size(); k-- > 0;) {
    if (out.bytes - out.entries[k].bytes() < wanted) continue;
    out.bytes -= out.entries[k].bytes();
    out.entries.erase(out.entries.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return out;
}

}  // namespace cuzk
