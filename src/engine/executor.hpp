// Threads of the engine: reading and checking of requests, witnesses, verification.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "queue/job.hpp"

namespace cuzk {

// Runs work on threads that are not the caller's. Thread safe; no member waits. Work must not throw.
class Executor {
 public:
  virtual ~Executor() = default;
  // Threads for work of every priority. Beside them is one that only CRITICAL work gets.
  virtual uint32_t threads() const = 0;
  // Higher priorities first, then in the order of posting.
  virtual void post(Priority priority, std::function<void()> work) = 0;
  // Short work at that time or soon after.
  virtual void post_at(std::chrono::steady_clock::time_point when, std::function<void()> work) = 0;
};

class ThreadExecutor final : public Executor {
 public:
  // `threads` > 0.
  explicit ThreadExecutor(uint32_t threads);
  // Work that has begun is waited for, other work dropped.
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;

  uint32_t threads() const override { return threads_; }
  void post(Priority priority, std::function<void()> work) override;
  void post_at(std::chrono::steady_clock::time_point when, std::function<void()> work) override;

 private:
  void run(Priority lowest);
  void run_timer();
  std::function<void()> take(Priority lowest);

  const uint32_t threads_;
  std::mutex mutex_;
  std::condition_variable work_came_, critical_came_, timer_changed_;
  bool stopping_ = false;
  std::array<std::deque<std::function<void()>>, 4> work_;  // by priority
  std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> timers_;
  std::vector<std::thread> running_;
};

}  // namespace cuzk
