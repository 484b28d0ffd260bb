// Streams and events of a device.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"

// The runtime's own types: cudaStream_t is CUstream_st*, cudaEvent_t is CUevent_st*.
struct CUstream_st;
struct CUevent_st;

namespace cuzk::gpu {

using StreamHandle = CUstream_st*;
using EventHandle = CUevent_st*;
struct DeviceState;
class Event;

// Work on the device in order. Made by Device::make_stream at start-up; never the default stream and never ordered with
// it.
class Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // Waits for the work on the stream.
  ~Stream();

  StreamHandle handle() const { return handle_; }
  uint32_t id() const { return id_; }
  // What is put on the stream from now on runs after what `event` recorded last.
  Status wait(const Event& event) const;
  // The host waits until the stream is empty; errors of its work so far appear here.
  Status synchronize() const;

 private:
  friend struct DeviceState;
  Stream(std::shared_ptr<DeviceState> device, StreamHandle handle, uint32_t id)
      : device_(std::move(device)), handle_(handle), id_(id) {}
  void destroy();

  std::shared_ptr<DeviceState> device_;
  StreamHandle handle_ = nullptr;
  uint32_t id_ = 0;
};

// A point in a stream. Made by Device::make_event at start-up.
class Event {
 public:
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  EventHandle handle() const { return handle_; }
  Status record(const Stream& stream);
  // The host waits for the point recorded last.
  Status synchronize() const;
  // Device time from `begin`, both recorded and reached.
  Result<double> milliseconds_since(const Event& begin) const;

 private:
  friend struct DeviceState;
  explicit Event(std::shared_ptr<DeviceState> device, EventHandle handle)
      : device_(std::move(device)), handle_(handle) {}
  void destroy();

  std::shared_ptr<DeviceState> device_;
  EventHandle handle_ = nullptr;
};

}  // namespace cuzk::gpu
