// Any bytes are either refused, or messages that are written and read again as the same.
#include <algorithm>

#include "base/assert.hpp"
#include "worker/protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  const std::span<const uint8_t> packet(data, size);
  const Result<WorkerCommand> command = decode_command(packet);
  if (command.ok()) {
    const std::vector<uint8_t> again = encode(*command);
    CUZK_ASSERT(std::equal(again.begin(), again.end(), packet.begin(), packet.end()));
  }
  const Result<WorkerReply> reply = decode_reply(packet);
  CUZK_ASSERT(!(command.ok() && reply.ok()));
  if (!reply.ok()) return 0;
  // Texts were made printable, so only what is written now must stay.
  const std::vector<uint8_t> again = encode(*reply);
  CUZK_ASSERT(again.size() == size);
  const Result<WorkerReply> second = decode_reply(again);
  CUZK_ASSERT(second.ok() && encode(*second) == again);
  return 0;
}
