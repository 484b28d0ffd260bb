// Which circuits lie on which device, and which of them to give up for another.
//
// Bookkeeping and policy only: it loads nothing, owns no memory and reads no clock. The caller says what happened and
// when, so that a simulation and the daemon decide alike. Not thread safe; the engine's mutex guards it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "filecoin/circuit_spec.hpp"
#include "worker/device.hpp"

namespace cuzk {

class ResidencyTable {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  enum class State : uint8_t { kLoading, kResident, kUnloading };

  struct Entry {
    uint32_t device = 0;
    const CircuitSpec* circuit = nullptr;  // of the catalog
    State state = State::kLoading;
    uint64_t parameter_bytes = 0, circuit_bytes = 0;  // while loading: what it was announced with
    uint32_t in_use = 0;                              // partitions that are, or are about to be, proved with it
    TimePoint last_used;                              // the end of its loading, or of the last use since

    uint64_t bytes() const { return parameter_bytes + circuit_bytes; }
  };

  // Idle so long that an ordinary need of memory may take its place.
  explicit ResidencyTable(Duration min_idle) : min_idle_(min_idle) {}

  // nullptr where the device does not have the circuit, in no state.
  const Entry* find(uint32_t device, const CircuitSpec& circuit) const;
  bool resident(uint32_t device, const CircuitSpec& circuit) const;
  std::span<const Entry> entries() const { return entries_; }  // in no order
  uint64_t bytes(uint32_t device) const;
  uint64_t bytes() const;

  // The life of an entry; out of order it is a bug of the caller and asserts.
  void begin_load(uint32_t device, const CircuitSpec& circuit, uint64_t parameter_bytes, uint64_t circuit_bytes,
                  TimePoint now);
  void end_load(uint32_t device, const CircuitSpec& circuit, const LoadReport& report, TimePoint now);
  void use(uint32_t device, const CircuitSpec& circuit);  // once a partition; of an entry that is being loaded, too
  void release(uint32_t device, const CircuitSpec& circuit, TimePoint now);
  void begin_unload(uint32_t device, const CircuitSpec& circuit);  // of a resident entry that is not in use
  // The entry is gone: its load failed, or its unloading ended. Those who use it are forgotten with it.
  void erase(uint32_t device, const CircuitSpec& circuit);
  // All of a device are gone: its process ended. Returns what it had.
  std::vector<Entry> erase_device(uint32_t device);

  struct Need {
    uint64_t bytes = 0;              // to be freed
    std::optional<uint32_t> device;  // of this device's memory; none: of memory that all devices share
    bool urgent = false;             // for what cannot wait (Winning PoSt): how long entries were idle does not count
  };
  struct Victims {
    // Least recently used first; empty where nothing has to go, and where even all that may go would not be enough:
    // nothing is given up in vain.
    std::vector<Entry> entries;
    uint64_t bytes = 0;    // that these free
    bool enough = false;   // the need is met by them
    uint64_t leaving = 0;  // bytes that are being unloaded already, counted towards the need
    // Where they are not enough, but would be when the entries that are idle now have been idle long enough: when to
    // ask again. None: not before something that is in use or being loaded ends.
    std::optional<TimePoint> ask_again;
  };
  // Never one in use, being loaded, or (unless the need is urgent) idle for less than min_idle. Of those in order of
  // age, as many as it takes, less those that turn out not to be needed.
  Victims victims(const Need& need, TimePoint now) const;

  // It may be given up when an ordinary need asks.
  bool evictable(const Entry& entry, TimePoint now) const;

 private:
  Entry& at(uint32_t device, const CircuitSpec& circuit);

  Duration min_idle_;
  std::vector<Entry> entries_;
};

}  // namespace cuzk
