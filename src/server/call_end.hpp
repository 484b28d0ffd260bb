// The end of a call: reached once, whoever gets there first.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/memory_reserve.hpp"
#include "engine/engine.hpp"

namespace cuzk {

// gRPC deletes a call's object after its Finish(), so only who has taken the end may touch the object, until it has
// called Finish(). A result, a client that goes away, a time limit and the server's stop compete for that; this is what
// they share, with the call's interest in a job and its time limit.
class CallEnd {
 public:
  explicit CallEnd(Engine& engine) : engine_(engine) {}

  // True once, for the first.
  bool take() { return !taken_.exchange(true); }
  bool taken() const { return taken_.load(); }

  // `on_result` is called with the end taken, perhaps from within this call; not at all where somebody else takes it.
  static void watch(const std::shared_ptr<CallEnd>& self, JobKey job, std::function<void(const JobResult&)> on_result) {
    const WatchId id = self->engine_.watch(job, [self, on_result = std::move(on_result)](const JobResult& result) {
      const UsesReserve uses_reserve;
      if (!self->take()) return;
      self->forget();
      on_result(result);
    });
    std::unique_lock lock(self->mutex_);
    if (self->has_result_) return;
    self->watch_ = id;
    if (!self->over_) return;
    lock.unlock();
    self->engine_.unwatch(id);
  }

  // `on_time` is called with the end taken, from a thread of gRPC.
  static void limit(const std::shared_ptr<CallEnd>& self, std::chrono::system_clock::time_point deadline,
                    std::function<void()> on_time) {
    const UsesReserve uses_reserve;
    const std::lock_guard lock(self->mutex_);
    if (self->over_) return;
    self->alarm_ = std::make_unique<grpc::Alarm>();
    self->alarm_->Set(deadline, [self, on_time = std::move(on_time)](bool rang) {
      const UsesReserve within;
      if (rang && self->take()) on_time();
    });
  }

  // The end has been taken: no result and no time limit is of interest any more. May be called twice.
  void release() {
    std::unique_ptr<grpc::Alarm> alarm;  // its callback holds this object, and goes with it
    std::unique_lock lock(mutex_);
    over_ = true;
    alarm = std::move(alarm_);
    if (!watch_) return;  // none, or watch() has not got so far and will see `over_`
    const WatchId id = *watch_;
    watch_.reset();
    lock.unlock();
    engine_.unwatch(id);
  }

 private:
  // The result came: unwatch() would wait for the callback that this is called from.
  void forget() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    has_result_ = true;
    watch_.reset();
  }

  Engine& engine_;
  std::atomic<bool> taken_{false};
  std::mutex mutex_;
  std::optional<WatchId> watch_;
  std::unique_ptr<grpc::Alarm> alarm_;
  bool over_ = false, has_result_ = false;
};

// The calls that wait for a job, so that the server's stop can answer them.
class WaitingCalls {
 public:
  // `stop` must take the end itself before it touches the call. Once stop_all() has been called, it is called at once.
  void add(const std::shared_ptr<CallEnd>& end, std::function<void(const grpc::Status&)> stop) {
    std::unique_lock lock(mutex_);
    if (stopped_) {
      const grpc::Status status = *stopped_;
      lock.unlock();
      stop(status);
      return;
    }
    calls_.emplace(end.get(), Entry{end, std::move(stop)});
    if (end->taken()) calls_.erase(end.get());  // its remove() may have come before
  }
  void remove(const CallEnd* end) {
    const std::lock_guard lock(mutex_);
    calls_.erase(end);
  }
  void stop_all(const grpc::Status& status) {
    std::unique_lock lock(mutex_);
    stopped_ = status;
    const auto calls = std::move(calls_);
    calls_.clear();
    lock.unlock();
    for (const auto& [key, entry] : calls) entry.stop(status);
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return calls_.size();
  }

 private:
  struct Entry {
    std::shared_ptr<CallEnd> end;
    std::function<void(const grpc::Status&)> stop;
  };
  mutable std::mutex mutex_;
  std::map<const CallEnd*, Entry> calls_;
  std::optional<grpc::Status> stopped_;
};

}  // namespace cuzk
