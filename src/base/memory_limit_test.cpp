#include "base/memory_limit.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cuzk {
namespace {

class MemoryLimitTest : public testing::Test {
 protected:
  void SetUp() override { put("/proc/meminfo", "MemFree:  1 kB\nMemTotal:       16384000 kB\nMemAvailable: 5 kB\n"); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void expect(uint64_t bytes, const std::string& source) {
    const MemoryLimit limit = memory_limit(root_);
    EXPECT_EQ(limit.bytes, bytes);
    EXPECT_EQ(limit.source, source[0] == '/' ? root_ + source : source);
  }

  const std::string root_ = testing::TempDir() + "memory_limit_test." + std::to_string(getpid());
};

constexpr uint64_t kPhysical = uint64_t{16384000} * 1024;

TEST_F(MemoryLimitTest, PhysicalMemoryWhereNothingElseIsSaid) {
  expect(kPhysical, "physical memory");
  put("/proc/self/cgroup", "0::/user/session\n");
  put("/sys/fs/cgroup/user/session/memory.max", "max\n");
  expect(kPhysical, "physical memory");
  put("/sys/fs/cgroup/user/session/memory.max", "99999999999999\n");
  expect(kPhysical, "physical memory");
}

TEST_F(MemoryLimitTest, TheLeastOfAGroupAndThoseAroundIt) {
  put("/proc/self/cgroup", "0::/user/session\n");
  put("/sys/fs/cgroup/user/session/memory.max", "8000000000\n");
  expect(8000000000, "/sys/fs/cgroup/user/session/memory.max");
  put("/sys/fs/cgroup/user/memory.max", "4000000000\n");
  expect(4000000000, "/sys/fs/cgroup/user/memory.max");
  put("/sys/fs/cgroup/memory.max", "4000000001\n");
  expect(4000000000, "/sys/fs/cgroup/user/memory.max");
}

TEST_F(MemoryLimitTest, ContainersSeeTheirGroupAsTheRoot) {
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/memory.max", "3000000000\n");
  expect(3000000000, "/sys/fs/cgroup/memory.max");
  put("/proc/self/cgroup", "0::/not/mounted/here\n");
  expect(3000000000, "/sys/fs/cgroup/memory.max");
}

TEST_F(MemoryLimitTest, VersionOne) {
  put("/proc/self/cgroup", "12:cpu,cpuacct:/a\n5:hugetlb,memory:/b/c\n0::/d\n");
  put("/sys/fs/cgroup/memory/b/c/memory.limit_in_bytes", "9223372036854771712\n");
  expect(kPhysical, "physical memory");
  put("/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "2000000000\n");
  expect(2000000000, "/sys/fs/cgroup/memory/b/memory.limit_in_bytes");
  put("/sys/fs/cgroup/d/memory.max", "1000000000\n");
  expect(1000000000, "/sys/fs/cgroup/d/memory.max");
}

TEST_F(MemoryLimitTest, Nonsense) {
  put("/proc/self/cgroup", "\n:\n::\n0::relative\n0:memory\n0::/x\n");
  put("/sys/fs/cgroup/x/memory.max", "much\n");
  expect(kPhysical, "physical memory");
  put("/proc/meminfo", "MemTotal:\n");
  expect(0, "physical memory");
}

TEST(MemoryLimit, OfThisMachine) {
  EXPECT_GT(memory_limit("").bytes, uint64_t{1} << 26);
  EXPECT_LT(memory_limit("").bytes, uint64_t{1} << 50);
}

}  // namespace
}  // namespace cuzk
