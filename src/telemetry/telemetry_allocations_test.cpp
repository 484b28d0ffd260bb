// Memory that runs out while it is being told what happens.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "base/memory_reserve.hpp"
#include "support/failing_allocations.hpp"
#include "telemetry/telemetry_observer.hpp"

namespace cuzk {
namespace {

std::atomic<int64_t> allocations_left{0};  // of steps that use the reserve; the last of these fails
bool fails(size_t) { return ReserveScope::of_this_thread() == ReserveUse::kMay && allocations_left.fetch_sub(1) == 1; }

struct Told {
  std::multiset<std::string> lines;
  std::string metrics;
  bool failed = false;
  friend bool operator==(const Told& a, const Told& b) { return a.lines == b.lines && a.metrics == b.metrics; }
};

void tell_all(EngineObserver& observer) {
  const UsesReserve uses_reserve;
  const StageEvent event{.key = 7, .job_id = "a-job-with-a-long-id", .stage = Stage::kDevice, .partition = 3, .ms = 12};
  const Error error(ErrorClass::kDeviceFault, "the worker process of device 0 crashed while it was proving porep-2k");
  observer.on_submitted(7, event.job_id, ProofKind::kPorep, Priority::kHigh, 5);
  observer.on_refused(ProofKind::kSnap, "a reason that is new");
  observer.on_ready(event);
  observer.on_stage_begin(event);
  observer.on_stage_end(event, nullptr);
  observer.on_stage_end(event, &error);
  JobResult result;
  result.state = JobState::kCompleted;
  result.job_id = event.job_id;
  observer.on_finished(7, ProofKind::kPorep, result);
  result.state = JobState::kFailed;
  result.error = error;
  observer.on_finished(8, ProofKind::kWinning, result);
  observer.on_loaded("porep-2k", 0, 5, 6);
  observer.on_evicted("porep-2k", 0, 5, "memory is needed for other work");
  observer.on_device_fault(0, error);
  observer.on_wrong_proof(7, event.job_id, 3, 0);
  observer.on_distrusted(0, 3, false);
  observer.on_memory_short(1, 2);
  observer.on_memory_back();
  observer.on_warning(error);
}

// With the k-th allocation failing. Times, which differ, are cut out.
Told told_with_failure(int64_t k) {
  std::string folder = testing::TempDir() + "cuzk-log-XXXXXX";
  CUZK_ASSERT(mkdtemp(folder.data()) != nullptr);
  Told out;
  Metrics metrics;
  {
    const auto log = Log::open({.level = LogLevel::kDebug, .file = folder + "/log"}).value();
    TelemetryObserver observer(*log, metrics, true);
    allocations_left = k;
    test::allocation_fails = fails;
    tell_all(observer);
    test::allocation_fails = nullptr;
    out.failed = allocations_left <= 0;
  }
  const std::regex time("^([0-9TZ:.-]+ |TIMELINE,[0-9]+,)");
  std::ifstream file(folder + "/log");
  for (std::string line; std::getline(file, line);) out.lines.insert(std::regex_replace(line, time, ""));
  out.metrics = metrics.text(EngineStatus(), "1");
  std::filesystem::remove_all(folder);
  return out;
}

TEST(TelemetryAllocations, NoLineAndNoCountIsLost) {
  const auto reserve = MemoryReserve::make({.give_up = [] { _exit(9); }});
  ASSERT_TRUE(reserve.ok());
  const Told all = told_with_failure(0);
  EXPECT_GT(all.lines.size(), 15u);
  for (int64_t k = 1;; ++k) {
    const Told told = told_with_failure(k);
    ASSERT_EQ(told, all) << "allocation " << k;
    if (!told.failed) {
      EXPECT_GT(k, 100);
      break;
    }
  }
  EXPECT_GT((*reserve)->uses(), 100u);
}

}  // namespace
}  // namespace cuzk
