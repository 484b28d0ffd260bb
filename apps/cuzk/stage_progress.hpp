// Measures the stages of a command, and draws them while they run where stderr is a terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/progress.hpp"

namespace cuzk::app {

struct Stage {
  std::string name;
  std::string unit;
  uint64_t total = 0;  // 0: unknown
  double seconds = 0;
  unsigned depth = 0;  // 0: not inside another stage
};

// True where stderr is a terminal that can rewrite a line.
bool terminal_on_stderr();

class StageProgress final : public Progress {
 public:
  explicit StageProgress(bool draw);
  ~StageProgress() override;
  StageProgress(const StageProgress&) = delete;
  StageProgress& operator=(const StageProgress&) = delete;

  void begin_stage(std::string_view name, uint64_t total, std::string_view unit) override;
  void advance(uint64_t done) override;
  void end_stage() override;

  // Finished stages, in order of their beginning. Call when no stage is being changed by another thread.
  const std::vector<Stage>& stages() const { return stages_; }
  double elapsed_seconds() const;
  // Removes the line being drawn, so that something else can be written; it comes back by itself.
  void clear_line();
  // Ends drawing for good.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Open {
    size_t index;  // into stages_
    uint64_t done;
    Clock::time_point start;
  };
  void draw_loop();
  void draw_locked();
  void erase_locked();

  const Clock::time_point start_ = Clock::now();
  const bool draw_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Stage> stages_;
  std::vector<Open> open_;
  bool line_shown_ = false;
  bool stopping_ = false;
  std::thread drawer_;
};

}  // namespace cuzk::app
