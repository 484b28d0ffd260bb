// The rules by which a worker is watched and started again, apart from processes and clocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/worker_process.hpp"

namespace cuzk {

using SteadyTime = std::chrono::steady_clock::time_point;
using Milliseconds = std::chrono::milliseconds;

// Whether a process that works is still at it. Silence is counted in the watcher's own wakes, each for at most
// kMostPerWake: when it is the watcher who was stopped (a suspended machine, a starved daemon), nobody is blamed.
class Watchdog {
 public:
  static constexpr Milliseconds kMostPerWake{2'000};

  // A task begins. `silence`: without any beat; `step`: without a beat that tells progress.
  void begin(SteadyTime now, Milliseconds silence, Milliseconds step);
  void on_beat(uint64_t steps, std::string_view stage);
  void end() { watching_ = false; }

  // Call at every wake, after all messages were read. What is wrong, in words, where the limit has passed.
  std::optional<std::string> check(SteadyTime now);

 private:
  bool watching_ = false;
  SteadyTime last_wake_{};
  Milliseconds silence_limit_{0}, step_limit_{0};
  Milliseconds silent_{0}, stuck_{0};
  bool beaten_ = false, advanced_ = false;  // since the last wake
  uint64_t steps_ = 0;
  std::string stage_;
};

// When a process is started again after one has ended.
class RestartPolicy {
 public:
  struct Decision {
    Milliseconds wait{0};
    bool give_up = false;  // tell that the device is out of use meanwhile
  };

  explicit RestartPolicy(const WorkerTimes& times) : times_(times) {}

  void on_ready(SteadyTime now) { ready_ = now; }
  // A proof was made: whatever was, it works.
  void on_proof() { failures_ = 0; }
  // `hung`: it was killed by the watchdog, so how long it lived says nothing good.
  Decision on_end(SteadyTime now, bool hung);

  unsigned failures() const { return failures_; }

 private:
  const WorkerTimes times_;
  std::optional<SteadyTime> ready_;
  unsigned failures_ = 0;  // in a row
};

// Makes lines of what a process writes: printable, of at most kMostBytes, at most kMostLines within kWindow; the rest
// is counted and told in one line.
class LineCollector {
 public:
  static constexpr size_t kMostBytes = 500, kMostLines = 50, kKept = 3;
  static constexpr Milliseconds kWindow{10'000};

  explicit LineCollector(std::function<void(std::string_view)> on_line) : on_line_(std::move(on_line)) {}

  void add(std::string_view bytes, SteadyTime now);
  // The process ended: what has no line feed is a line too.
  void finish(SteadyTime now);
  // The last lines, one after the other, for the message of what went wrong; empty where there were none.
  std::string last_words() const;

 private:
  void line(SteadyTime now);
  void tell_dropped();

  std::function<void(std::string_view)> on_line_;
  std::string current_;
  std::vector<std::string> kept_;
  SteadyTime window_start_{};
  size_t in_window_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace cuzk
