// What proves partitions, as the engine sees it: a process with a GPU, one for the CPU, or a simulated one in tests.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "circuit/packed_witness.hpp"
#include "filecoin/circuit_spec.hpp"
#include "groth16/device_memory.hpp"
#include "groth16/proof.hpp"

namespace cuzk {

struct DeviceInfo {
  uint32_t ordinal = 0;
  std::string name;  // "CPU, 2 threads", "NVIDIA H200"
  bool is_gpu = false;
  // Of a GPU, 0 for the CPU: its memory, the part of it that circuits, parameters and proofs may take, and what nothing
  // has taken of that.
  uint64_t memory_total_bytes = 0, memory_usable_bytes = 0, memory_free_bytes = 0;
  uint32_t multiprocessors = 0;
  std::string uuid;  // "GPU-xxxxxxxx-..."
};

enum class DeviceState : uint8_t {
  kStarting,
  kIdle,
  kLoading,     // parameters or a circuit
  kProving,     // one partition, or several together
  kRestarting,  // its process ended or was ended, and everything it held is gone
  kGivenUp,     // it failed too often in a row, or cannot work before a person changed something
};
constexpr const char* to_string(DeviceState state) {
  switch (state) {
    case DeviceState::kStarting: return "starting";
    case DeviceState::kIdle: return "idle";
    case DeviceState::kLoading: return "loading";
    case DeviceState::kProving: return "proving";
    case DeviceState::kRestarting: return "restarting";
    case DeviceState::kGivenUp: return "given-up";
  }
  return "unknown";
}

// What a device is to hold for a circuit: files that exist and were checked.
struct CircuitFiles {
  const CircuitSpec* spec = nullptr;
  std::string params_file;
  std::string circuit_file;  // compiled (circuit/compiled_file.hpp)
  DeviceTables tables;       // of a GPU
};

struct LoadReport {
  uint64_t parameter_bytes = 0;  // resident from now on
  uint64_t circuit_bytes = 0;
  uint64_t load_ms = 0;
};

struct PartitionProof {
  std::array<uint8_t, kProofBytes> proof;
  uint64_t compute_ms = 0;  // of partitions proved together each has its share
};

// Partitions of one circuit that are proved together, 1 to kMostTogether.
using Witnesses = std::vector<std::shared_ptr<const PackedWitness>>;
inline constexpr uint32_t kMostTogether = 16;
// Of the first of them, at least one, in order: a proof, or what was wrong with it.
using Proofs = std::vector<Result<PartitionProof>>;

// One thing at a time: a caller starts load(), unload() or prove() only while the state is kIdle. Each calls back
// exactly once, from a thread of the device, never from within the call. All calls return at once. Thread safe.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceInfo info() const = 0;
  virtual DeviceState state() const = 0;
  // Processes started so far; another number than before means that nothing is resident any more.
  virtual uint64_t generation() const = 0;

  // Called after every change of state, from a thread of the device. Set before anything else is called.
  virtual void on_change(std::function<void()> changed) = 0;

  // Errors of all three: of the work itself; kDeviceFault where the process ended, hung or lost its GPU meanwhile (the
  // state is then kRestarting: the work may be done again, here later or elsewhere); kDeviceUnusable.
  virtual void load(const CircuitFiles& files, std::function<void(Result<LoadReport>)> done) = 0;
  virtual void unload(const CircuitSpec& circuit, std::function<void(Status)> done) = 0;
  // The circuit has been loaded. The proofs have been checked once by the process that made them; the caller checks
  // them again. Those behind the ones that come back, if any, were not begun, or as good as not: the caller may ask for
  // them again. An error is the first witness's or the device's. Errors also: kUnsatisfied; kBadProof where the device
  // found it wrong itself; kInternal; kCancelled of cancel().
  virtual void prove(const CircuitSpec& circuit, Witnesses witnesses, std::function<void(Result<Proofs>)> done) = 0;
  // Stops the proofs or the load that is going on at its next step; its callback then gets kCancelled, or what was done
  // already. Nothing where there is none.
  virtual void cancel() = 0;
  // Has the proofs that are going on end before the next witness is begun: their callback gets those up to there.
  virtual void yield() = 0;

  // Whoever checks its proofs does not trust what it runs on any more: its process is ended, whatever it does, and
  // another is started; with `out_of_use` after a time as after too many failures (kGivenUp until then). `why` is for
  // the log: "computed 3 wrong proofs in a row".
  virtual void replace(const std::string& why, bool out_of_use) = 0;
};

}  // namespace cuzk
