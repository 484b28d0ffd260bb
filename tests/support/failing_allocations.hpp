// Has one large allocation of certain threads fail, to see what becomes of the rest. Include in one source of a test
// binary: it replaces the operators of the whole binary.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace cuzk::test {

inline std::atomic<size_t> counted_bytes{std::numeric_limits<size_t>::max()};  // smaller allocations never fail
inline std::atomic<int64_t> counted_left{0};
inline std::atomic<const char*> counted_threads{""};

// The k-th allocation from now on that has so many bytes fails, of threads with that name: libraries that take a
// failure for the end of the world have other threads.
inline void fail_allocation(int64_t k, size_t least_bytes, const char* threads) {
  counted_left = k;
  counted_threads = threads;
  counted_bytes = least_bytes;
}
// True where one has failed since.
inline bool stop_failing_allocations() {
  counted_bytes = std::numeric_limits<size_t>::max();
  return counted_left.exchange(0) <= 0;
}

inline bool is_counted_thread() {
  char name[16] = {};
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 && std::strcmp(name, counted_threads) == 0;
}

inline void* allocate_or_fail(size_t size, size_t alignment) {
  if (size >= counted_bytes.load(std::memory_order_relaxed) && is_counted_thread() && counted_left.fetch_sub(1) == 1) {
    throw std::bad_alloc();
  }
  const size_t bytes = std::max<size_t>(size, 1);
  void* memory = alignment == 0 ? std::malloc(bytes)
                                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace cuzk::test

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void* operator new(size_t size) { return cuzk::test::allocate_or_fail(size, 0); }
void* operator new[](size_t size) { return cuzk::test::allocate_or_fail(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) {
  return cuzk::test::allocate_or_fail(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return cuzk::test::allocate_or_fail(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
