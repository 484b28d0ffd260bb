#include "gpu/device_state.cuh"
#include "gpu/stream.hpp"

namespace cuzk::gpu {

Result<Stream> DeviceState::make_stream() {
  CUZK_CUDA_TRY(cudaSetDevice(info.index));
  StreamSlot slot;
  CUZK_CUDA_TRY(cudaStreamCreateWithFlags(&slot.stream, cudaStreamNonBlocking));
  if (const cudaError_t status = cudaEventCreateWithFlags(&slot.mark, cudaEventDisableTiming); status != cudaSuccess) {
    (void)cudaStreamDestroy(slot.stream);
    return status_error(status, "cudaEventCreateWithFlags");
  }
  const std::lock_guard lock(mutex);
  slots.push_back(slot);
  return Stream(shared_from_this(), slot.stream, static_cast<uint32_t>(slots.size() - 1));
}

Result<Event> DeviceState::make_event() {
  CUZK_CUDA_TRY(cudaSetDevice(info.index));
  cudaEvent_t event = nullptr;
  CUZK_CUDA_TRY(cudaEventCreate(&event));
  return Event(shared_from_this(), event);
}

Stream::Stream(Stream&& other) noexcept
    : device_(std::move(other.device_)), handle_(std::exchange(other.handle_, nullptr)), id_(other.id_) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  if (this != &other) {
    destroy();
    device_ = std::move(other.device_);
    handle_ = std::exchange(other.handle_, nullptr);
    id_ = other.id_;
  }
  return *this;
}
Stream::~Stream() { destroy(); }

// Buffers released later need no mark of a stream that has run dry.
void Stream::destroy() {
  if (handle_ == nullptr) return;
  (void)cudaStreamSynchronize(handle_);
  {
    const std::lock_guard lock(device_->mutex);
    device_->slots[id_].stream = nullptr;
  }
  (void)cudaStreamDestroy(handle_);
  handle_ = nullptr;
}

Status Stream::wait(const Event& event) const {
  CUZK_CUDA_TRY(cudaStreamWaitEvent(handle_, event.handle(), 0));
  return {};
}

Status Stream::synchronize() const {
  CUZK_CUDA_TRY(cudaStreamSynchronize(handle_));
  return {};
}

Event::Event(Event&& other) noexcept
    : device_(std::move(other.device_)), handle_(std::exchange(other.handle_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  if (this != &other) {
    destroy();
    device_ = std::move(other.device_);
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}
Event::~Event() { destroy(); }

void Event::destroy() {
  if (handle_ != nullptr) (void)cudaEventDestroy(std::exchange(handle_, nullptr));
}

Status Event::record(const Stream& stream) {
  CUZK_CUDA_TRY(cudaEventRecord(handle_, stream.handle()));
  return {};
}

Status Event::synchronize() const {
  CUZK_CUDA_TRY(cudaEventSynchronize(handle_));
  return {};
}

Result<double> Event::milliseconds_since(const Event& begin) const {
  float milliseconds = 0;
  CUZK_CUDA_TRY(cudaEventElapsedTime(&milliseconds, begin.handle_, handle_));
  return static_cast<double>(milliseconds);
}

}  // namespace cuzk::gpu
