#include "worker/witness_inbox.hpp"

#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "worker/shared_witness.hpp"

namespace cuzk {

WitnessInbox::~WitnessInbox() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool WitnessInbox::put(uint32_t number, Descriptor memory) {
  {
    const std::lock_guard lock(mutex_);
    if (number != put_ || put_ == count_) return false;
    ++put_;
    memory_.push_back(std::move(memory));
  }
  changed_.notify_all();
  return true;
}

void WitnessInbox::wake() {
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

WitnessInbox::Arrived WitnessInbox::read(uint32_t k) {
  Descriptor memory;
  {
    std::unique_lock lock(mutex_);
    const auto given_up = [this, k] {
      return closed_ || progress_.stop_requested() || (k > 0 && progress_.yield_requested());
    };
    changed_.wait(lock, [&] { return !memory_.empty() || given_up(); });
    if (memory_.empty()) return std::nullopt;
    memory = std::move(memory_.front());
    memory_.pop_front();
  }
  return read_shared_witness(memory.get());
}

Result<const PackedWitness*> WitnessInbox::get(unsigned k) {
  CUZK_ASSERT(k < count_);
  current_.reset();
  Arrived arrived = next_.valid() ? next_.get() : read(k);
  CUZK_TRY(check_wanted(progress_));
  if (!arrived) return nullptr;
  if (!arrived->ok()) return std::move(*arrived).error();
  current_ = std::move(*arrived).value();
  if (k + 1 < count_) read_ahead(k + 1);
  return &*current_;
}

// Where there can be no more threads it is read when it is asked for.
void WitnessInbox::read_ahead(uint32_t k) {
  try {
    next_ = std::async(std::launch::async, [this, k] { return read(k); });
  } catch (const std::system_error&) {
    next_ = {};
  }
}

}  // namespace cuzk
