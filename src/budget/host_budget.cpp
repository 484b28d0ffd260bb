#include "budget/host_budget.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/units.hpp"

namespace cuzk {

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    release();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    what_ = other.what_;
  }
  return *this;
}

void Reservation::release() {
  shrink_to(0);
  budget_ = nullptr;
}

void Reservation::shrink_to(uint64_t bytes) {
  CUZK_ASSERT(bytes <= bytes_);
  if (bytes == bytes_) return;
  budget_->give_back(bytes_ - bytes, what_);
  bytes_ = bytes;
}

HostBudget::~HostBudget() { CUZK_ASSERT(used_ == 0); }

Result<Reservation> HostBudget::reserve(uint64_t bytes, std::string_view what) {
  if (!could_ever_fit(bytes)) {
    return Error(ErrorClass::kResource, std::string(what) + ": " + human_bytes(bytes) +
                                            " of memory are needed, and the whole budget is " + human_bytes(total_) +
                                            " (" + origin_ + ")");
  }
  const std::lock_guard lock(mutex_);
  if (bytes > total_ - used_) {
    return Error(ErrorClass::kResource, std::string(what) + ": " + human_bytes(bytes) + " of memory are needed, and " +
                                            human_bytes(total_ - used_) + " of " + human_bytes(total_) +
                                            " are free now");
  }
  if (bytes == 0) return Reservation();
  auto entry = std::find_if(by_.begin(), by_.end(), [&](const auto& by) { return by.first == what; });
  if (entry == by_.end()) entry = by_.insert(by_.end(), {what, 0});
  entry->second += bytes;
  used_ += bytes;
  return Reservation(this, bytes, what);
}

void HostBudget::give_back(uint64_t bytes, std::string_view what) {
  const std::lock_guard lock(mutex_);
  const auto entry = std::find_if(by_.begin(), by_.end(), [&](const auto& by) { return by.first == what; });
  CUZK_ASSERT(entry != by_.end() && entry->second >= bytes && used_ >= bytes);
  entry->second -= bytes;
  used_ -= bytes;
}

uint64_t HostBudget::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

uint64_t HostBudget::used(std::string_view what) const {
  const std::lock_guard lock(mutex_);
  const auto entry = std::find_if(by_.begin(), by_.end(), [&](const auto& by) { return by.first == what; });
  return entry == by_.end() ? 0 : entry->second;
}

std::vector<std::pair<std::string_view, uint64_t>> HostBudget::used_by() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string_view, uint64_t>> out;
  std::copy_if(by_.begin(), by_.end(), std::back_inserter(out), [](const auto& by) { return by.second > 0; });
  return out;
}

Result<BudgetTotal> budget_total(const BudgetOptions& options, const MemoryLimit& limit) {
  const std::string name(options.total_name);
  if (options.total_bytes) {
    if (*options.total_bytes == 0) return Error(ErrorClass::kUsage, name + " is 0: nothing could be proved");
    if (limit.bytes == 0 || *options.total_bytes <= limit.bytes) return BudgetTotal{*options.total_bytes, name};
    return BudgetTotal{limit.bytes,
                       name + " is " + human_bytes(*options.total_bytes) + ", cut to what there is: " + limit.source};
  }
  if (limit.bytes == 0) {
    return Error(ErrorClass::kUsage, "how much memory there is cannot be found out here: set " + name);
  }
  const uint64_t margin = std::min(options.margin_bytes, limit.bytes / 4);
  return BudgetTotal{limit.bytes - margin,
                     limit.source + ", " + human_bytes(limit.bytes) + ", less a margin of " + human_bytes(margin)};
}

Result<std::unique_ptr<HostBudget>> default_budget(const BudgetOptions& options) {
  CUZK_ASSIGN(BudgetTotal total, budget_total(options, memory_limit("")));
  return std::make_unique<HostBudget>(total.bytes, std::move(total.origin));
}

}  // namespace cuzk
