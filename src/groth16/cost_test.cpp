#include "groth16/cost.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// Some milliseconds of one thread.
void spin() {
  static std::atomic<uint64_t> sink;
  uint64_t x = 1;
  for (int i = 0; i < 5'000'000; ++i) x = x * 6364136223846793005 + 1442695040888963407;
  sink = x;
}

TEST(Cost, WallSecondsShareWhatIsNotSerial) {
  const Work work{10, 2};
  EXPECT_DOUBLE_EQ(work.wall_seconds(1), 10);
  EXPECT_DOUBLE_EQ(work.wall_seconds(4), 4);
  const Work twice = 2 * work + Work{1, 1};
  EXPECT_DOUBLE_EQ(twice.cpu_seconds, 21);
  EXPECT_DOUBLE_EQ(twice.serial_seconds, 5);
}

TEST(Cost, WhatOneThreadDoesAloneIsSerial) {
  const Work alone = measure_work(spin);
  EXPECT_GT(alone.cpu_seconds, 0);
  EXPECT_GT(alone.serial_seconds, 0.9 * alone.cpu_seconds);
  EXPECT_LE(alone.serial_seconds, alone.cpu_seconds);
  const Work shared = measure_work([] { parallel_for(16, 1, [](size_t, size_t) { spin(); }); });
  // Whoever does how much of it on a busy machine, all of it is counted.
  EXPECT_GT(shared.cpu_seconds, 8 * alone.cpu_seconds);
}

TEST(Cost, RatesGrowWithTheSizeAndNotBelowTheFirst) {
  const SizedRate rate{{4, 1}, {2, 0}, 10};
  EXPECT_DOUBLE_EQ(rate.at(1 << 10).cpu_seconds, 4);
  EXPECT_DOUBLE_EQ(rate.at(1 << 13).cpu_seconds, 10);
  EXPECT_DOUBLE_EQ(rate.at(1 << 13).serial_seconds, 1);
  EXPECT_DOUBLE_EQ(rate.at(1).cpu_seconds, 4);
  EXPECT_DOUBLE_EQ(rate.at(0).cpu_seconds, 4);
}

TEST(Cost, QueriesTakeTheirOnesAndTheirOthers) {
  CircuitSizes sizes;
  sizes.aux = sizes.a_aux = sizes.b_aux = 1000;
  sizes.bits = 900;
  sizes.constraints = 1000;
  ProofRates rates;
  rates.selected_g1 = {1, 0};
  rates.l = {0.25, 0};
  const auto seconds = [&](std::string_view name) {
    for (const StepTime& step : prove_times(sizes, rates)) {
      if (step.name == name) return step.work.cpu_seconds;
    }
    return -1.0;
  };
  EXPECT_DOUBLE_EQ(seconds("sum l"), 250);
  EXPECT_DOUBLE_EQ(seconds("sum a"), 0);
  rates.addition_g1.small = {1, 0};
  EXPECT_DOUBLE_EQ(seconds("sum l"), 250);
  rates.l.others = 1;
  EXPECT_GT(seconds("sum l"), 250 + 100);
}

// A parameter file's inputs are one chunk, and one thread's, until there are more than a chunk of them.
TEST(Cost, FewInputsAreReadByOneThread) {
  ProofRates rates;
  rates.read_ic = {1, 0};
  SrsShape shape;
  shape.ic = 100;
  EXPECT_DOUBLE_EQ(read_params_work(shape, rates).serial_seconds, 100);
  shape.ic = 5000;
  EXPECT_DOUBLE_EQ(read_params_work(shape, rates).serial_seconds, 0);
  EXPECT_DOUBLE_EQ(read_params_work(shape, rates).cpu_seconds, 5000);
}

}  // namespace
}  // namespace cuzk
