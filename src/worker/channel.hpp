// One end of the pair of sockets between daemon and worker: whole packets, and descriptors with them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "worker/descriptor.hpp"

namespace cuzk {

struct Packet {
  std::vector<uint8_t> bytes;
  Descriptor descriptor;  // where one came with it
};

class Channel {
 public:
  Channel() = default;
  // A descriptor of a SOCK_SEQPACKET socket.
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  // Both ends; none is inherited by other programs. Errors: kResource, kIo.
  static Result<std::pair<Channel, Descriptor>> make_pair();

  int descriptor() const { return socket_.get(); }
  void close() { socket_.reset(); }

  // Never blocks where `wait` is false: kResource where the other side does not read. `passed` (-1: none) stays the
  // caller's. Errors: kIo where the other side is gone.
  Status send(std::span<const uint8_t> packet, int passed, bool wait) const;

  enum class Take : uint8_t { kBytesOnly, kDescriptorToo };
  struct Nothing {};  // no packet is there
  struct Ended {};    // the other side is closed, and nothing of it is left
  using Received = std::variant<Packet, Nothing, Ended>;
  // Does not block. Descriptors that are not asked for, or are more than one, are closed. Errors: kCorrupt where the
  // packet is longer than any may be; kIo.
  Result<Received> receive(Take take) const;

 private:
  Descriptor socket_;
};

}  // namespace cuzk
