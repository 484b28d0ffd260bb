// When a worker counts as hung, when it is started again, and what is kept of what it wrote.
#include "worker/supervision.hpp"

#include <gtest/gtest.h>

namespace cuzk {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const SteadyTime kStart = SteadyTime() + std::chrono::hours(1);

// Looks every 100 ms until something is wrong or the time is over; beats at each look where told to.
std::optional<std::string> watch(Watchdog& dog, SteadyTime& now, milliseconds time, bool beats, bool progress) {
  static uint64_t steps = 0;
  for (milliseconds passed{0}; passed < time; passed += milliseconds(100)) {
    now += milliseconds(100);
    if (beats) dog.on_beat(progress ? ++steps : steps, "sum h");
    if (auto wrong = dog.check(now)) return wrong;
  }
  return std::nullopt;
}

TEST(Watchdog, ProgressKeepsItQuiet) {
  Watchdog dog;
  SteadyTime now = kStart;
  EXPECT_FALSE(watch(dog, now, seconds(100), false, false)) << "nothing to watch";
  dog.begin(now, seconds(5), seconds(20));
  EXPECT_FALSE(watch(dog, now, seconds(100), true, true));
  dog.end();
  EXPECT_FALSE(watch(dog, now, seconds(100), false, false));
}

TEST(Watchdog, SilenceAndStandstill) {
  Watchdog dog;
  SteadyTime now = kStart;
  dog.begin(now, seconds(5), seconds(20));
  EXPECT_FALSE(watch(dog, now, seconds(3), true, true));
  SteadyTime before = now;
  const auto silent = watch(dog, now, seconds(100), false, false);
  ASSERT_TRUE(silent);
  EXPECT_EQ(*silent, "gave no sign of life for 5100 ms during \"sum h\"");
  EXPECT_EQ(now - before, milliseconds(5100));

  dog.begin(now, seconds(5), seconds(20));
  EXPECT_FALSE(watch(dog, now, seconds(3), true, true));
  before = now;
  const auto stuck = watch(dog, now, seconds(100), true, false);
  ASSERT_TRUE(stuck);
  EXPECT_EQ(*stuck, "got no further for 20 s during \"sum h\"");
  EXPECT_EQ(now - before, milliseconds(20100));
}

TEST(Watchdog, ASleepOfItsOwnBlamesNobody) {
  Watchdog dog;
  SteadyTime now = kStart;
  dog.begin(now, seconds(5), seconds(5));
  now += std::chrono::hours(8);
  EXPECT_FALSE(dog.check(now));
  now += std::chrono::hours(8);
  EXPECT_FALSE(dog.check(now));
  EXPECT_TRUE(watch(dog, now, seconds(2), false, false)) << "4 s were counted";
}

TEST(Watchdog, FractionsOfMillisecondsAddUp) {
  Watchdog dog;
  SteadyTime now = kStart;
  dog.begin(now, milliseconds(10), milliseconds(10));
  int looks = 0;
  while (!dog.check(now)) {
    now += std::chrono::microseconds(300);
    ASSERT_LT(++looks, 100);
  }
  EXPECT_GE(now - kStart, milliseconds(11));
}

WorkerTimes times() {
  WorkerTimes out;
  out.backoff = milliseconds(100);
  out.most_backoff = milliseconds(500);
  out.stable = seconds(60);
  out.failures_to_give_up = 6;
  out.give_up = seconds(120);
  return out;
}

TEST(RestartPolicy, WaitsLongerAndGivesUp) {
  RestartPolicy policy(times());
  SteadyTime now = kStart;
  std::vector<int64_t> waits;
  for (int i = 0; i < 5; ++i) {
    policy.on_ready(now);
    const auto next = policy.on_end(now += seconds(1), false);
    EXPECT_FALSE(next.give_up);
    waits.push_back(next.wait.count());
  }
  EXPECT_EQ(waits, (std::vector<int64_t>{100, 200, 400, 500, 500}));
  const auto given_up = policy.on_end(now, false);
  EXPECT_TRUE(given_up.give_up);
  EXPECT_EQ(given_up.wait, seconds(120));
  // One try, then again.
  policy.on_ready(now);
  EXPECT_TRUE(policy.on_end(now += seconds(1), false).give_up);
  policy.on_ready(now);
  policy.on_proof();
  EXPECT_EQ(policy.on_end(now += seconds(1), false).wait, milliseconds(100));
}

TEST(RestartPolicy, AStableLifeForgives) {
  RestartPolicy policy(times());
  SteadyTime now = kStart;
  policy.on_end(now, false);
  policy.on_end(now, false);
  EXPECT_EQ(policy.failures(), 2u);
  policy.on_ready(now);
  EXPECT_EQ(policy.on_end(now += seconds(60), false).wait, milliseconds(100));
  policy.on_ready(now);
  EXPECT_EQ(policy.on_end(now += seconds(59), false).wait, milliseconds(200));
  // A hang takes long by itself, and forgives nothing.
  policy.on_ready(now);
  EXPECT_EQ(policy.on_end(now += seconds(600), true).wait, milliseconds(400));
  // Nor does a process that was never ready.
  EXPECT_EQ(policy.on_end(now += seconds(600), false).wait, milliseconds(500));
}

struct Lines {
  std::vector<std::string> told;
  LineCollector collector{[this](std::string_view line) { told.emplace_back(line); }};
};

TEST(LineCollector, MakesLines) {
  Lines lines;
  lines.collector.add("one\ntw", kStart);
  lines.collector.add("o\n\nthree\x01\n", kStart);
  EXPECT_EQ(lines.told, (std::vector<std::string>{"one", "two", "three?"}));
  lines.collector.add("four", kStart);
  EXPECT_EQ(lines.told.size(), 3u);
  lines.collector.finish(kStart);
  EXPECT_EQ(lines.told.back(), "four");
  EXPECT_EQ(lines.collector.last_words(), "two | three? | four");
}

TEST(LineCollector, BoundsLengthAndNumber) {
  Lines lines;
  lines.collector.add(std::string(1'000'000, 'x') + "\n", kStart);
  EXPECT_EQ(lines.told.at(0), std::string(LineCollector::kMostBytes - 3, 'x') + "...");
  lines.collector.add(std::string(LineCollector::kMostBytes, 'y') + "\n", kStart);
  EXPECT_EQ(lines.told.at(1), std::string(LineCollector::kMostBytes, 'y'));
  for (int i = 0; i < 1000; ++i) lines.collector.add("line " + std::to_string(i) + "\n", kStart);
  EXPECT_EQ(lines.told.size(), LineCollector::kMostLines);
  EXPECT_EQ(lines.collector.last_words(), "line 997 | line 998 | line 999");
  lines.collector.add("later\n", kStart + LineCollector::kWindow);
  ASSERT_EQ(lines.told.size(), LineCollector::kMostLines + 2);
  EXPECT_EQ(lines.told.at(LineCollector::kMostLines), "952 more lines were dropped");
  EXPECT_EQ(lines.told.back(), "later");
}

TEST(LineCollector, WithoutAListener) {
  LineCollector collector(nullptr);
  collector.add("one\n", kStart);
  collector.finish(kStart);
  EXPECT_EQ(collector.last_words(), "one");
}

}  // namespace
}  // namespace cuzk
