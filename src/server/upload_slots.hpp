// How many requests may be on their way at once, and which of them gives way to another.
#pragma once

#include <grpcpp/support/status.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <optional>

#include "base/result.hpp"
#include "budget/host_budget.hpp"

namespace cuzk {

// gRPC keeps what has arrived of a message in memory, and tells nobody how much that is. So their number is bounded; a
// sender that is slow loses its place to one that wants it, and no sender has longer than a time limit. Those that do
// not arrive within a moment are counted in the memory budget with as much as a large request has. Thread safe.
class UploadSlots {
 public:
  using Clock = std::chrono::steady_clock;
  using End = std::function<void(const grpc::Status&)>;

  UploadSlots(size_t max, std::chrono::milliseconds patience, std::chrono::milliseconds timeout)
      : max_(max), patience_(patience), timeout_(timeout) {}

  // A place for `key`, perhaps that of an upload older than `patience`, which is ended. False where all are taken by
  // younger ones. `end` may be called until release().
  bool admit(const void* key, End end, Clock::time_point now = Clock::now()) {
    std::unique_lock lock(mutex_);
    End evicted;
    if (uploads_.size() >= max_) {
      if (uploads_.empty() || now - uploads_.front().start < patience_) return false;
      evicted = std::move(uploads_.front().end);
      uploads_.pop_front();
    }
    uploads_.push_back({key, std::move(end), now, {}});
    lock.unlock();
    if (evicted) {
      evicted({grpc::StatusCode::RESOURCE_EXHAUSTED,
               "the request came too slowly, and another wanted its place [retry over a faster connection]"});
    }
    return true;
  }

  void release(const void* key) {
    const std::lock_guard lock(mutex_);
    uploads_.remove_if([&](const Upload& upload) { return upload.key == key; });
  }

  // Ends those that are over the time limit; call it now and then.
  void expire(Clock::time_point now = Clock::now()) {
    std::list<Upload> late;
    {
      const std::lock_guard lock(mutex_);
      while (!uploads_.empty() && now - uploads_.front().start >= timeout_) {
        late.splice(late.end(), uploads_, uploads_.begin());
      }
    }
    for (const Upload& upload : late) {
      upload.end({grpc::StatusCode::DEADLINE_EXCEEDED, "the request did not arrive within " +
                                                           std::to_string(timeout_.count()) +
                                                           " ms [retry over a faster connection]"});
    }
  }

  // Counts what has been on its way for `moment` and is not counted yet, by `reserve`. Where that fails the oldest that
  // is older than the patience is ended, or else the one that was to be counted. Call it now and then, from one thread.
  template <class Reserve>
  void count(std::chrono::milliseconds moment, const Reserve& reserve, Clock::time_point now = Clock::now()) {
    for (;;) {
      const void* key = uncounted_before(now - moment);
      if (key == nullptr) return;
      Result<Reservation> memory = reserve();  // without the lock: it may call whoever releases
      std::list<Upload> ended;
      {
        const std::lock_guard lock(mutex_);
        const auto at = find(key);
        if (at == uploads_.end()) continue;
        if (memory.ok()) {
          at->memory = std::move(memory).value();
          continue;
        }
        const bool slow = uploads_.front().memory && now - uploads_.front().start >= patience_;
        ended.splice(ended.end(), uploads_, slow ? uploads_.begin() : at);
      }
      ended.front().end(no_memory_for_uploads());
    }
  }
  static grpc::Status no_memory_for_uploads();

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return uploads_.size();
  }
  std::chrono::milliseconds patience() const { return patience_; }

 private:
  struct Upload {
    const void* key;
    End end;
    Clock::time_point start;
    std::optional<Reservation> memory;
  };
  std::list<Upload>::iterator find(const void* key) {
    return std::find_if(uploads_.begin(), uploads_.end(), [&](const Upload& upload) { return upload.key == key; });
  }
  const void* uncounted_before(Clock::time_point latest) const {
    const std::lock_guard lock(mutex_);
    for (const Upload& upload : uploads_) {
      if (!upload.memory && upload.start <= latest) return upload.key;
    }
    return nullptr;
  }

  const size_t max_;
  const std::chrono::milliseconds patience_, timeout_;
  mutable std::mutex mutex_;
  std::list<Upload> uploads_;  // oldest first
};

}  // namespace cuzk
