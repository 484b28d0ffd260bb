// One budget of host memory for everything the daemon holds: requests, witnesses, parameters, circuits, scratch.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_limit.hpp"
#include "base/result.hpp"

namespace cuzk {

class HostBudget;

// Bytes of a budget, given back when it is destroyed. Move-only; not thread safe by itself.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)), what_(other.what_) {}
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { release(); }
  uint64_t bytes() const { return bytes_; }
  void release();
  // Gives back all but `bytes`, of which there are as many (CUZK_ASSERT): scratch that a later stage does not need.
  void shrink_to(uint64_t bytes);

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
  // All reservations have been given back (CUZK_ASSERT).
  ~HostBudget();
  HostBudget(const HostBudget&) = delete;
  HostBudget& operator=(const HostBudget&) = delete;

  // `what` is one of a few fixed names ("uploads", "requests", "witness", "parameters", "circuit", "proving") and
  // outlives the budget: use literals. Errors: kResource; with the numbers where it could never fit, however empty the
  // budget.
  Result<Reservation> reserve(uint64_t bytes, std::string_view what);
  bool could_ever_fit(uint64_t bytes) const { return bytes <= total_; }

  uint64_t total() const { return total_; }
  uint64_t used() const;
  uint64_t used(std::string_view what) const;
  uint64_t available() const { return total_ - used(); }
  const std::string& origin() const { return origin_; }
  // Those with bytes, in the order in which the names were first used.
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

struct BudgetOptions {
  std::optional<uint64_t> total_bytes;                  // memory.total_budget; none: "auto"
  uint64_t margin_bytes = uint64_t{5} << 30;            // memory.safety_margin, for what no budget counts
  std::string_view total_name = "memory.total_budget";  // for messages
};

struct BudgetTotal {
  uint64_t bytes = 0;
  std::string origin;  // in words
};

// The configured total, or the least of the machine's memory and this process's limits, less the margin; in a small
// group the margin is at most a quarter of the limit. What is configured is cut to the limit: a budget of memory that
// is not there would have the kernel kill the daemon. Errors: kUsage where the total is zero, or where nothing is
// configured and no limit is known.
Result<BudgetTotal> budget_total(const BudgetOptions& options, const MemoryLimit& limit);

// The budget of this process.
Result<std::unique_ptr<HostBudget>> default_budget(const BudgetOptions& options);

}  // namespace cuzk
