// Counts work of many threads and passes it to a Progress, which hears from one thread at a time.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "base/progress.hpp"

namespace cuzk {

// A stage of `total` units: begins when constructed, ends when destroyed; reports at most about 256 times.
class ProgressCounter {
 public:
  ProgressCounter(Progress& progress, std::string_view name, uint64_t total, std::string_view unit)
      : progress_(progress), total_(total), step_(total / 256 + 1) {
    progress_.begin_stage(name, total, unit);
  }
  ~ProgressCounter() { progress_.end_stage(); }
  ProgressCounter(const ProgressCounter&) = delete;
  ProgressCounter& operator=(const ProgressCounter&) = delete;

  // check_wanted() of what it tells; any thread.
  Status check() const { return check_wanted(progress_); }

  // `units` more are done; any thread.
  void add(uint64_t units) {
    const std::lock_guard lock(mutex_);
    done_ += units;
    if (done_ - reported_ < step_ && done_ != total_) return;
    reported_ = done_;
    progress_.advance(done_);
  }

 private:
  Progress& progress_;
  const uint64_t total_, step_;
  std::mutex mutex_;
  uint64_t done_ = 0, reported_ = 0;
};

}  // namespace cuzk
