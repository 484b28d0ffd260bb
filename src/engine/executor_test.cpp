#include "engine/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "base/memory_reserve.hpp"
#include "engine/guarded.hpp"
#include "engine/outbox.hpp"

namespace cuzk {
namespace {

using std::chrono::milliseconds;

TEST(ThreadExecutor, CriticalWorkDoesNotWaitForOtherWork) {
  std::promise<void> release, busy, critical;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<bool> ordinary = false;
  ThreadExecutor executor(1);  // goes first
  executor.post(Priority::kHigh, [&] {
    busy.set_value();
    released.wait();
  });
  busy.get_future().wait();
  executor.post(Priority::kHigh, [&] { ordinary = true; });
  executor.post(Priority::kCritical, [&] { critical.set_value(); });
  EXPECT_EQ(critical.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  EXPECT_FALSE(ordinary);
  release.set_value();
}

// What its threads do must be ended, but for what is caught where it fails.
TEST(ThreadExecutor, WorkUsesTheMemoryReserveButForWhatIsGuarded) {
  using Uses = std::pair<ReserveUse, ReserveUse>;
  const auto look = [](std::promise<Uses>& found) {
    ReserveUse within = ReserveUse::kUnsaid;
    const auto failed = guarded([&]() -> Status {
      within = ReserveScope::of_this_thread();
      throw std::bad_alloc();
    });
    EXPECT_EQ(failed.error().error_class, ErrorClass::kResource);
    found.set_value({ReserveScope::of_this_thread(), within});
  };
  std::promise<Uses> work, timer;
  ThreadExecutor executor(1);
  executor.post(Priority::kLow, [&] { look(work); });
  executor.post_at(std::chrono::steady_clock::now(), [&] { look(timer); });
  for (std::promise<Uses>* found : {&work, &timer}) {
    EXPECT_EQ(found->get_future().get(), Uses(ReserveUse::kMay, ReserveUse::kMustNot));
  }
}

TEST(ThreadExecutor, HigherPrioritiesFirstThenInOrder) {
  std::promise<void> release, busy, done;
  std::string order;
  ThreadExecutor executor(1);
  executor.post(Priority::kHigh, [&] {
    busy.set_value();
    release.get_future().wait();
  });
  busy.get_future().wait();
  executor.post(Priority::kLow, [&] {
    order += "d";
    done.set_value();
  });
  executor.post(Priority::kNormal, [&] { order += "b"; });
  executor.post(Priority::kNormal, [&] { order += "c"; });
  executor.post(Priority::kHigh, [&] { order += "a"; });
  release.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, "abcd");
}

TEST(ThreadExecutor, TimersGoOffInOrderAndNotBeforeTheirTime) {
  const auto now = std::chrono::steady_clock::now();
  std::promise<void> done;
  std::string order;
  ThreadExecutor executor(1);
  executor.post_at(now + milliseconds(60), [&] {
    order += "c";
    EXPECT_GE(std::chrono::steady_clock::now(), now + milliseconds(60));
    done.set_value();
  });
  executor.post_at(now + milliseconds(30), [&] { order += "b"; });
  executor.post_at(std::chrono::steady_clock::time_point::min(), [&] { order += "a"; });
  done.get_future().wait();
  EXPECT_EQ(order, "abc");
}

TEST(ThreadExecutor, WhatHasNotBegunIsDroppedAtTheEnd) {
  std::atomic<int> ran = 0;
  const auto held = std::make_shared<int>(0);
  {
    ThreadExecutor executor(2);
    for (int i = 0; i < 100; ++i) {
      executor.post(Priority::kNormal, [&ran, held] {
        ++ran;
        std::this_thread::sleep_for(milliseconds(1));
      });
    }
    executor.post_at(std::chrono::steady_clock::now() + std::chrono::hours(1), [held] {});
  }
  EXPECT_LE(ran, 100);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Outbox, CallsAreMadeInOrderAlsoThoseThatCallsPush) {
  Outbox outbox;
  std::string order;
  outbox.push([&] {
    order += "a";
    outbox.push([&] { order += "c"; });
    outbox.flush();
    order += "b";
  });
  outbox.flush();
  EXPECT_EQ(order, "abc");
}

}  // namespace
}  // namespace cuzk
