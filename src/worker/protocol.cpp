#include "worker/protocol.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/overloaded.hpp"
#include "worker/printable.hpp"

namespace cuzk {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kMagic = 0x6b7a7563;  // "cuzk"
// Types of commands are their index, those of replies their index and this.
constexpr uint32_t kReply = 0x100;
constexpr auto kLastClass = static_cast<uint8_t>(kLastErrorClass);

class Writer {
 public:
  explicit Writer(uint32_t type) {
    number(kMagic);
    number(type);
  }
  template <class T>
  void number(T value) {
    static_assert(std::is_unsigned_v<T>);
    bytes({reinterpret_cast<const uint8_t*>(&value), sizeof value});
  }
  void bytes(std::span<const uint8_t> data) { out_.insert(out_.end(), data.begin(), data.end()); }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    bytes({reinterpret_cast<const uint8_t*>(value.data()), value.size()});
  }
  void text(std::string_view value, size_t most) { text(printable(value, most)); }
  template <class T>
  void optional(const std::optional<T>& value) {
    number(uint8_t{value.has_value()});
    number(value.value_or(T{0}));
  }
  std::vector<uint8_t> take() { return std::move(out_); }

 private:
  std::vector<uint8_t> out_;
};

// Reads past the end give zeros and are remembered.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    T value{};
    bytes({reinterpret_cast<uint8_t*>(&value), sizeof value});
    return value;
  }
  void bytes(std::span<uint8_t> out) {
    if (out.size() > rest_.size()) {
      bad_ = true;
      rest_ = {};
      return;
    }
    std::copy_n(rest_.begin(), out.size(), out.begin());
    rest_ = rest_.subspan(out.size());
  }
  std::string text(size_t most) {
    const auto size = number<uint32_t>();
    if (size > most || size > rest_.size()) {
      bad_ = true;
      rest_ = {};
      return {};
    }
    std::string value(size, '\0');
    bytes({reinterpret_cast<uint8_t*>(value.data()), size});
    return value;
  }
  std::string printable_text(size_t most) { return printable(text(most), most); }
  bool flag() {
    const auto value = number<uint8_t>();
    if (value > 1) bad_ = true;
    return value == 1;
  }
  template <class T>
  std::optional<T> optional() {
    const bool there = flag();
    const T value = number<T>();
    return there ? std::optional<T>(value) : std::nullopt;
  }
  void refuse() { bad_ = true; }
  bool complete() const { return !bad_ && rest_.empty(); }

 private:
  std::span<const uint8_t> rest_;
  bool bad_ = false;
};

struct ErrorLengths {
  size_t message = kMostMessageBytes, file = kMostPathBytes;
};
constexpr ErrorLengths kShortError{kMostShortMessageBytes, 0};
// Whatever is wrong with how many of them, one packet holds it.
static_assert(kMostTogether * (2 * (sizeof(uint32_t) + kMostShortMessageBytes) + 100) + 100 < kMostPacketBytes);

void write_error(Writer& out, const Error& error, const ErrorLengths& most = {}) {
  out.number(static_cast<uint8_t>(error.error_class));
  out.text(error.message, most.message);
  out.text(error.field, most.message);
  out.text(error.file, most.file);
  out.optional(error.offset);
  out.optional(error.sector);
  out.optional(error.partition);
}

Error read_error(Reader& in, const ErrorLengths& most = {}) {
  Error error;
  const auto error_class = in.number<uint8_t>();
  if (error_class > kLastClass) in.refuse();
  error.error_class = static_cast<ErrorClass>(std::min(error_class, kLastClass));
  error.message = in.printable_text(most.message);
  error.field = in.printable_text(most.message);
  error.file = in.printable_text(most.file);
  error.offset = in.optional<uint64_t>();
  error.sector = in.optional<uint64_t>();
  error.partition = in.optional<uint32_t>();
  return error;
}

void write_device(Writer& out, const DeviceInfo& device) {
  out.number(device.ordinal);
  out.text(device.name, kMostNameBytes);
  out.number(uint8_t{device.is_gpu});
  out.number(device.memory_total_bytes);
  out.number(device.memory_usable_bytes);
  out.number(device.memory_free_bytes);
  out.number(device.multiprocessors);
  out.text(device.uuid, kMostNameBytes);
}

DeviceInfo read_device(Reader& in) {
  DeviceInfo device;
  device.ordinal = in.number<uint32_t>();
  device.name = in.printable_text(kMostNameBytes);
  device.is_gpu = in.flag();
  device.memory_total_bytes = in.number<uint64_t>();
  device.memory_usable_bytes = in.number<uint64_t>();
  device.memory_free_bytes = in.number<uint64_t>();
  device.multiprocessors = in.number<uint32_t>();
  device.uuid = in.printable_text(kMostNameBytes);
  return device;
}

void write_report(Writer& out, const LoadReport& report) {
  out.number(report.parameter_bytes);
  out.number(report.circuit_bytes);
  out.number(report.load_ms);
}

LoadReport read_report(Reader& in) {
  LoadReport report;
  report.parameter_bytes = in.number<uint64_t>();
  report.circuit_bytes = in.number<uint64_t>();
  report.load_ms = in.number<uint64_t>();
  return report;
}

DeviceTables read_tables(Reader& in) {
  DeviceTables tables;
  tables.h_multiples = in.number<uint32_t>();
  tables.h_max_entries = in.number<uint64_t>();
  if (tables.h_multiples == 0 || tables.h_multiples > kMostMultiples) in.refuse();
  return tables;
}

// From 1 on, but not more than are proved together.
uint32_t read_count(Reader& in) {
  const auto count = in.number<uint32_t>();
  if (count == 0 || count > kMostTogether) in.refuse();
  return std::min(count, kMostTogether);
}

void write_proofs(Writer& out, const Proofs& proofs) {
  out.number(static_cast<uint32_t>(proofs.size()));
  for (const Result<PartitionProof>& proof : proofs) {
    out.number(uint8_t{proof.ok()});
    if (proof.ok()) {
      out.bytes(proof->proof);
      out.number(proof->compute_ms);
    } else {
      write_error(out, proof.error(), kShortError);
    }
  }
}

Proofs read_proofs(Reader& in) {
  Proofs proofs;
  for (uint32_t left = read_count(in); left > 0; --left) {
    if (!in.flag()) {
      proofs.emplace_back(read_error(in, kShortError));
      continue;
    }
    PartitionProof proof;
    in.bytes(proof.proof);
    proof.compute_ms = in.number<uint64_t>();
    proofs.emplace_back(proof);
  }
  return proofs;
}

Error unreadable() { return {ErrorClass::kCorrupt, "a message between daemon and worker cannot be read"}; }

// The type of a packet that begins as one; a number that is no type otherwise.
uint32_t read_type(Reader& in, std::span<const uint8_t> packet) {
  const auto magic = in.number<uint32_t>();
  const auto type = in.number<uint32_t>();
  return packet.size() <= kMostPacketBytes && magic == kMagic ? type : UINT32_MAX;
}

template <size_t kIndex>
constexpr uint32_t kCommandType = kIndex;
template <size_t kIndex>
constexpr uint32_t kReplyType = kReply + kIndex;

}  // namespace

std::vector<uint8_t> encode(const WorkerCommand& command) {
  Writer out(static_cast<uint32_t>(command.index()));
  std::visit(Overloaded{[&](const LoadTask& m) {
                          out.number(m.task);
                          out.text(m.circuit);
                          out.text(m.params_file);
                          out.text(m.circuit_file);
                          out.number(m.tables.h_multiples);
                          out.number(m.tables.h_max_entries);
                        },
                        [&](const UnloadTask& m) {
                          out.number(m.task);
                          out.text(m.circuit);
                        },
                        [&](const ProveTask& m) {
                          out.number(m.task);
                          out.text(m.circuit);
                          out.number(m.witnesses);
                        },
                        [&](const CancelTask& m) { out.number(m.task); },
                        [&](const TaskWitness& m) {
                          out.number(m.task);
                          out.number(m.number);
                        },
                        [&](const YieldTask& m) { out.number(m.task); }},
             command);
  return out.take();
}

std::vector<uint8_t> encode(const WorkerReply& reply) {
  Writer out(kReply + static_cast<uint32_t>(reply.index()));
  std::visit(Overloaded{[&](const WorkerReady& m) {
                          out.number(m.version);
                          write_device(out, m.device);
                        },
                        [&](const WorkerUnusable& m) { write_error(out, m.error); },
                        [&](const WorkerBeat& m) {
                          out.number(m.task);
                          out.number(m.steps);
                          out.text(m.stage, kMostNameBytes);
                        },
                        [&](const TaskLoaded& m) {
                          out.number(m.task);
                          write_report(out, m.report);
                        },
                        [&](const TaskUnloaded& m) { out.number(m.task); },
                        [&](const TaskProved& m) {
                          out.number(m.task);
                          write_proofs(out, m.proofs);
                        },
                        [&](const TaskFailed& m) {
                          out.number(m.task);
                          write_error(out, m.error);
                        }},
             reply);
  return out.take();
}

// Fields are read in the order that they are named in: initializers of a braced list are evaluated so.
Result<WorkerCommand> decode_command(std::span<const uint8_t> packet) {
  Reader in(packet);
  WorkerCommand command;
  switch (read_type(in, packet)) {
    case kCommandType<0>:
      command = LoadTask{in.number<uint64_t>(), in.text(kMostNameBytes), in.text(kMostPathBytes),
                         in.text(kMostPathBytes), read_tables(in)};
      break;
    case kCommandType<1>: command = UnloadTask{in.number<uint64_t>(), in.text(kMostNameBytes)}; break;
    case kCommandType<2>: command = ProveTask{in.number<uint64_t>(), in.text(kMostNameBytes), read_count(in)}; break;
    case kCommandType<3>: command = CancelTask{in.number<uint64_t>()}; break;
    case kCommandType<4>: command = TaskWitness{in.number<uint64_t>(), in.number<uint32_t>()}; break;
    case kCommandType<5>: command = YieldTask{in.number<uint64_t>()}; break;
    default: return unreadable();
  }
  if (!in.complete()) return unreadable();
  return command;
}

Result<WorkerReply> decode_reply(std::span<const uint8_t> packet) {
  Reader in(packet);
  WorkerReply reply;
  switch (read_type(in, packet)) {
    case kReplyType<0>: reply = WorkerReady{in.number<uint32_t>(), read_device(in)}; break;
    case kReplyType<1>: reply = WorkerUnusable{read_error(in)}; break;
    case kReplyType<2>:
      reply = WorkerBeat{in.number<uint64_t>(), in.number<uint64_t>(), in.printable_text(kMostNameBytes)};
      break;
    case kReplyType<3>: reply = TaskLoaded{in.number<uint64_t>(), read_report(in)}; break;
    case kReplyType<4>: reply = TaskUnloaded{in.number<uint64_t>()}; break;
    case kReplyType<5>: reply = TaskProved{in.number<uint64_t>(), read_proofs(in)}; break;
    case kReplyType<6>: reply = TaskFailed{in.number<uint64_t>(), read_error(in)}; break;
    default: return unreadable();
  }
  if (!in.complete()) return unreadable();
  return reply;
}

}  // namespace cuzk
