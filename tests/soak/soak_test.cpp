// Ten jobs of each of 32 clients.
#include "soak/soak.hpp"

#include <gtest/gtest.h>

namespace cuzk::soak {
namespace {

TEST(Soak, ThirtyTwoClients) {
  const SoakResult result = run_soak(32, 10);
  SCOPED_TRACE(describe(result));
  expect_right(result, 320);
  expect_counted(result);
  EXPECT_GT(result.tally.completed, 200u);
  EXPECT_GT(result.tally.failed, 0u);  // the malformed ones
}

// One in so many allocations fails, in all threads of ours: calls are refused and jobs fail for want of memory, of
// which clients try again what they want; nothing else happens.
TEST(Soak, AllocationsThatFail) {
  for (const uint64_t one_in : {50, 1'000}) {
    const SoakResult result = run_soak(32, 10, {.failing_allocations = one_in});
    SCOPED_TRACE(describe(result));
    expect_right(result, 320);
    EXPECT_GT(result.tally.completed, 150u);
    EXPECT_GT(result.tally.refusals, 0u);
    EXPECT_GT(result.shortages, 2'000 / one_in);
  }
}

}  // namespace
}  // namespace cuzk::soak
