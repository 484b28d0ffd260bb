// The daemon's metrics in Prometheus' text format: the reference's names, gauges of what is now, and histograms.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/observer.hpp"
#include "engine/status.hpp"
#include "queue/job.hpp"

namespace cuzk {

// Thread safe. What can be read from an EngineStatus is read there when the text is made, so that GetMetrics, GetStatus
// and the status page agree; what only events tell is counted here.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  void count_job(ProofKind kind, const JobResult& result);
  void count_stage(ProofKind kind, Stage stage, uint64_t ms);
  // `reason` should be one of a few words: more than 32 different ones are counted as "other".
  void count_refusal(ProofKind kind, std::string_view reason);
  void count_load(uint64_t ms);
  void count_eviction();
  // A call of the service. `code` is gRPC's name of its status ("OK", "NOT_FOUND").
  void count_call(std::string_view method, std::string_view code, double seconds);
  void count_received_bytes(uint64_t bytes);
  void count_dropped_log_lines(uint64_t total);

  // 100 us or so for a few devices.
  std::string text(const EngineStatus& status, std::string_view version) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cuzk
