#include "base/element_errors.hpp"

#include <utility>

#include "base/assert.hpp"

namespace cuzk {

void ElementErrors::add(size_t element, size_t part, Error error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [at, added] = bad_.try_emplace(element, Bad{part, {}});
  if (!added && at->second.part <= part) return;
  at->second = {part, std::move(error)};
  any_.store(true, std::memory_order_release);
}

bool ElementErrors::known(size_t element, size_t part) const {
  if (empty()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = bad_.find(element);
  return at != bad_.end() && at->second.part <= part;
}

Error ElementErrors::take(const std::function<std::string(size_t)>& name) {
  constexpr size_t kNamed = 8;
  const std::lock_guard<std::mutex> lock(mutex_);
  CUZK_ASSERT(!bad_.empty());
  Error first = std::move(bad_.begin()->second.error);
  size_t others = 0;
  for (auto at = std::next(bad_.begin()); at != bad_.end() && others < kNamed; ++at, ++others) {
    first.message += (others == 0 ? "; bad too: " : ", ") + name(at->first);
  }
  if (bad_.size() - 1 > kNamed) first.message += " and " + std::to_string(bad_.size() - 1 - kNamed) + " more";
  return first;
}

}  // namespace cuzk
