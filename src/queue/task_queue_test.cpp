#include "queue/task_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "queue/queue_test_util.hpp"

namespace cuzk {
namespace {

using queue_test::below;
using queue_test::cpu_ns;
using queue_test::Rng;

// The order as the description has it, written out once more.
bool goes_before(const Task& a, const Task& b) {
  if (a.priority != b.priority) return static_cast<int>(a.priority) > static_cast<int>(b.priority);
  if (a.job != b.job) return a.job < b.job;
  return a.partition < b.partition;
}

bool equal(const Task& a, const Task& b) {
  return a.priority == b.priority && a.job == b.job && a.partition == b.partition && a.lane == b.lane;
}

// Every answer against a plain list.
void expect_same(const TaskQueue& queue, std::vector<Task> list, Rng& rng) {
  std::sort(list.begin(), list.end(), goes_before);
  ASSERT_EQ(queue.size(), list.size());
  ASSERT_EQ(queue.empty(), list.empty());
  const std::vector<Task> all = queue.all();
  ASSERT_TRUE(std::equal(all.begin(), all.end(), list.begin(), list.end(), equal));
  ASSERT_EQ(queue.first().has_value(), !list.empty());
  ASSERT_TRUE(list.empty() || equal(*queue.first(), list[0]));
  std::vector<Task> firsts;
  for (const Task& task : list) {
    if (std::none_of(firsts.begin(), firsts.end(), [&](const Task& t) { return t.lane == task.lane; })) {
      firsts.push_back(task);
    }
  }
  const std::vector<Task> of_lanes = queue.first_of_lanes();
  ASSERT_TRUE(std::equal(of_lanes.begin(), of_lanes.end(), firsts.begin(), firsts.end(), equal));
  const auto lane = static_cast<uint32_t>(below(rng, 6));
  ASSERT_EQ(queue.size_of_lane(lane), static_cast<size_t>(std::count_if(
                                          list.begin(), list.end(), [&](const Task& t) { return t.lane == lane; })));
  // From some task, which need not be there, and up to some number.
  Task from{Priority::kNormal, below(rng, 8), static_cast<uint32_t>(below(rng, 5)), lane};
  for (const Task& task : list) {
    if (task.job == from.job) from.priority = task.priority;
  }
  const size_t most = below(rng, 5);
  std::vector<Task> rest;
  for (const Task& task : list) {
    const bool same = task.job == from.job && task.lane == lane && task.priority == from.priority;
    if (same && !goes_before(task, from) && rest.size() < most) rest.push_back(task);
  }
  const std::vector<Task> of_job = queue.of_job_from(from, most);
  ASSERT_TRUE(std::equal(of_job.begin(), of_job.end(), rest.begin(), rest.end(), equal));
}

TEST(TaskQueue, AgreesWithASortedList) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    TaskQueue queue;
    std::vector<Task> list;
    for (int step = 0; step < 100; ++step) {
      const JobKey job = below(rng, 8);
      const auto partition = static_cast<uint32_t>(below(rng, 5));
      const auto of_job = [&](const Task& t) { return t.job == job; };
      const auto it = std::find_if(list.begin(), list.end(),
                                   [&](const Task& t) { return t.job == job && t.partition == partition; });
      ASSERT_EQ(queue.contains(job, partition), it != list.end());
      switch (below(rng, 6)) {
        case 0:
        case 1:
        case 2: {
          if (it != list.end()) break;
          const auto sibling = std::find_if(list.begin(), list.end(), of_job);
          const auto priority = sibling != list.end() ? sibling->priority : static_cast<Priority>(1 + below(rng, 4));
          list.push_back({priority, job, partition, static_cast<uint32_t>(below(rng, 6))});
          queue.push(list.back());
          break;
        }
        case 3: {
          ASSERT_EQ(queue.remove(job, partition), it != list.end());
          if (it != list.end()) list.erase(it);
          break;
        }
        case 4: {
          const size_t before = list.size();
          list.erase(std::remove_if(list.begin(), list.end(), of_job), list.end());
          ASSERT_EQ(queue.remove_job(job), before - list.size());
          break;
        }
        default: {
          const auto priority = static_cast<Priority>(1 + below(rng, 4));
          queue.set_priority(job, priority);
          for (Task& task : list) {
            if (task.job == job) task.priority = priority;
          }
        }
      }
      expect_same(queue, list, rng);
    }
  }
}

TEST(TaskQueue, NothingInAnEmptyOne) {
  TaskQueue queue;
  EXPECT_FALSE(queue.first().has_value());
  EXPECT_TRUE(queue.first_of_lanes().empty());
  EXPECT_FALSE(queue.remove(1, 0));
  EXPECT_EQ(queue.remove_job(1), 0u);
  queue.set_priority(1, Priority::kHigh);
  EXPECT_TRUE(queue.all().empty());
}

TEST(TaskQueue, ExtremeNumbersKeepTheOrder) {
  TaskQueue queue;
  constexpr JobKey kLast = ~JobKey{0};
  constexpr uint32_t kLastPartition = ~uint32_t{0};
  queue.push({Priority::kLow, 0, 0, kLastPartition});
  queue.push({Priority::kCritical, kLast, kLastPartition, 0});
  queue.push({Priority::kCritical, kLast, 0, 1});
  const std::vector<Task> all = queue.all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].partition, 0u);
  EXPECT_EQ(all[1].partition, kLastPartition);
  EXPECT_EQ(all[2].priority, Priority::kLow);
}

TEST(TaskQueueDeathTest, ATaskTwiceOrWithAnotherPriorityIsABug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  TaskQueue queue;
  queue.push({Priority::kNormal, 1, 0, 0});
  EXPECT_DEATH(queue.push({Priority::kNormal, 1, 0, 3}), "");
  EXPECT_DEATH(queue.push({Priority::kHigh, 1, 1, 0}), "");
}

// Processor time, so that a busy machine does not fail it: a decision is the first of all lanes, taken out, and one
// new.
TEST(TaskQueue, ADecisionAmongTenThousandJobsTakesLessThanAMillisecond) {
  Rng rng(7);
  TaskQueue queue;
  JobKey next = 1;
  const auto push_job = [&] {
    const auto priority = static_cast<Priority>(1 + below(rng, 4));
    const auto lane = static_cast<uint32_t>(below(rng, 41));
    for (uint32_t partition = 0; partition < 10; ++partition) queue.push({priority, next, partition, lane});
    ++next;
  };
  for (int job = 0; job < 10'000; ++job) push_job();
  std::vector<uint64_t> times;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t start = cpu_ns();
    const std::vector<Task> firsts = queue.first_of_lanes();
    const Task& task = firsts[below(rng, firsts.size())];
    if (below(rng, 10) == 0) {
      queue.remove_job(task.job);
      push_job();
    } else {
      queue.remove(task.job, task.partition);
    }
    times.push_back(cpu_ns() - start);
  }
  const uint64_t p99 = queue_test::percentile_99(std::move(times));
  RecordProperty("p99_ns", std::to_string(p99));
  EXPECT_LT(p99, 1'000'000u);
}

}  // namespace
}  // namespace cuzk
