// 500 jobs of each of 32 clients, and nothing that grows with them.
#include <gtest/gtest.h>

#include <cstdio>

#include "soak/soak.hpp"

namespace cuzk::soak {
namespace {

constexpr uint32_t kClients = 32, kJobs = 500;
constexpr double kMiB = 1 << 20;
// From the second quarter of the jobs to the last: 8,000 jobs. The first has what is learnt and filled once.
constexpr double kMemoryGrowth = 2 * kMiB;  // 0.25 KiB a job

TEST(Soak, SixteenThousandJobsLeaveNothingBehind) {
  const SoakResult result = run_soak(kClients, kJobs);
  const std::string said = describe(result);
  std::fputs(said.c_str(), stderr);
  SCOPED_TRACE(said);
  expect_right(result, uint64_t{kClients} * kJobs);
  expect_counted(result);
  EXPECT_GT(result.tally.completed, 12'000u);
  EXPECT_GT(result.tally.cancelled, 100u);
  EXPECT_GT(result.tally.expired, 100u);
  EXPECT_GT(result.tally.evictions, 3u);
  const Quarter &second = result.quarters[1], &last = result.quarters[3];
  EXPECT_LT(last.memory_bytes, second.memory_bytes + kMemoryGrowth);
  EXPECT_LT(last.descriptors, second.descriptors + 2);
  EXPECT_LT(last.threads, second.threads + 2);
  EXPECT_LT(last.worker_descriptors, second.worker_descriptors + 2);
  EXPECT_LT(last.worker_threads, second.worker_threads + 2);
  EXPECT_LT(result.most.journal_bytes, 32 * kMiB);
}

// That the bounds above would find a leak of 1 KiB a request.
TEST(Soak, ALeakOfOneKibibyteAJobIsFound) {
  const SoakResult result = run_soak(kClients, kJobs, {.leak_bytes = 1024});
  const std::string said = describe(result);
  std::fputs(said.c_str(), stderr);
  SCOPED_TRACE(said);
  EXPECT_GT(result.quarters[3].memory_bytes, result.quarters[1].memory_bytes + kMemoryGrowth);
}

// soak_test.cpp says what: 3,200 jobs.
TEST(Soak, AllocationsThatFailForLonger) {
  for (const uint64_t one_in : {20, 100, 500, 5'000}) {
    const SoakResult result = run_soak(kClients, 100, {.failing_allocations = one_in});
    const std::string said = describe(result);
    std::fputs(said.c_str(), stderr);
    SCOPED_TRACE(said);
    expect_right(result, uint64_t{kClients} * 100);
    EXPECT_GT(result.tally.completed, 100u);
    EXPECT_GT(result.shortages, 20'000 / one_in);
  }
}

}  // namespace
}  // namespace cuzk::soak
