#include "gpu/device_state.cuh"
#include "gpu/memory.hpp"

namespace cuzk::gpu {

DeviceState::~DeviceState() {
  (void)cudaSetDevice(info.index);
  for (const StreamSlot& slot : slots) (void)cudaEventDestroy(slot.mark);
  (void)cudaFree(arena);
}

// Where CUDA fails here the context is lost, and what is put on any stream next says so.
StreamTicket DeviceState::mark(uint32_t stream) {
  StreamSlot& slot = slots[stream];
  if (slot.stream != nullptr) (void)cudaEventRecord(slot.mark, slot.stream);
  return {stream, ++slot.ticket};
}

Status DeviceState::wait(uint32_t stream, const std::vector<StreamTicket>& after) {
  for (const StreamTicket& ticket : after) {
    const StreamSlot& slot = slots[ticket.stream];
    if (ticket.stream == stream || slot.stream == nullptr) continue;
    CUZK_CUDA_TRY(cudaStreamWaitEvent(slots[stream].stream, slot.mark, 0));
  }
  return {};
}

Region::~Region() {
  const std::lock_guard lock(device->mutex);
  device->layout.release(offset, layout.tickets());
}

const DeviceInfo& Device::info() const { return state_->info; }

Status Device::make_current() const {
  CUZK_CUDA_TRY(cudaSetDevice(state_->info.index));
  return {};
}

Result<Stream> Device::make_stream() const { return state_->make_stream(); }
Result<Event> Device::make_event() const { return state_->make_event(); }

Result<PinnedBytes> Device::allocate_pinned_bytes(uint64_t bytes) const {
  CUZK_TRY(make_current());
  void* data = nullptr;
  CUZK_CUDA_TRY(cudaHostAlloc(&data, bytes == 0 ? 1 : bytes, cudaHostAllocPortable));
  return PinnedBytes(static_cast<std::byte*>(data), bytes);
}

Result<Reservation> Device::reserve(uint64_t bytes, Placement placement) const {
  const std::lock_guard lock(state_->mutex);
  CUZK_ASSIGN(const ArenaLayout::Range range,
              state_->layout.allocate(bytes, ArenaLayout::kGranularityBytes, placement));
  return Reservation(std::make_shared<Region>(state_, range));
}

ArenaUsage Device::usage() const {
  const std::lock_guard lock(state_->mutex);
  const ArenaLayout& layout = state_->layout;
  return {layout.capacity_bytes(), layout.used_bytes(), layout.peak_bytes(), layout.largest_free_bytes(),
          layout.ranges_in_use()};
}

Result<DeviceBytes> Reservation::allocate_bytes(uint64_t bytes, uint64_t alignment, const Stream& stream) {
  if (region_ == nullptr) return Error(ErrorClass::kResource, "device memory: the reservation is empty");
  DeviceState& device = *region_->device;
  const std::lock_guard lock(device.mutex);
  CUZK_ASSIGN(const ArenaLayout::Range range, region_->layout.allocate(bytes, alignment, Placement::kLow));
  if (Status status = device.wait(stream.id(), range.after); !status.ok()) {
    region_->layout.release(range.offset, range.after);
    return std::move(status).error();
  }
  return DeviceBytes(region_, device.arena + region_->offset + range.offset, bytes, range.offset, stream.id());
}

uint64_t Reservation::capacity_bytes() const { return region_ == nullptr ? 0 : region_->layout.capacity_bytes(); }
uint64_t Reservation::used_bytes() const {
  if (region_ == nullptr) return 0;
  const std::lock_guard lock(region_->device->mutex);
  return region_->layout.used_bytes();
}
uint64_t Reservation::peak_bytes() const {
  if (region_ == nullptr) return 0;
  const std::lock_guard lock(region_->device->mutex);
  return region_->layout.peak_bytes();
}

DeviceBytes::DeviceBytes(DeviceBytes&& other) noexcept
    : region_(std::move(other.region_)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      offset_(other.offset_),
      stream_(other.stream_) {}
DeviceBytes& DeviceBytes::operator=(DeviceBytes&& other) noexcept {
  if (this != &other) {
    release();
    region_ = std::move(other.region_);
    data_ = std::exchange(other.data_, nullptr);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    offset_ = other.offset_;
    stream_ = other.stream_;
  }
  return *this;
}

void DeviceBytes::release() {
  if (region_ == nullptr) return;
  {
    DeviceState& device = *region_->device;
    const std::lock_guard lock(device.mutex);
    const StreamTicket ticket = device.mark(stream_);
    region_->layout.release(offset_, {&ticket, 1});
  }
  region_.reset();
  data_ = nullptr;
  size_bytes_ = 0;
}

PinnedBytes::PinnedBytes(PinnedBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
PinnedBytes& PinnedBytes::operator=(PinnedBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}
PinnedBytes::~PinnedBytes() {
  if (data_ != nullptr) (void)cudaFreeHost(data_);
}

Status copy_bytes_to_device(void* device, const void* host, uint64_t bytes, const Stream& stream) {
  CUZK_CUDA_TRY(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream.handle()));
  return {};
}
Status copy_bytes_to_host(void* host, const void* device, uint64_t bytes, const Stream& stream) {
  CUZK_CUDA_TRY(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream.handle()));
  return {};
}
Status copy_bytes_on_device(void* to, const void* from, uint64_t bytes, const Stream& stream) {
  CUZK_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream.handle()));
  return {};
}
Status fill_bytes(void* device, uint8_t value, uint64_t bytes, const Stream& stream) {
  CUZK_CUDA_TRY(cudaMemsetAsync(device, value, bytes, stream.handle()));
  return {};
}

}  // namespace cuzk::gpu
