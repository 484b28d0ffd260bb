// The operators new and delete of a program that keeps a reserve of memory (base/memory_reserve.hpp): malloc and, where
// that has nothing, the reserve. Include in one source of the program.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/memory_reserve.hpp"

// Tests say which allocations fail as if malloc had nothing.
#if !defined(CUZK_ALLOCATION_FAILS)
#define CUZK_ALLOCATION_FAILS(bytes) false
#endif

namespace cuzk::operators {

inline void* from_malloc(size_t bytes, size_t alignment) {
  if (CUZK_ALLOCATION_FAILS(bytes)) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

inline void* allocate(size_t size, size_t alignment) {
  const size_t bytes = std::max<size_t>(size, 1);
  for (;;) {
    if (void* memory = from_malloc(bytes, alignment); memory != nullptr) return memory;
    if (void* memory = MemoryReserve::allocate(bytes, alignment); memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

inline void* allocate_or_null(size_t size, size_t alignment) noexcept {
  try {
    return allocate(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

inline void release(void* memory) noexcept {
  if (!MemoryReserve::release(memory)) std::free(memory);
}

}  // namespace cuzk::operators

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void* operator new(size_t size) { return cuzk::operators::allocate(size, 1); }
void* operator new[](size_t size) { return cuzk::operators::allocate(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return cuzk::operators::allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return cuzk::operators::allocate(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return cuzk::operators::allocate_or_null(size, 1); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return cuzk::operators::allocate_or_null(size, 1); }
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return cuzk::operators::allocate_or_null(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return cuzk::operators::allocate_or_null(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { cuzk::operators::release(memory); }
void operator delete[](void* memory) noexcept { cuzk::operators::release(memory); }
void operator delete(void* memory, size_t) noexcept { cuzk::operators::release(memory); }
void operator delete[](void* memory, size_t) noexcept { cuzk::operators::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { cuzk::operators::release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { cuzk::operators::release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { cuzk::operators::release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { cuzk::operators::release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { cuzk::operators::release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { cuzk::operators::release(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  cuzk::operators::release(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  cuzk::operators::release(memory);
}
