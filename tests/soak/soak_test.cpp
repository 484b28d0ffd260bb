// Ten jobs of each of 32 clients.
#include "soak/soak.hpp"

#include <gtest/gtest.h>

namespace cuzk::soak {
namespace {

TEST(Soak, ThirtyTwoClients) {
  const SoakResult result = run_soak(32, 10);
  SCOPED_TRACE(describe(result));
  expect_right(result, 320);
  EXPECT_GT(result.tally.completed, 200u);
  EXPECT_GT(result.tally.failed, 0u);  // the malformed ones
}

}  // namespace
}  // namespace cuzk::soak
