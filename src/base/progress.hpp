// A hook through which long work says how far it is. The core never prints: the application draws.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace cuzk {

// Called from one thread at a time. Implementations must be cheap: callers report a few hundred times a stage.
class Progress {
 public:
  virtual ~Progress() = default;
  // A stage begins; `total` units of work are expected (0: unknown), named by `unit` ("points", "constraints").
  virtual void begin_stage(std::string_view name, uint64_t total, std::string_view unit) = 0;
  // `done` units of the stage are finished, counted from its beginning.
  virtual void advance(uint64_t done) = 0;
  virtual void end_stage() = 0;
  // True where nobody wants the work any more. Asked between steps by work that can stop, by any thread.
  virtual bool stop_requested() const { return false; }
  // True where somebody waits for what the work is done on. Work on several things, one after the other, then begins
  // none more and ends what it has begun.
  virtual bool yield_requested() const { return false; }
};

// What work that can stop ends with once it was asked to: kCancelled, "cancelled".
inline Status check_wanted(const Progress& progress) {
  if (progress.stop_requested()) return Error(ErrorClass::kCancelled, "cancelled");
  return {};
}

// For callers that do not want to know.
class NoProgress final : public Progress {
 public:
  void begin_stage(std::string_view, uint64_t, std::string_view) override {}
  void advance(uint64_t) override {}
  void end_stage() override {}
};

// A stage for the life of the object.
class ScopedStage {
 public:
  ScopedStage(Progress& progress, std::string_view name, uint64_t total = 0, std::string_view unit = "")
      : progress_(progress) {
    progress_.begin_stage(name, total, unit);
  }
  ~ScopedStage() { progress_.end_stage(); }
  ScopedStage(const ScopedStage&) = delete;
  ScopedStage& operator=(const ScopedStage&) = delete;

 private:
  Progress& progress_;
};

}  // namespace cuzk
