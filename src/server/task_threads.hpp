// A few threads for work that gRPC's own must not be held up by.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/memory_reserve.hpp"

namespace cuzk {

// First come, first served. The destructor does what is left, then ends.
class TaskThreads {
 public:
  static constexpr const char* kName = "cuzk-request";  // of the threads, as the system shows them

  explicit TaskThreads(size_t count) {
    for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~TaskThreads() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void post(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

 private:
  void work() {
    pthread_setname_np(pthread_self(), kName);
    const UsesReserve uses_reserve;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cuzk
