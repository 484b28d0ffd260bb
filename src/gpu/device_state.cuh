// What a Device shares with its streams and buffers. Internal to gpu/.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/arena_layout.hpp"
#include "gpu/cuda_check.cuh"
#include "gpu/device.hpp"

namespace cuzk::gpu {

// The mark of a stream: an event recorded anew at each ticket. Waiting for a later record than the ticket asks for is
// right too, so one event a stream is enough, and none is made after start-up.
struct StreamSlot {
  cudaStream_t stream = nullptr;  // null after the Stream is gone; the number is not given to another
  cudaEvent_t mark = nullptr;
  uint64_t ticket = 0;
};

struct DeviceState : std::enable_shared_from_this<DeviceState> {
  DeviceState(DeviceInfo device_info, void* arena_base, uint64_t arena_bytes)
      : info(std::move(device_info)), arena(static_cast<std::byte*>(arena_base)), layout(arena_bytes) {}
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  ~DeviceState();

  Result<Stream> make_stream();
  Result<Event> make_event();
  // With `mutex` held: a ticket for all that is on the stream now.
  StreamTicket mark(uint32_t stream);
  // With `mutex` held: `stream` waits for the tickets.
  Status wait(uint32_t stream, const std::vector<StreamTicket>& after);

  const DeviceInfo info;
  std::byte* const arena;
  std::mutex mutex;  // of everything below and of every Region's layout
  ArenaLayout layout;
  std::vector<StreamSlot> slots;  // by Stream::id()
};

struct Region {
  Region(std::shared_ptr<DeviceState> d, const ArenaLayout::Range& range)
      : device(std::move(d)), offset(range.offset), layout(range.bytes, range.after) {}
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  std::shared_ptr<DeviceState> device;
  uint64_t offset;
  ArenaLayout layout;
};

}  // namespace cuzk::gpu
