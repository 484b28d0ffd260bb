// The engine: from a submission to a verified proof. What the network side talks to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"
#include "budget/host_budget.hpp"
#include "engine/status.hpp"
#include "queue/submission.hpp"

namespace cuzk {

struct Submitted {
  JobKey key = 0;
  std::string job_id;
  uint32_t queue_position = 0;  // jobs that go before it
  bool attached = false;        // the same request was there already, running or proved: this is that job
};

using SubmitOutcome = std::variant<Submitted, Refusal>;

struct CancelOutcome {
  bool found = false;
  bool was_running = false;  // it will stop at its next stage
};

// Thread safe; no call blocks on work. Callbacks come from threads of the engine and must not block.
class Engine {
 public:
  virtual ~Engine() = default;

  // A job is identified by its id and its payload's digest. The same pair attaches to the queued or running job, or to
  // the finished one if it completed and its result is still kept; after a failure or cancellation it is a new job, as
  // are other bytes under the same id. `detached` jobs are in the journal when this returns. `received` is what the
  // submission was counted with until now (reserve_upload()); from here on the engine counts it.
  virtual SubmitOutcome submit(Submission submission, Attendance attendance, Reservation received) = 0;
  SubmitOutcome submit(Submission submission, Attendance attendance) {
    return submit(std::move(submission), attendance, Reservation());
  }

  // Memory of the one budget for a request that is arriving or being parsed; the engine outlives it. Errors: kResource
  // where there is none now: what can be given up for it has been asked to go, so a retry helps.
  virtual Result<Reservation> reserve_upload(uint64_t bytes) = 0;

  // The newest job with that id whose result is still known.
  virtual std::optional<JobKey> find(std::string_view job_id) const = 0;

  // Calls back once, when the job is in a final state (perhaps from within this call); never after unwatch() has
  // returned. A job that is not known any more gives kFailed with kNotFound.
  virtual WatchId watch(JobKey job, std::function<void(const JobResult&)> done) = 0;
  virtual void unwatch(WatchId watch) = 0;

  // All unfinished jobs of that id.
  virtual CancelOutcome cancel(std::string_view job_id) = 0;

  struct Preloaded {
    bool already_loaded = false;
    uint64_t load_ms = 0;
  };
  struct Evicted {
    bool was_loaded = false;
    uint64_t freed_bytes = 0;
  };
  // The circuit's parameters onto every device. Names of circuits also as the reference has them ("wpost-32g"). Errors:
  // kUsage where there is no such circuit; kNotFound, kCorrupt, kIo of its files; kResource where there is no memory
  // for it now; kUnsupported where it never fits.
  virtual void preload(std::string_view circuit, std::function<void(Result<Preloaded>)> done) = 0;
  // Errors: kUsage; kResource where it is in use.
  virtual void evict(std::string_view circuit, std::function<void(Result<Evicted>)> done) = 0;

  virtual EngineStatus status() const = 0;

  // From now on submissions are refused. `done` is called when no job is unfinished that this process has to finish:
  // awaited ones, and the running partitions of detached ones, which the journal keeps. At `deadline` what is left is
  // cancelled, or left to the journal.
  virtual void drain(std::chrono::steady_clock::time_point deadline, std::function<void()> done) = 0;
};

}  // namespace cuzk
