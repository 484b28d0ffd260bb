// Counts what operator new hands out, to compare with what a module says it will take. Include in one source of a test
// binary: it replaces the operators of the whole binary.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace cuzk::test {

inline std::atomic<size_t> allocated_bytes{0}, peak_allocated_bytes{0};

inline void* count_allocation(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const size_t now = allocated_bytes += malloc_usable_size(memory);
  size_t peak = peak_allocated_bytes.load();
  while (now > peak && !peak_allocated_bytes.compare_exchange_weak(peak, now)) {
  }
  return memory;
}

inline void count_release(void* memory) noexcept {
  if (memory != nullptr) allocated_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

// The most that was allocated at one time while f ran, beyond what was allocated before.
template <class F>
size_t peak_of(F&& f) {
  const size_t before = allocated_bytes.load();
  peak_allocated_bytes = before;
  f();
  return peak_allocated_bytes - before;
}

}  // namespace cuzk::test

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void* operator new(size_t size) { return cuzk::test::count_allocation(std::malloc(std::max<size_t>(size, 1))); }
void* operator new(size_t size, std::align_val_t alignment) {
  const size_t a = static_cast<size_t>(alignment);
  return cuzk::test::count_allocation(std::aligned_alloc(a, (std::max<size_t>(size, 1) + a - 1) / a * a));
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
// The standard library asks for temporary buffers (std::stable_sort) without exceptions; what it gets must be counted,
// and released, by the same pair.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return operator new(size, std::nothrow); }
void operator delete(void* memory) noexcept { cuzk::test::count_release(memory); }
void operator delete(void* memory, size_t) noexcept { cuzk::test::count_release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { cuzk::test::count_release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { cuzk::test::count_release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { cuzk::test::count_release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { cuzk::test::count_release(memory); }
void operator delete[](void* memory) noexcept { cuzk::test::count_release(memory); }
void operator delete[](void* memory, size_t) noexcept { cuzk::test::count_release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { cuzk::test::count_release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { cuzk::test::count_release(memory); }
