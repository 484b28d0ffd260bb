// What the daemon and a worker say to each other: one message a packet of a SOCK_SEQPACKET pair of sockets.
//
// A packet is a magic number, the type (u32 each) and the fields, little-endian; a text is its length (u32) and its
// bytes. Neither side trusts the other: lengths are bounded, every byte must be accounted for, and what one of them
// cannot read ends the process, never the daemon.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "worker/device.hpp"

namespace cuzk {

// Changes with any message. Both sides are the same program, but for an option of tests.
inline constexpr uint32_t kWorkerProtocolVersion = 4;
inline constexpr size_t kMostPacketBytes = 16'384;
// Longer texts of an error, a stage or a device are cut; a path that is longer is refused before it is sent.
inline constexpr size_t kMostPathBytes = 4'096, kMostMessageBytes = 2'000, kMostNameBytes = 200;
// Of errors of which there may be kMostTogether in a packet.
inline constexpr size_t kMostShortMessageBytes = 280;

// To the worker. Tasks are numbered by the daemon and come one at a time; the last three are about one that is there,
// or has just ended.
struct LoadTask {
  uint64_t task = 0;
  std::string circuit, params_file, circuit_file;
  DeviceTables tables;  // multiples from 1 to kMostMultiples
  friend bool operator==(const LoadTask&, const LoadTask&) = default;
};
struct UnloadTask {
  uint64_t task = 0;
  std::string circuit;
  friend bool operator==(const UnloadTask&, const UnloadTask&) = default;
};
struct ProveTask {
  uint64_t task = 0;
  std::string circuit;
  uint32_t witnesses = 1;  // to kMostTogether; they follow
  friend bool operator==(const ProveTask&, const ProveTask&) = default;
};
// The next witness of a ProveTask. Comes with a descriptor: shared_witness.hpp.
struct TaskWitness {
  uint64_t task = 0;
  uint32_t number = 0;  // from 0, without gaps
  friend bool operator==(const TaskWitness&, const TaskWitness&) = default;
};
struct CancelTask {
  uint64_t task = 0;
  friend bool operator==(const CancelTask&, const CancelTask&) = default;
};
// A ProveTask is to end before it begins its next witness.
struct YieldTask {
  uint64_t task = 0;
  friend bool operator==(const YieldTask&, const YieldTask&) = default;
};
using WorkerCommand = std::variant<LoadTask, UnloadTask, ProveTask, CancelTask, TaskWitness, YieldTask>;

// To the daemon. First WorkerReady, or WorkerUnusable and the end.
struct WorkerReady {
  uint32_t version = kWorkerProtocolVersion;
  DeviceInfo device;
};
struct WorkerUnusable {
  Error error;
};
// While a task is worked on.
struct WorkerBeat {
  uint64_t task = 0;
  uint64_t steps = 0;  // another number than before: it got further
  std::string stage;
};
struct TaskLoaded {
  uint64_t task = 0;
  LoadReport report;
};
struct TaskUnloaded {
  uint64_t task = 0;
};
struct TaskProved {
  uint64_t task = 0;
  Proofs proofs;  // of the first witnesses, 1 to kMostTogether; errors without their file
};
struct TaskFailed {
  uint64_t task = 0;
  Error error;
};
using WorkerReply =
    std::variant<WorkerReady, WorkerUnusable, WorkerBeat, TaskLoaded, TaskUnloaded, TaskProved, TaskFailed>;

std::vector<uint8_t> encode(const WorkerCommand& command);
std::vector<uint8_t> encode(const WorkerReply& reply);
// Errors: kCorrupt. Texts of replies are printable.
Result<WorkerCommand> decode_command(std::span<const uint8_t> packet);
Result<WorkerReply> decode_reply(std::span<const uint8_t> packet);

}  // namespace cuzk
