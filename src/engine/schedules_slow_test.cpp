#include <gtest/gtest.h>

#include "engine/schedules_test_support.hpp"

namespace cuzk::test {
namespace {

TEST(SchedulesSlow, NothingIsViolatedInTwoHundredThousand) {
  for (uint64_t seed = 1'000'000; seed < 1'200'000; ++seed) {
    Schedule schedule(seed);
    ASSERT_EQ(schedule.run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace cuzk::test
