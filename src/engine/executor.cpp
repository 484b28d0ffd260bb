#include "engine/executor.hpp"

#include <utility>

#include "base/assert.hpp"
#include "base/memory_reserve.hpp"

namespace cuzk {

ThreadExecutor::ThreadExecutor(uint32_t threads) : threads_(threads) {
  CUZK_ASSERT(threads > 0);
  for (uint32_t i = 0; i < threads; ++i) running_.emplace_back([this] { run(Priority::kLow); });
  running_.emplace_back([this] { run(Priority::kCritical); });
  running_.emplace_back([this] { run_timer(); });
}

ThreadExecutor::~ThreadExecutor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_came_.notify_all();
  critical_came_.notify_all();
  timer_changed_.notify_all();
  for (std::thread& thread : running_) thread.join();
}

void ThreadExecutor::post(Priority priority, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_[static_cast<size_t>(priority) - 1].push_back(std::move(work));
  }
  if (priority == Priority::kCritical) critical_came_.notify_one();
  work_came_.notify_one();
}

void ThreadExecutor::post_at(std::chrono::steady_clock::time_point when, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    timers_.emplace(when, std::move(work));
  }
  timer_changed_.notify_one();
}

// With the mutex. Nothing where there is no work of that priority or a higher one.
std::function<void()> ThreadExecutor::take(Priority lowest) {
  for (size_t i = work_.size(); i-- > static_cast<size_t>(lowest) - 1;) {
    if (work_[i].empty()) continue;
    std::function<void()> work = std::move(work_[i].front());
    work_[i].pop_front();
    return work;
  }
  return nullptr;
}

void ThreadExecutor::run(Priority lowest) {
  const UsesReserve uses_reserve;  // the work itself says which part of it may fail
  std::condition_variable& came = lowest == Priority::kCritical ? critical_came_ : work_came_;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::function<void()> work = take(lowest);
    if (!work) {
      came.wait(lock);
      continue;
    }
    lock.unlock();
    work();
    work = nullptr;  // what it holds goes without the lock
    lock.lock();
  }
}

void ThreadExecutor::run_timer() {
  const UsesReserve uses_reserve;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (timers_.empty()) {
      timer_changed_.wait(lock);
      continue;
    }
    const auto first = timers_.begin();
    if (first->first > std::chrono::steady_clock::now()) {
      timer_changed_.wait_until(lock, std::chrono::steady_clock::time_point(first->first));
      continue;
    }
    std::function<void()> work = std::move(first->second);
    timers_.erase(first);
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace cuzk
