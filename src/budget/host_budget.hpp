// One budget of host memory for everything the daemon holds: requests, witnesses, parameters, circuits, scratch.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace cuzk {

class HostBudget;

// Bytes of a budget, given back when it is destroyed. Move-only.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)), what_(other.what_) {}
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { release(); }
  uint64_t bytes() const { return bytes_; }
  void release();

 private:
  friend class HostBudget;
  Reservation(HostBudget* budget, uint64_t bytes, std::string_view what)
      : budget_(budget), bytes_(bytes), what_(what) {}
  HostBudget* budget_ = nullptr;
  uint64_t bytes_ = 0;
  std::string_view what_;
};

// Never waits: who cannot have memory now stays in the queue, which decides who is next. Thread safe.
class HostBudget {
 public:
  // `origin` says where the number comes from ("memory.total_budget", "physical memory, less 5.0 GB", a cgroup's file).
  HostBudget(uint64_t total_bytes, std::string origin) : total_(total_bytes), origin_(std::move(origin)) {}

  // `what` is one of a few fixed names ("requests", "witness", "parameters", "circuit", "proving") and outlives the
  // budget: use literals. Errors: kResource; with the numbers where it could never fit, however empty the budget.
  Result<Reservation> reserve(uint64_t bytes, std::string_view what);
  bool could_ever_fit(uint64_t bytes) const { return bytes <= total_; }

  uint64_t total() const { return total_; }
  uint64_t used() const;
  uint64_t available() const { return total_ - used(); }
  const std::string& origin() const { return origin_; }
  std::vector<std::pair<std::string_view, uint64_t>> used_by() const;

 private:
  friend class Reservation;
  void give_back(uint64_t bytes, std::string_view what);

  const uint64_t total_;
  const std::string origin_;
  mutable std::mutex mutex_;
  uint64_t used_ = 0;
  std::vector<std::pair<std::string_view, uint64_t>> by_;
};

}  // namespace cuzk
