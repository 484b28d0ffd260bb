#include "base/memory_reserve.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/operator_new.hpp"

namespace cuzk {
namespace {

using namespace std::chrono_literals;

std::atomic<bool> memory_is_back{true};
void exit_with_nine() { _exit(9); }

std::unique_ptr<MemoryReserve> reserve_of(uint64_t bytes) {
  MemoryReserve::Options options;
  options.give_up = exit_with_nine;
  options.bytes = bytes;
  options.there_is_memory = [] { return memory_is_back.load(); };
  Result<std::unique_ptr<MemoryReserve>> made = MemoryReserve::make(options);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}
// As operator new does when malloc has nothing.
void* take(size_t bytes, size_t alignment = 1) { return MemoryReserve::allocate(bytes, alignment); }

TEST(MemoryReserve, OnlyWhoMayUsesIt) {
  const auto reserve = reserve_of(1'000'000);
  EXPECT_EQ(take(8), nullptr);
  std::vector<void*> taken;
  {
    const UsesReserve uses;
    taken.push_back(take(8));
    {
      const SparesReserve spares;
      EXPECT_EQ(take(8), nullptr);
      const UsesReserve uses_again;
      taken.push_back(take(8));
    }
    taken.push_back(take(8));
    std::thread([] { EXPECT_EQ(take(8), nullptr); }).join();
  }
  EXPECT_EQ(take(8), nullptr);
  for (void* memory : taken) EXPECT_NE(memory, nullptr);
  EXPECT_LE(reserve->left_bytes(), reserve->bytes() - 3 * 8);
  for (void* memory : taken) EXPECT_TRUE(MemoryReserve::release(memory));
  EXPECT_EQ(reserve->left_bytes(), reserve->bytes());
  EXPECT_FALSE(MemoryReserve::release(nullptr));
  EXPECT_FALSE(MemoryReserve::release(&taken));
}

TEST(MemoryReserve, IsShortUntilThereIsMemoryAndHalfOfItIsLeft) {
  const auto reserve = reserve_of(1'000'000);
  EXPECT_FALSE(reserve->is_short());
  const UsesReserve uses;
  memory_is_back = false;
  void* small = take(1000);
  EXPECT_TRUE(reserve->is_short());
  EXPECT_TRUE(MemoryReserve::release(small));
  EXPECT_TRUE(reserve->is_short());
  void* large = take(510'000);
  memory_is_back = true;
  EXPECT_TRUE(reserve->is_short());
  EXPECT_TRUE(MemoryReserve::release(large));
  EXPECT_FALSE(reserve->is_short());
  EXPECT_EQ(reserve->uses(), 2u);
}

TEST(MemoryReserve, GivesUpWhereItIsUsedUp) {
  const auto use_up = [] {
    const auto reserve = reserve_of(1'000'000);
    const UsesReserve uses;
    for (int i = 0; i < 15'000; ++i) {
      if (take(40) == nullptr) _exit(1);  // of 64 bytes each
    }
    _exit(0);
  };
  EXPECT_EXIT(use_up(), testing::ExitedWithCode(0), "") << "as long as there is some";
  const auto use_more = [&] {
    const auto reserve = reserve_of(1'000'000);
    const UsesReserve uses;
    for (;;) take(40);
  };
  EXPECT_EXIT(use_more(), testing::ExitedWithCode(9), "");
}

// Against a list of what is in use: blocks do not overlap, lie as they should, and all comes back.
TEST(MemoryReserve, HandsOutEachByteOnce) {
  struct Block {
    unsigned char* memory;
    size_t bytes;
    unsigned char mark;
  };
  const auto reserve = reserve_of(MemoryReserve::kBytes);
  const UsesReserve uses;
  std::mt19937 random(5);
  std::vector<Block> blocks;
  uint64_t total = 0;
  const auto release_one = [&](size_t i) {
    const Block block = blocks[i];
    EXPECT_TRUE(std::all_of(block.memory, block.memory + block.bytes, [&](auto byte) { return byte == block.mark; }));
    EXPECT_TRUE(MemoryReserve::release(block.memory));
    total -= block.bytes;
    blocks[i] = blocks.back();
    blocks.pop_back();
  };
  for (int i = 0; i < 20'000; ++i) {
    while (total > 6'000'000 || (!blocks.empty() && random() % 3 == 0)) release_one(random() % blocks.size());
    const size_t bytes = random() % 100 == 0 ? random() % 300'000 + 1 : random() % 500 + 1;
    const size_t alignment = size_t{1} << random() % 13;
    auto* memory = static_cast<unsigned char*>(take(bytes, alignment));
    ASSERT_NE(memory, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % std::max<size_t>(alignment, 16), 0u);
    blocks.push_back({memory, bytes, static_cast<unsigned char>(i)});
    std::memset(memory, i, bytes);
    total += bytes;
    EXPECT_GE(reserve->bytes() - reserve->left_bytes(), total);
  }
  while (!blocks.empty()) release_one(0);
  EXPECT_EQ(reserve->left_bytes(), reserve->bytes());
  void* all = take(MemoryReserve::kBytes / 2 - 16);
  EXPECT_NE(all, nullptr);
  EXPECT_TRUE(MemoryReserve::release(all));
}

// What was freed serves smaller things where nothing else is left.
TEST(MemoryReserve, DividesLargerBlocksAtLast) {
  const auto reserve = reserve_of(MemoryReserve::kBytes);
  const UsesReserve uses;
  void* kept = take(1);
  std::vector<void*> large;
  for (int i = 0; i < 31; ++i) large.push_back(take((size_t{1} << 20) - 16));
  for (void* memory : large) EXPECT_TRUE(MemoryReserve::release(memory));
  std::vector<void*> small;
  for (int i = 0; i < 500'000; ++i) small.push_back(take(40));
  for (void* memory : small) {
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(MemoryReserve::release(memory));
  }
  EXPECT_TRUE(MemoryReserve::release(kept));
}

TEST(MemoryReserve, WhatWasTakenMayComeBackAfterItsEnd) {
  void* memory = nullptr;
  {
    const auto reserve = reserve_of(1'000'000);
    const UsesReserve uses;
    memory = take(100);
  }
  const UsesReserve uses;
  EXPECT_EQ(take(100), nullptr);
  EXPECT_TRUE(MemoryReserve::release(memory));
}

// Small things, as a decision makes them.
size_t make_small_things(size_t count) {
  std::map<size_t, std::string> things;
  for (size_t i = 0; i < count; ++i) things.emplace(i, "a text that does not lie within its string");
  return things.size();
}

uint64_t address_space_bytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t pages = 0;
  in >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Takes all that malloc has; kept in a list, whose links lie in what was taken.
void* take_all() {
  void* all = nullptr;
  for (size_t bytes = size_t{1} << 20; bytes >= 16; bytes /= 2) {
    while (auto* block = static_cast<void**>(std::malloc(bytes))) {
      *block = all;
      all = block;
    }
  }
  return all;
}
void give_back(void* all) {
  while (all != nullptr) {
    void* next = *static_cast<void**>(all);
    std::free(all);
    all = next;
  }
}

// With the real malloc, where the address space has an end. Returns 0 where all was as it must be.
int run_out_of_memory() {
  MemoryReserve::Options options;
  options.give_up = exit_with_nine;
  Result<std::unique_ptr<MemoryReserve>> made = MemoryReserve::make(options);
  if (!made.ok()) return 1;
  MemoryReserve& reserve = **made;
  // A thread's memory comes from elsewhere than that of the first.
  std::atomic<int> phase{0};
  size_t made_by_thread = 0;
  std::thread other([&] {
    while (phase == 0) std::this_thread::sleep_for(1ms);
    const UsesReserve uses;
    made_by_thread = make_small_things(50'000);
    phase = 2;
  });
  const rlimit limit{address_space_bytes() + (uint64_t{8} << 20), RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
  void* all = take_all();
  try {
    make_small_things(10'000);
    return 3;  // it was not used up
  } catch (const std::bad_alloc&) {
  }
  if (reserve.uses() != 0 || reserve.is_short()) return 4;
  phase = 1;
  while (phase == 1) std::this_thread::sleep_for(1ms);
  other.join();
  if (made_by_thread != 50'000 || reserve.uses() < 50'000) return 5;
  if (!reserve.is_short() || reserve.left_bytes() != reserve.bytes()) return 6;
  {
    const UsesReserve uses;
    if (make_small_things(50'000) != 50'000) return 7;
  }
  give_back(all);
  if (reserve.is_short()) return 8;
  return 0;
}

TEST(MemoryReserve, CarriesSmallThingsWhereTheAddressSpaceEnds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers' own memory is the most of the address space";
#endif
  EXPECT_EXIT(_exit(run_out_of_memory()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cuzk
