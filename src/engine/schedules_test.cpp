#include <gtest/gtest.h>

#include "engine/schedules_test_support.hpp"

namespace cuzk::test {
namespace {

TEST(Schedules, NothingIsViolatedInTenThousand) {
  uint64_t completed = 0;
  for (uint64_t seed = 0; seed < 10'000; ++seed) {
    Schedule schedule(seed);
    ASSERT_EQ(schedule.run(), "") << "seed " << seed;
    completed += schedule.completed();
  }
  EXPECT_GT(completed, 30'000u);  // most jobs can be proved in spite of all
}

}  // namespace
}  // namespace cuzk::test
