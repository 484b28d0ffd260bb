#include "budget/host_budget.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace cuzk {
namespace {

using UsedBy = std::vector<std::pair<std::string_view, uint64_t>>;

TEST(HostBudget, GivesAndTakesBack) {
  HostBudget budget(100, "the test");
  EXPECT_EQ(budget.total(), 100);
  EXPECT_EQ(budget.origin(), "the test");
  Result<Reservation> a = budget.reserve(60, "witness");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->bytes(), 60);
  {
    Result<Reservation> b = budget.reserve(40, "parameters");
    ASSERT_TRUE(b.ok()) << "to the last byte";
    EXPECT_EQ(budget.available(), 0);
    EXPECT_EQ(budget.used_by(), (UsedBy{{"witness", 60}, {"parameters", 40}}));
  }
  EXPECT_EQ(budget.used(), 60);
  EXPECT_EQ(budget.used_by(), (UsedBy{{"witness", 60}}));
  a->release();
  a->release();
  EXPECT_EQ(budget.used(), 0);
  EXPECT_TRUE(budget.used_by().empty());
}

TEST(HostBudget, RefusesNowOrForEver) {
  HostBudget budget(100, "the test");
  Result<Reservation> a = budget.reserve(60, "witness");
  const Result<Reservation> now = budget.reserve(41, "proving");
  ASSERT_FALSE(now.ok());
  EXPECT_EQ(now.error().error_class, ErrorClass::kResource);
  EXPECT_EQ(now.error().message, "proving: 41 bytes of memory are needed, and 40 bytes of 100 bytes are free now");
  EXPECT_TRUE(budget.could_ever_fit(100));
  EXPECT_FALSE(budget.could_ever_fit(101));
  for (const uint64_t bytes : {uint64_t{101}, UINT64_MAX}) {
    const Result<Reservation> never = budget.reserve(bytes, "proving");
    ASSERT_FALSE(never.ok());
    EXPECT_NE(never.error().message.find("the whole budget is 100 bytes (the test)"), std::string::npos)
        << never.error().message;
  }
  EXPECT_EQ(budget.used(), 60) << "a refusal changes nothing";
}

TEST(HostBudget, MovedReservationsAreGivenBackOnce) {
  HostBudget budget(100, "");
  Reservation a = budget.reserve(10, "witness").value();
  Reservation b = budget.reserve(20, "circuit").value();
  Reservation c = std::move(a);
  EXPECT_EQ(a.bytes(), 0);  // NOLINT: what is left of it
  EXPECT_EQ(c.bytes(), 10);
  b = std::move(c);
  EXPECT_EQ(budget.used_by(), (UsedBy{{"witness", 10}}));
  Reservation& same = b;
  b = std::move(same);
  EXPECT_EQ(budget.used(), 10);
  b = Reservation();
  EXPECT_EQ(budget.used(), 0);
  a.release();
}

TEST(HostBudget, Shrinks) {
  HostBudget budget(100, "");
  Reservation a = budget.reserve(50, "proving").value();
  a.shrink_to(20);
  EXPECT_EQ(a.bytes(), 20);
  EXPECT_EQ(budget.used(), 20);
  a.shrink_to(20);
  EXPECT_EQ(budget.used(), 20);
  EXPECT_DEATH(a.shrink_to(21), "");
  a.shrink_to(0);
  EXPECT_EQ(budget.used(), 0);
  Reservation none = budget.reserve(0, "proving").value();
  none.shrink_to(0);
}

TEST(HostBudgetDeathTest, ReservationsDoNotOutliveTheBudget) {
  const auto outlive = [] {
    auto budget = std::make_unique<HostBudget>(100, "");
    auto* kept = new Reservation(budget->reserve(1, "witness").value());
    budget.reset();
    delete kept;
  };
  EXPECT_DEATH(outlive(), "");
}

TEST(HostBudget, ManyThreads) {
  constexpr uint64_t kTotal = 1000;
  HostBudget budget(kTotal, "");
  std::atomic<uint64_t> held{0}, granted{0}, refused{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int k = 0; k < 20'000; ++k) {
        const uint64_t bytes = random() % 500;
        Result<Reservation> got = budget.reserve(bytes, t % 2 == 0 ? "witness" : "proving");
        if (!got.ok()) {
          ++refused;
          continue;
        }
        ++granted;
        // Less than what the budget has given, never more: the count is lowered before the bytes are given back.
        if (held.fetch_add(bytes) + bytes > kTotal) exceeded = true;
        if (k % 64 == 0) std::this_thread::yield();
        held -= bytes;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
  EXPECT_GT(granted, 0);
  EXPECT_EQ(budget.used(), 0);
  EXPECT_TRUE(budget.used_by().empty());
}

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(BudgetTotal, Configured) {
  const Result<BudgetTotal> total = budget_total({.total_bytes = 10 * kGiB}, {16 * kGiB, "physical memory"});
  ASSERT_TRUE(total.ok());
  EXPECT_EQ(total.value().bytes, 10 * kGiB);
  EXPECT_EQ(total.value().origin, "memory.total_budget");
  EXPECT_EQ(budget_total({.total_bytes = 10 * kGiB}, {}).value().bytes, 10 * kGiB) << "where no limit is known";
  const BudgetTotal cut = budget_total({.total_bytes = 64 * kGiB}, {16 * kGiB, "physical memory"}).value();
  EXPECT_EQ(cut.bytes, 16 * kGiB);
  EXPECT_EQ(cut.origin, "memory.total_budget is 68.7 GB, cut to what there is: physical memory");
  EXPECT_EQ(budget_total({.total_bytes = 0}, {16 * kGiB, "physical memory"}).error().error_class, ErrorClass::kUsage);
}

TEST(BudgetTotal, Auto) {
  const BudgetTotal total = budget_total({}, {256 * kGiB, "physical memory"}).value();
  EXPECT_EQ(total.bytes, 251 * kGiB);
  EXPECT_EQ(total.origin, "physical memory, 275 GB, less a margin of 5.37 GB");
  EXPECT_EQ(budget_total({.margin_bytes = 0}, {256 * kGiB, "physical memory"}).value().bytes, 256 * kGiB);
  EXPECT_EQ(budget_total({.margin_bytes = 20 * kGiB}, {256 * kGiB, ""}).value().bytes, 236 * kGiB);
  const Result<BudgetTotal> unknown = budget_total({}, {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().error_class, ErrorClass::kUsage);
  EXPECT_NE(unknown.error().message.find("memory.total_budget"), std::string::npos);
}

// A container of 2 GiB on a machine of 256 GiB, and one within another group.
TEST(BudgetTotal, InAControlGroupOfTwoGiB) {
  const std::string root = testing::TempDir() + "host_budget_test." + std::to_string(getpid());
  const auto put = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  };
  put("/proc/meminfo", "MemTotal:       268435456 kB\n");
  put("/proc/self/cgroup", "0::/system.slice/cuzk.service\n");
  put("/sys/fs/cgroup/system.slice/cuzk.service/memory.max", "2147483648\n");
  const BudgetTotal total = budget_total({}, memory_limit(root)).value();
  EXPECT_EQ(total.bytes, 2 * kGiB - kGiB / 2) << "the margin is at most a quarter";
  EXPECT_NE(total.origin.find("/sys/fs/cgroup/system.slice/cuzk.service/memory.max, 2.15 GB, less a margin of 537 MB"),
            std::string::npos)
      << total.origin;
  EXPECT_EQ(budget_total({.total_bytes = 8 * kGiB}, memory_limit(root)).value().bytes, 2 * kGiB);
  // What is needed for a 32 GiB PoRep never fits: refused at once, with the numbers.
  HostBudget budget(total.bytes, total.origin);
  const Result<Reservation> never = budget.reserve(47 * kGiB, "parameters");
  ASSERT_FALSE(never.ok());
  EXPECT_NE(never.error().message.find("50.5 GB"), std::string::npos) << never.error().message;
  EXPECT_NE(never.error().message.find("1.61 GB"), std::string::npos) << never.error().message;
  std::filesystem::remove_all(root);
}

TEST(BudgetTotal, OfThisProcess) {
  const auto budget = default_budget({});
  ASSERT_TRUE(budget.ok());
  EXPECT_GT((*budget)->total(), 0);
  EXPECT_LT((*budget)->total(), memory_limit("").bytes);
  EXPECT_EQ(default_budget({.total_bytes = 1'000'000}).value()->total(), 1'000'000);
}

}  // namespace
}  // namespace cuzk
