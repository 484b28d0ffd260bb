#include "engine/make_engine.hpp"

#include <utility>

#include "engine/core.hpp"

namespace cuzk {
namespace {

// Stops the core before it goes: threads that are in it hold it meanwhile.
class OwnedEngine final : public Engine {
 public:
  explicit OwnedEngine(std::shared_ptr<EngineCore> core) : core_(std::move(core)) {}
  ~OwnedEngine() override { core_->stop(); }
  OwnedEngine(const OwnedEngine&) = delete;
  OwnedEngine& operator=(const OwnedEngine&) = delete;

  SubmitOutcome submit(Submission submission, Attendance attendance, Reservation received) override {
    return core_->submit(std::move(submission), attendance, std::move(received));
  }
  Result<Reservation> reserve_upload(uint64_t bytes) override { return core_->reserve_upload(bytes); }
  std::optional<JobKey> find(std::string_view job_id) const override { return core_->find(job_id); }
  WatchId watch(JobKey job, std::function<void(const JobResult&)> done) override {
    return core_->watch(job, std::move(done));
  }
  void unwatch(WatchId watch) override { core_->unwatch(watch); }
  CancelOutcome cancel(std::string_view job_id) override { return core_->cancel(job_id); }
  void preload(std::string_view circuit, std::function<void(Result<Preloaded>)> done) override {
    core_->preload(circuit, std::move(done));
  }
  void evict(std::string_view circuit, std::function<void(Result<Evicted>)> done) override {
    core_->evict(circuit, std::move(done));
  }
  EngineStatus status() const override { return core_->status(); }
  void drain(Instant deadline, std::function<void()> done) override { core_->drain(deadline, std::move(done)); }

 private:
  std::shared_ptr<EngineCore> core_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_engine(EngineOptions options, EngineParts parts) {
  CoreParts core_parts;
  core_parts.budget = std::move(parts.budget);
  core_parts.service = std::move(parts.service);
  core_parts.devices = std::move(parts.devices);
  core_parts.executor = std::move(parts.executor);
  core_parts.clock = std::move(parts.clock);
  if (parts.journal != nullptr) core_parts.log = std::make_unique<JournalLog>(std::move(parts.journal));
  core_parts.observer = std::move(parts.observer);
  core_parts.reserve = std::move(parts.reserve);
  auto core = std::make_shared<EngineCore>(options, std::move(core_parts));
  auto engine = std::make_unique<OwnedEngine>(core);
  CUZK_TRY(core->start());
  return Result<std::unique_ptr<Engine>>(std::move(engine));
}

}  // namespace cuzk
