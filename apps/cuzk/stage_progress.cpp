#include "cuzk/stage_progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuzk/console.hpp"

namespace cuzk::app {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(150);
// Shorter stages are measured but not worth a line.
constexpr double kShownSeconds = 0.05;

double seconds_between(std::chrono::steady_clock::time_point a, std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// "4.13 M points"
std::string scaled(double amount, const std::string& unit) {
  const char* prefix = "";
  if (amount >= 1e9) {
    amount /= 1e9;
    prefix = "G ";
  } else if (amount >= 1e6) {
    amount /= 1e6;
    prefix = "M ";
  } else if (amount >= 1e4) {
    amount /= 1e3;
    prefix = "k ";
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.3g %s", amount, prefix);
  return text + unit;
}

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

bool terminal_on_stderr() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

StageProgress::StageProgress(bool draw) : draw_(draw) {
  if (draw_) drawer_ = std::thread([this] { draw_loop(); });
}

StageProgress::~StageProgress() { stop(); }

void StageProgress::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    erase_locked();
  }
  wake_.notify_all();
  if (drawer_.joinable()) drawer_.join();
}

double StageProgress::elapsed_seconds() const { return seconds_between(start_, Clock::now()); }

void StageProgress::begin_stage(std::string_view name, uint64_t total, std::string_view unit) {
  const std::lock_guard lock(mutex_);
  stages_.push_back({std::string(name), std::string(unit), total, 0, static_cast<unsigned>(open_.size())});
  open_.push_back({stages_.size() - 1, 0, Clock::now()});
}

void StageProgress::advance(uint64_t done) {
  const std::lock_guard lock(mutex_);
  if (!open_.empty()) open_.back().done = done;
}

void StageProgress::end_stage() {
  const std::lock_guard lock(mutex_);
  if (open_.empty()) return;
  Stage& stage = stages_[open_.back().index];
  stage.seconds = seconds_between(open_.back().start, Clock::now());
  open_.pop_back();
  if (!draw_ || stopping_ || stage.seconds < kShownSeconds) return;
  erase_locked();
  std::string line(2 + 2 * size_t{stage.depth}, ' ');
  line += stage.name + ": " + human_seconds(stage.seconds);
  if (stage.total > 0) line += " (" + scaled(static_cast<double>(stage.total), stage.unit) + ")";
  put(line + "\n");
}

void StageProgress::clear_line() {
  const std::lock_guard lock(mutex_);
  erase_locked();
}

void StageProgress::erase_locked() {
  if (!line_shown_) return;
  put("\r\x1b[K");
  line_shown_ = false;
}

void StageProgress::draw_loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, kRedraw);
    if (!stopping_ && !open_.empty()) draw_locked();
  }
}

void StageProgress::draw_locked() {
  const Open& open = open_.back();
  const Stage& stage = stages_[open.index];
  const double elapsed = seconds_between(open.start, Clock::now());
  std::string line(2 + 2 * size_t{stage.depth}, ' ');
  line += stage.name;
  if (stage.total > 0 && open.done > 0) {
    const double done = static_cast<double>(std::min(open.done, stage.total));
    const double total = static_cast<double>(stage.total);
    const double rate = done / std::max(elapsed, 1e-9);
    char percent[16];
    std::snprintf(percent, sizeof percent, "%.0f %%", 100 * done / total);
    line += ": " + std::string(percent) + ", " + scaled(rate, stage.unit) + "/s, " +
            human_seconds(std::max(0.0, (total - done) / rate)) + " left";
  } else {
    line += ": " + human_seconds(elapsed);
  }
  // A line that wraps could not be rewritten.
  line = line.substr(0, terminal_columns() - 1);
  put("\r" + line + "\x1b[K");
  line_shown_ = true;
}

}  // namespace cuzk::app
