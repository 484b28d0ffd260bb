// Turns, time, and the order in which is decided.
#include <algorithm>

#include "base/assert.hpp"
#include "engine/core.hpp"

namespace cuzk {
namespace {

// While memory is short it is looked at again this often: others than the engine may give some back.
constexpr auto kMemoryPoll = std::chrono::seconds(1);
// How long jobs wait for a device when there is none that works.
constexpr auto kNoDevicePatience = std::chrono::seconds(30);
constexpr uint64_t kMostHeadroom = uint64_t{64} << 20;

}  // namespace

EngineCore::Turn::Turn(EngineCore& core) : core_(core), lock_(core.mutex_) {
  core_.now_ = std::max(core_.now_, core_.clock_->now());
  core_.look_at_reserve();
}

EngineCore::Turn::~Turn() {
  if (!core_.stopped_) core_.pump();
  const auto calls = std::exchange(core_.calls_, {});
  const auto dropped = std::exchange(core_.dropped_, {});
  lock_.unlock();
  for (const auto& call : calls) call();
  core_.outbox_.flush();
}

EngineCore::EngineCore(EngineOptions options, CoreParts parts)
    : options_(options),
      budget_(std::move(parts.budget)),
      service_(std::move(parts.service)),
      clock_(std::move(parts.clock)),
      observer_(std::move(parts.observer)),
      log_(std::move(parts.log)),
      reserve_(std::move(parts.reserve)),
      executor_(std::move(parts.executor)),
      headroom_(std::min(kMostHeadroom, budget_->total() / 32) + options_.upload_room_bytes),
      born_(clock_->now()),
      table_(options.jobs, log_ == nullptr ? JobKey{1} : log_->first_key()) {
  (void)circuit_specs();  // the table is made at its first use: not where memory has run out
  CUZK_ASSERT(!parts.devices.empty() && options_.witnesses_ahead > 0 && options_.gpu_group > 0 &&
              options_.gpu_group <= kMostTogether && options_.other_group > 0 && options_.other_group <= kMostTogether);
  residency_.emplace_back(options_.evict_min_idle);
  for (auto& device : parts.devices) {
    DeviceSlot slot;
    slot.info = device->info();
    residency_of_.push_back(slot.info.is_gpu ? residency_.size() : 0);
    if (slot.info.is_gpu) residency_.emplace_back(options_.evict_min_idle);
    slot.device = device.get();
    owned_devices_.push_back(std::move(device));
    devices_.push_back(std::move(slot));
  }
}

Status EngineCore::start() {
  if (log_ != nullptr) {
    CUZK_ASSIGN(const Journal::Recovered recovered, log_->recover());
    std::vector<JobKey> damaged;
    for (const auto& [key, error] : recovered.damaged) damaged.push_back(key);
    {
      const Turn turn(*this);
      for (const auto& [key, error] : recovered.damaged) tell_warning(error);
      restore(recovered);
    }
    // Only now: what cannot be read is lost for good, and somebody must have been told.
    if (!damaged.empty()) CUZK_TRY(log_->forget(damaged));
  }
  const UsesReserve uses_reserve;
  for (uint32_t i = 0; i < devices_.size(); ++i) {
    devices_[i].device->on_change([weak = weak_from_this(), i] {
      if (const auto core = weak.lock()) core->on_device_changed(i);
    });
  }
  for (uint32_t i = 0; i < devices_.size(); ++i) on_device_changed(i);
  return {};
}

void EngineCore::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  executor_.reset();
  for (auto& device : owned_devices_) device->cancel();
  owned_devices_.clear();
  if (log_ != nullptr) (void)log_->close(table_.next_key());
}

uint64_t EngineCore::ms_since(Instant instant) const {
  return static_cast<uint64_t>(
      std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(now_ - instant).count()));
}

CircuitIndex EngineCore::index_of_circuit(const CircuitSpec& spec) {
  const CircuitSpec& listed = circuit_spec_of(spec.shape());
  return static_cast<CircuitIndex>(&listed - circuit_specs().data());
}

// Ends what is over, then gives devices and threads their next work, the first in order first. Who lacks memory keeps
// all behind him from taking any (barrier_) until the next pass, in which he is asked before them.
void EngineCore::pump() {
  end_due();
  fail_without_device();
  fail_what_fits_no_device();
  constexpr int kPasses = 3;
  for (int pass = 0; pass < kPasses; ++pass) {
    barrier_ = std::exchange(blocked_, std::nullopt);
    const std::optional<Task> before = barrier_;
    dispatch();
    start_host_work();
    if (blocked_ == before) break;
  }
  barrier_.reset();
  settle_residents();
  check_drain();
  arm_timer();
}

void EngineCore::end_due() {
  const JobTable::Due due = table_.take_due(now_);
  for (const JobKey key : due.expired) {
    end_by_key(key, JobState::kExpired, Error(ErrorClass::kExpired, "the deadline has passed"));
  }
  for (const JobKey key : due.abandoned) {
    end_by_key(key, JobState::kCancelled, Error(ErrorClass::kCancelled, "nobody waits for it any more"));
  }
  if (!due.forgotten.empty()) forget_in_journal(due.forgotten);
  for (; !shown_.empty() && now_ - shown_.front().first > options_.show_ended; shown_.pop_front()) {
    ended_partitions_.erase(shown_.front().second);
  }
}

// Jobs whose clients wait are told soon that there is no device, so that they go elsewhere; what the journal has waits.
void EngineCore::fail_without_device() {
  if (usable_devices() > 0) {
    no_device_since_.reset();
    return;
  }
  if (!no_device_since_) no_device_since_ = now_;
  if (now_ - *no_device_since_ < kNoDevicePatience) return;
  std::vector<RunPtr> left;
  for (const auto& [key, run] : runs_) {
    const bool kept = table_.find(key)->journalled || inactive_.contains(key);
    if (!kept && run->step != Run::Step::kVerifying) left.push_back(run);
  }
  for (const RunPtr& run : left) {
    end_job(run, JobState::kFailed, Error(ErrorClass::kDeviceUnusable, "there is no device that works"));
  }
}

// Devices say what memory they have when they work, which may be after jobs were taken.
void EngineCore::fail_what_fits_no_device() {
  if (!std::exchange(device_memory_changed_, false)) return;
  std::vector<std::pair<RunPtr, std::string>> left;
  for (const auto& [key, run] : runs_) {
    const bool needs_one = run->step == Run::Step::kProving && run->proved < run->partitions.size();
    if (!needs_one) continue;
    if (auto never = fits_no_device(*run->circuit)) left.emplace_back(run, std::move(*never));
  }
  for (auto& [run, never] : left) {
    end_job(run, JobState::kFailed, Error(ErrorClass::kUnsupported, std::move(never)));
  }
}

void EngineCore::arm_timer() {
  std::optional<Instant> next;
  const auto consider = [&](Instant instant) {
    if (instant > now_) next = next ? std::min(*next, instant) : instant;
  };
  if (!checking_critical_.empty()) {
    consider(runs_.at(*checking_critical_.begin())->submitted + options_.critical_hold);
  }
  for (const TaskQueue* queue : {&witness_, &making_, &ready_}) {
    for (const Task& task : queue->first_of_lanes()) {
      const Run& run = *runs_.at(task.job);
      if (task.priority == Priority::kCritical) consider(run.submitted + options_.critical_hold);
      if (run.passed_over) consider(*run.passed_over + options_.swap_patience);
    }
  }
  for (const DeviceSlot& slot : devices_) {
    for (const auto& [circuit, refused] : slot.refused) consider(refused.until);
  }
  if (blocked_ || memory_short_) consider(now_ + kMemoryPoll);
  if (no_device_since_ && !runs_.empty()) consider(*no_device_since_ + kNoDevicePatience);
  if (draining_ && !drain_cut_) consider(drain_deadline_);
  if (const auto due = table_.next_due()) next = std::min(next.value_or(*due), *due);
  if (!next || (armed_ && *armed_ > now_ && *armed_ <= *next)) return;
  armed_ = *next;
  executor_->post_at(*next, [weak = weak_from_this()] {
    if (const auto core = weak.lock()) const Turn turn(*core);
  });
}

size_t EngineCore::usable_devices() const {
  return static_cast<size_t>(
      std::count_if(devices_.begin(), devices_.end(), [](const DeviceSlot& slot) { return slot.usable(); }));
}

void EngineCore::tell_stage_begin(const RunPtr& run, Stage stage, std::optional<uint32_t> partition,
                                  std::optional<uint32_t> device, uint64_t ms_ago) {
  tell([run, stage, partition, device, ms_ago](EngineObserver& observer) {
    observer.on_stage_begin({run->key, run->job_id, run->kind, stage, partition, device, ms_ago});
  });
}

void EngineCore::tell_stage_end(const RunPtr& run, Stage stage, std::optional<uint32_t> partition,
                                std::optional<uint32_t> device, uint64_t ms, std::optional<Error> error) {
  tell([run, stage, partition, device, ms, error = std::move(error)](EngineObserver& observer) {
    observer.on_stage_end({run->key, run->job_id, run->kind, stage, partition, device, ms}, error ? &*error : nullptr);
  });
}

void EngineCore::tell_warning(Error error) {
  tell([error = std::move(error)](EngineObserver& observer) { observer.on_warning(error); });
}

}  // namespace cuzk
