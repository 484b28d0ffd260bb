// Memory kept back for what must not fail in its middle (docs/adr/0008-a-reserve-of-memory.md).
//
// A step that has changed half of something and then gets no memory for a small thing can be neither ended nor taken
// back. So such steps say that they may use the reserve; what can fail as a whole, and is told to somebody who can come
// again, says that it must leave the reserve alone. The operators of base/operator_new.hpp ask here where malloc has
// nothing; in a program without them nothing is ever taken.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"

namespace cuzk {

enum class ReserveUse : uint8_t { kUnsaid, kMustNot, kMay };  // kUnsaid is as kMustNot

// What this thread may do while the object lives. The innermost counts.
class ReserveScope {
 public:
  explicit ReserveScope(ReserveUse use);
  ~ReserveScope();
  ReserveScope(const ReserveScope&) = delete;
  ReserveScope& operator=(const ReserveScope&) = delete;
  static ReserveUse of_this_thread();

 private:
  const ReserveUse before_;
};
// A step that must be ended: where malloc has nothing, memory comes from the reserve.
class UsesReserve : ReserveScope {
 public:
  UsesReserve() : ReserveScope(ReserveUse::kMay) {}
};
// Work whose failure is caught: where malloc has nothing, std::bad_alloc is thrown.
class SparesReserve : ReserveScope {
 public:
  SparesReserve() : ReserveScope(ReserveUse::kMustNot) {}
};

// One at a time in a process; thread safe. What was taken from it is given back to it, at any time: also when the
// object is gone.
class MemoryReserve {
 public:
  // Address space, of which nothing is touched before it is needed.
  static constexpr uint64_t kBytes = uint64_t{32} << 20;

  struct Options {
    // What comes where all is used up. Must not return, nor allocate.
    void (*give_up)() = nullptr;
    // Less of it, and another way to find out whether there is memory: for tests.
    uint64_t bytes = kBytes;
    bool (*there_is_memory)() = nullptr;
  };
  // Errors: kResource where there is not even that much.
  static Result<std::unique_ptr<MemoryReserve>> make(const Options& options);
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  // True from when something is taken from it until there is memory again, after which is looked here, and at least
  // half of it is left.
  bool is_short();
  uint64_t bytes() const { return options_.bytes; }
  uint64_t left_bytes() const;
  // How often something was taken from it.
  uint64_t uses() const;

  // For the operators. nullptr where there is no reserve or this thread must not use it; gives up where it is used up.
  static void* allocate(size_t bytes, size_t alignment) noexcept;
  // False where `memory` is not of the reserve.
  static bool release(void* memory) noexcept;

 private:
  explicit MemoryReserve(const Options& options);
  const Options options_;
  const uint64_t uses_before_;  // of others in this process
};

}  // namespace cuzk
