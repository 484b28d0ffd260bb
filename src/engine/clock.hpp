// Time, so that a simulation can have its own.
#pragma once

#include <chrono>

namespace cuzk {

// Thread safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::steady_clock::time_point now() const = 0;
  virtual std::chrono::system_clock::time_point system_now() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::chrono::steady_clock::time_point now() const override { return std::chrono::steady_clock::now(); }
  std::chrono::system_clock::time_point system_now() const override { return std::chrono::system_clock::now(); }
};

}  // namespace cuzk
