// Memory of a device and pinned memory of the host, as move-only owners; spans are views of device memory, not to be
// read by the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "base/result.hpp"
#include "gpu/arena_layout.hpp"
#include "gpu/stream.hpp"

namespace cuzk::gpu {

struct Region;  // a range of the arena with the layout of what is allocated in it

// A range of device memory, released on the stream that it was allocated on unless another is named.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  DeviceBytes(DeviceBytes&& other) noexcept;
  DeviceBytes& operator=(DeviceBytes&& other) noexcept;
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { release(); }

  void* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }
  // The range may be used by others after what is on its stream now. Does not block.
  void release();
  // The stream of the last use is `stream`: release() orders after it.
  void use_on(const Stream& stream) { stream_ = stream.id(); }

 private:
  friend class Reservation;
  DeviceBytes(std::shared_ptr<Region> region, void* data, uint64_t size_bytes, uint64_t offset, uint32_t stream)
      : region_(std::move(region)), data_(data), size_bytes_(size_bytes), offset_(offset), stream_(stream) {}

  std::shared_ptr<Region> region_;
  void* data_ = nullptr;
  uint64_t size_bytes_ = 0, offset_ = 0;
  uint32_t stream_ = 0;
};

// `size` elements of device memory, uninitialised.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBytes bytes, size_t size) : bytes_(std::move(bytes)), size_(size) {}

  T* data() const { return static_cast<T*>(bytes_.data()); }
  size_t size() const { return size_; }
  std::span<T> span() const { return {data(), size_}; }
  void release() {
    bytes_.release();
    size_ = 0;
  }
  void use_on(const Stream& stream) { bytes_.use_on(stream); }

 private:
  DeviceBytes bytes_;
  size_t size_ = 0;
};

// A part of a device's arena in which one stage of one job, or one resident object, allocates: what it declared
// beforehand. The part goes back to the arena when the reservation and all buffers in it are gone.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&&) noexcept = default;
  Reservation& operator=(Reservation&&) noexcept = default;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // Work that uses the buffer is ordered after its memory's earlier users if it is put on `stream`. Error kResource
  // where the rest of the reservation is too small.
  Result<DeviceBytes> allocate_bytes(uint64_t bytes, uint64_t alignment, const Stream& stream);
  template <class T>
  Result<DeviceBuffer<T>> allocate(size_t size, const Stream& stream) {
    if (size > UINT64_MAX / sizeof(T)) return Error(ErrorClass::kResource, "device memory: the size overflows");
    CUZK_ASSIGN(DeviceBytes bytes, allocate_bytes(size * sizeof(T), alignof(T), stream));
    return DeviceBuffer<T>(std::move(bytes), size);
  }
  // The bytes that an allocation of `size` elements takes of a reservation.
  template <class T>
  static constexpr uint64_t bytes_for(size_t size) {
    return ArenaLayout::rounded(size * sizeof(T));
  }

  uint64_t capacity_bytes() const;
  uint64_t used_bytes() const;
  uint64_t peak_bytes() const;

 private:
  friend class Device;
  explicit Reservation(std::shared_ptr<Region> region) : region_(std::move(region)) {}
  std::shared_ptr<Region> region_;
};

// Page-locked host memory, made at start-up.
class PinnedBytes {
 public:
  PinnedBytes() = default;
  PinnedBytes(PinnedBytes&& other) noexcept;
  PinnedBytes& operator=(PinnedBytes&& other) noexcept;
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  ~PinnedBytes();

  std::byte* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  friend class Device;
  PinnedBytes(std::byte* data, uint64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}
  std::byte* data_ = nullptr;
  uint64_t size_bytes_ = 0;
};

template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  PinnedBuffer(PinnedBytes bytes, size_t size) : bytes_(std::move(bytes)), size_(size) {}
  T* data() const { return reinterpret_cast<T*>(bytes_.data()); }
  size_t size() const { return size_; }
  std::span<T> span() const { return {data(), size_}; }

 private:
  PinnedBytes bytes_;
  size_t size_ = 0;
};

// Copies on a stream; the host side must stay until the stream has passed. From and to pageable memory the call itself
// waits.
Status copy_bytes_to_device(void* device, const void* host, uint64_t bytes, const Stream& stream);
Status copy_bytes_to_host(void* host, const void* device, uint64_t bytes, const Stream& stream);
Status copy_bytes_on_device(void* to, const void* from, uint64_t bytes, const Stream& stream);
Status fill_bytes(void* device, uint8_t value, uint64_t bytes, const Stream& stream);

template <class T>
Status copy_to_device(std::span<T> device, std::span<const T> host, const Stream& stream) {
  CUZK_ASSERT(device.size() == host.size());
  return copy_bytes_to_device(device.data(), host.data(), host.size_bytes(), stream);
}
template <class T>
Status copy_to_host(std::span<T> host, std::span<const T> device, const Stream& stream) {
  CUZK_ASSERT(device.size() == host.size());
  return copy_bytes_to_host(host.data(), device.data(), host.size_bytes(), stream);
}

}  // namespace cuzk::gpu
