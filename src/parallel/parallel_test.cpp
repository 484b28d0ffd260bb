#include "parallel/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace cuzk {
namespace {

class Parallel : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override { set_parallel_threads(GetParam()); }
  void TearDown() override { set_parallel_threads(before_); }
  const size_t before_ = parallel_threads();
};

TEST_P(Parallel, CoversEachIndexOnceInChunksOfAtMostTheGrain) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{1000}}) {
    for (const size_t grain : {size_t{1}, size_t{8}, size_t{999}, size_t{1000}, size_t{5000}}) {
      std::vector<std::atomic<int>> seen(count);
      std::atomic<bool> too_long{false};
      parallel_for(count, grain, [&](size_t begin, size_t end) {
        if (end - begin > grain || begin >= end) too_long = true;
        for (size_t i = begin; i < end; ++i) ++seen[i];
      });
      EXPECT_FALSE(too_long) << count << " by " << grain;
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], 1) << i << " of " << count << " by " << grain;
    }
  }
}

TEST_P(Parallel, MayBeNested) {
  std::atomic<size_t> total{0};
  parallel_for(16, 1,
               [&](size_t, size_t) { parallel_for(100, 7, [&](size_t begin, size_t end) { total += end - begin; }); });
  EXPECT_EQ(total, 1600u);
}

TEST_P(Parallel, InvokeRunsBoth) {
  std::atomic<int> f{0}, g{0};
  parallel_invoke([&] { ++f; }, [&] { ++g; });
  EXPECT_EQ(f, 1);
  EXPECT_EQ(g, 1);
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, testing::Values(1, 2, 3, 16));

TEST(ParallelThreads, IsAtLeastOne) {
  const size_t before = parallel_threads();
  EXPECT_GE(before, 1u);
  set_parallel_threads(0);
  EXPECT_EQ(parallel_threads(), 1u);
  set_parallel_threads(before);
}

}  // namespace
}  // namespace cuzk
