// What the steps of a proof cost.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.hpp"

namespace cuzk {

struct ProveReport {
  struct Step {
    std::string name;
    double seconds = 0;
  };
  std::vector<Step> steps;  // in the order they ran

  double total_seconds() const {
    double total = 0;
    for (const Step& step : steps) total += step.seconds;
    return total;
  }
};

// Times one step from construction to destruction, and shows it as a stage of the progress.
class StepTimer {
 public:
  StepTimer(ProveReport& report, Progress& progress, std::string_view name, uint64_t units, std::string_view unit)
      : report_(report), progress_(progress), name_(name), units_(units), start_(std::chrono::steady_clock::now()) {
    progress_.begin_stage(name, units, unit);
  }
  ~StepTimer() {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    report_.steps.push_back({name_, elapsed.count()});
    progress_.advance(units_);
    progress_.end_stage();
  }
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

 private:
  ProveReport& report_;
  Progress& progress_;
  std::string name_;
  uint64_t units_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace cuzk
