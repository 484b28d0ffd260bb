// The witnesses of a task as they arrive: one thread puts descriptors in, another takes the witnesses out in order, and
// while it works on one the next is read.
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>

#include "base/progress.hpp"
#include "groth16/witness_source.hpp"
#include "worker/descriptor.hpp"

namespace cuzk {

class WitnessInbox final : public WitnessSource {
 public:
  // `progress` says whether what has not come is still to be waited for; it is asked again after wake().
  WitnessInbox(uint32_t count, const Progress& progress) : count_(count), progress_(progress) {}
  ~WitnessInbox() override;
  WitnessInbox(const WitnessInbox&) = delete;
  WitnessInbox& operator=(const WitnessInbox&) = delete;

  // False where it is not the next one, or one too many.
  bool put(uint32_t number, Descriptor memory);
  void wake();

  unsigned size() const override { return count_; }
  // Waits for it. Errors: those of read_shared_witness(); kCancelled where nobody wants it any more. nullptr where it
  // is not the first, has not come, and the work is to yield.
  Result<const PackedWitness*> get(unsigned k) override;

 private:
  // Nothing where it is not to be waited for.
  using Arrived = std::optional<Result<PackedWitness>>;
  Arrived read(uint32_t k);
  void read_ahead(uint32_t k);

  const uint32_t count_;
  const Progress& progress_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Descriptor> memory_;  // not read yet
  uint32_t put_ = 0;
  bool closed_ = false;

  // Of the thread that takes them out.
  std::optional<PackedWitness> current_;
  std::future<Arrived> next_;  // its end is waited for before all else goes
};

}  // namespace cuzk
