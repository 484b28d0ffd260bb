// Has allocations fail as a test wants it, as if malloc had nothing. Include in one source of a test binary: it
// replaces the operators of the whole binary.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cuzk::test {

// Whether an allocation of so many bytes fails. Asked on every thread; does not allocate.
using AllocationFails = bool (*)(size_t bytes);
inline std::atomic<AllocationFails> allocation_fails{nullptr};

inline std::atomic<size_t> counted_bytes{std::numeric_limits<size_t>::max()};  // smaller allocations never fail
inline std::atomic<int64_t> counted_left{0};
inline std::atomic<const char*> counted_threads{""};

inline bool is_counted_thread() {
  char name[16] = {};
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 && std::strcmp(name, counted_threads) == 0;
}
inline bool is_counted_and_last(size_t bytes) {
  return bytes >= counted_bytes.load(std::memory_order_relaxed) && is_counted_thread() &&
         counted_left.fetch_sub(1) == 1;
}

// The k-th allocation from now on that has so many bytes fails, of threads with that name: libraries that take a
// failure for the end of the world have other threads.
inline void fail_allocation(int64_t k, size_t least_bytes, const char* threads) {
  counted_left = k;
  counted_threads = threads;
  counted_bytes = least_bytes;
  allocation_fails = is_counted_and_last;
}
// True where one has failed since.
inline bool stop_failing_allocations() {
  allocation_fails = nullptr;
  counted_bytes = std::numeric_limits<size_t>::max();
  return counted_left.exchange(0) <= 0;
}

inline bool fails_now(size_t bytes) {
  const AllocationFails fails = allocation_fails.load(std::memory_order_relaxed);
  return fails != nullptr && fails(bytes);
}

}  // namespace cuzk::test

#define CUZK_ALLOCATION_FAILS(bytes) cuzk::test::fails_now(bytes)
#include "base/operator_new.hpp"
