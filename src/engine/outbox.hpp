// Calls to others, in the order in which they were decided, made without the engine's lock.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace cuzk {

// Thread safe. A call may push and flush itself.
class Outbox {
 public:
  void push(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }

  // Makes all calls that are there; returns at once where another thread is at it, which then makes these too.
  void flush() {
    std::unique_lock lock(mutex_);
    if (flushing_) return;
    flushing_ = true;
    while (!calls_.empty()) {
      const std::function<void()> call = std::move(calls_.front());
      calls_.pop_front();
      lock.unlock();
      call();
      lock.lock();
    }
    flushing_ = false;
  }

 private:
  std::mutex mutex_;
  std::deque<std::function<void()>> calls_;
  bool flushing_ = false;
};

}  // namespace cuzk
