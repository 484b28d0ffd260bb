#include "worker/supervision.hpp"

#include <algorithm>
#include <utility>

#include "worker/printable.hpp"

namespace cuzk {
namespace {

std::string seconds(Milliseconds time) {
  const auto ms = time.count();
  return ms < 10'000 ? std::to_string(ms) + " ms" : std::to_string(ms / 1000) + " s";
}

}  // namespace

void Watchdog::begin(SteadyTime now, Milliseconds silence, Milliseconds step) {
  watching_ = true;
  last_wake_ = now;
  silence_limit_ = silence;
  step_limit_ = step;
  silent_ = stuck_ = Milliseconds(0);
  beaten_ = advanced_ = false;
  steps_ = 0;
  stage_.clear();
}

void Watchdog::on_beat(uint64_t steps, std::string_view stage) {
  beaten_ = true;
  advanced_ = advanced_ || steps != steps_;
  steps_ = steps;
  stage_ = stage;
}

std::optional<std::string> Watchdog::check(SteadyTime now) {
  if (!watching_) return std::nullopt;
  const auto passed = std::chrono::duration_cast<Milliseconds>(now - last_wake_);
  if (passed <= Milliseconds(0)) return std::nullopt;  // fractions add up
  last_wake_ += passed;
  const Milliseconds counted = std::min(passed, kMostPerWake);
  silent_ = std::exchange(beaten_, false) ? Milliseconds(0) : silent_ + counted;
  stuck_ = std::exchange(advanced_, false) ? Milliseconds(0) : stuck_ + counted;
  const std::string during = stage_.empty() ? "" : " during \"" + stage_ + "\"";
  if (silent_ > silence_limit_) return "gave no sign of life for " + seconds(silent_) + during;
  if (stuck_ > step_limit_) return "got no further for " + seconds(stuck_) + during;
  return std::nullopt;
}

RestartPolicy::Decision RestartPolicy::on_end(SteadyTime now, bool hung) {
  if (!hung && ready_ && now - *ready_ >= times_.stable) failures_ = 0;
  ready_.reset();
  ++failures_;
  if (failures_ >= times_.failures_to_give_up) {
    // One try after the pause; the next failure ends it again at once.
    failures_ = times_.failures_to_give_up - 1;
    return {times_.give_up, true};
  }
  Milliseconds wait = times_.backoff;
  for (unsigned k = 1; k < failures_ && wait < times_.most_backoff; ++k) wait *= 2;
  return {std::min(wait, times_.most_backoff), false};
}

void LineCollector::add(std::string_view bytes, SteadyTime now) {
  for (const char c : bytes) {
    if (c == '\n') {
      line(now);
    } else if (current_.size() <= kMostBytes) {  // one more than is told, so that the cut shows
      current_ += c;
    }
  }
}

void LineCollector::finish(SteadyTime now) {
  if (!current_.empty()) line(now);
  tell_dropped();
}

void LineCollector::line(SteadyTime now) {
  const std::string text = printable(std::exchange(current_, {}), kMostBytes);
  if (text.empty()) return;
  if (kept_.size() == kKept) kept_.erase(kept_.begin());
  kept_.push_back(text);
  if (in_window_ == 0 || now - window_start_ >= kWindow) {
    tell_dropped();
    window_start_ = now;
    in_window_ = 0;
  }
  if (in_window_ == kMostLines) {
    ++dropped_;
    return;
  }
  ++in_window_;
  if (on_line_) on_line_(text);
}

void LineCollector::tell_dropped() {
  if (dropped_ > 0 && on_line_) on_line_(std::to_string(dropped_) + " more lines were dropped");
  dropped_ = 0;
}

std::string LineCollector::last_words() const {
  std::string out;
  for (const std::string& one : kept_) out += (out.empty() ? "" : " | ") + one;
  return out;
}

}  // namespace cuzk
