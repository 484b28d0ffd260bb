#include "circuit/r1cs_stream.hpp"

#include <utility>

namespace cuzk {

HashingQueue::HashingQueue() : thread_([this] { run(); }) {}

HashingQueue::~HashingQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::vector<uint8_t> HashingQueue::take_buffer() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::vector<uint8_t> buffer = std::move(free_.back());
      free_.pop_back();
      return buffer;
    }
  }
  return std::vector<uint8_t>(kBufferBytes);
}

void HashingQueue::push(std::vector<uint8_t> buffer, size_t size) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.size() < kMaxQueued; });
  queue_.push_back({std::move(buffer), size});
  changed_.notify_all();
}

Sha256 HashingQueue::snapshot() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
  return hash_;
}

void HashingQueue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    hash_.update(std::span<const uint8_t>(item.buffer.data(), item.size));
    lock.lock();
    busy_ = false;
    free_.push_back(std::move(item.buffer));
    changed_.notify_all();
  }
}

void R1csStream::flush() {
  if (used_ == 0) return;
  queue_.push(std::move(buffer_), used_);
  buffer_ = queue_.take_buffer();
  used_ = 0;
}

Sha256Digest R1csStream::digest(uint64_t num_inputs, uint64_t num_aux, uint64_t num_constraints) {
  flush();
  Sha256 hash = queue_.snapshot();
  std::array<uint8_t, 24> counts;
  const std::array<uint64_t, 3> values = {num_inputs, num_aux, num_constraints};
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<uint8_t>(values[i / 8] >> (8 * (i % 8)));
  hash.update(counts);
  return hash.finish();
}

}  // namespace cuzk
