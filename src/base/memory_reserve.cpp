#include "base/memory_reserve.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>

#include "base/assert.hpp"

namespace cuzk {
namespace {

thread_local ReserveUse use_of_thread = ReserveUse::kUnsaid;

void* take_pages(uint64_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

// For everything that is small.
bool malloc_has_memory() {
  constexpr size_t kEnough = size_t{1} << 20;
  void* volatile memory = std::malloc(kEnough);  // volatile, or the compiler takes it for granted
  std::free(memory);
  return memory != nullptr;
}

// Blocks of powers of two, cut off from the front of the pages; those that are free again are for others of their size
// or less. It is used rarely and for little, so nothing is joined; once nothing is in use all is as in the beginning.
class Pool {
 public:
  Status map() {
    const std::lock_guard lock(mutex_);
    if (start_.load() != 0) return {};
    void* pages = take_pages(MemoryReserve::kBytes);
    if (pages == nullptr) return Error(ErrorClass::kResource, "there is no memory to keep back");
    start_.store(reinterpret_cast<uintptr_t>(pages));
    return {};
  }

  void* allocate(size_t bytes, size_t alignment, uint64_t limit) {
    if (bytes > limit || alignment > kMostAlignment) return nullptr;
    // A block lies at a multiple of its head's size, so that where more is asked for there must be room for it.
    const size_t slack = alignment > sizeof(Head) ? alignment : 0;
    const auto size = static_cast<unsigned>(std::bit_width(std::max(bytes + slack + sizeof(Head), kLeast) - 1));
    const std::lock_guard lock(mutex_);
    if (used_ + (uint64_t{1} << size) > limit) return nullptr;
    Head* head = take_block(size);
    if (head == nullptr) return nullptr;
    used_ += uint64_t{1} << size;
    ++uses_;
    uintptr_t memory = reinterpret_cast<uintptr_t>(head + 1);
    if (slack > 0) memory = (memory + alignment - 1) / alignment * alignment;
    // The last head before the memory is the one that release() looks at.
    Head* own = reinterpret_cast<Head*>(memory) - 1;
    own->block = head;
    own->size = size;
    return reinterpret_cast<void*>(memory);
  }

  bool release(void* memory) {
    const uintptr_t start = start_.load(std::memory_order_relaxed);
    if (start == 0 || reinterpret_cast<uintptr_t>(memory) - start >= MemoryReserve::kBytes) return false;
    const Head own = *(static_cast<Head*>(memory) - 1);
    const std::lock_guard lock(mutex_);
    used_ -= uint64_t{1} << own.size;
    own.block->next = free_[own.size];
    free_[own.size] = own.block;
    if (used_ > 0) return true;
    free_ = {};
    madvise(reinterpret_cast<void*>(start), cut_, MADV_DONTNEED);
    cut_ = 0;
    return true;
  }

  uint64_t used() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }
  uint64_t uses() const {
    const std::lock_guard lock(mutex_);
    return uses_;
  }

 private:
  struct alignas(16) Head {
    union {
      Head* block;  // in use: where the block begins
      Head* next;   // free
    };
    unsigned size;  // the logarithm
  };
  static_assert(sizeof(Head) == 16);

  // One that is free, else one cut off, else a part of a larger one that is free.
  Head* take_block(unsigned size) {
    if (free_[size] == nullptr && cut_ + (uint64_t{1} << size) <= MemoryReserve::kBytes) {
      cut_ += uint64_t{1} << size;
      return reinterpret_cast<Head*>(start_.load() + cut_ - (uint64_t{1} << size));
    }
    unsigned found = size;
    while (found < kSizes && free_[found] == nullptr) ++found;
    if (found == kSizes) return nullptr;
    Head* block = free_[found];
    free_[found] = block->next;
    while (found > size) {
      --found;
      Head* half = reinterpret_cast<Head*>(reinterpret_cast<uintptr_t>(block) + (uint64_t{1} << found));
      half->next = free_[found];
      free_[found] = half;
    }
    return block;
  }

  static constexpr size_t kLeast = 64, kMostAlignment = 4096, kSizes = 26;
  static_assert(uint64_t{1} << (kSizes - 1) >= MemoryReserve::kBytes);

  mutable std::mutex mutex_;
  std::atomic<uintptr_t> start_{0};
  std::array<Head*, kSizes> free_{};
  uint64_t cut_ = 0, used_ = 0, uses_ = 0;
};

// Operators are the whole process's, and what is taken may be given back when whoever made the reserve is gone: so
// these stay. Pages are never given back.
constinit Pool pool;
constinit std::atomic<const MemoryReserve::Options*> in_use{nullptr};
constinit std::atomic<bool> short_of_memory{false};

}  // namespace

ReserveScope::ReserveScope(ReserveUse use) : before_(use_of_thread) { use_of_thread = use; }
ReserveScope::~ReserveScope() { use_of_thread = before_; }
ReserveUse ReserveScope::of_this_thread() { return use_of_thread; }

Result<std::unique_ptr<MemoryReserve>> MemoryReserve::make(const Options& options) {
  CUZK_ASSERT(options.give_up != nullptr && options.bytes <= kBytes && in_use.load() == nullptr);
  CUZK_TRY(pool.map());
  std::unique_ptr<MemoryReserve> reserve(new MemoryReserve(options));
  short_of_memory = false;
  in_use = &reserve->options_;
  return reserve;
}

MemoryReserve::MemoryReserve(const Options& options) : options_(options), uses_before_(pool.uses()) {}
MemoryReserve::~MemoryReserve() { in_use = nullptr; }

bool MemoryReserve::is_short() {
  if (!short_of_memory.load()) return false;
  const bool back = options_.there_is_memory != nullptr ? options_.there_is_memory() : malloc_has_memory();
  if (back && left_bytes() >= bytes() / 2) short_of_memory = false;
  return short_of_memory.load();
}

uint64_t MemoryReserve::left_bytes() const { return bytes() - std::min(bytes(), pool.used()); }
uint64_t MemoryReserve::uses() const { return pool.uses() - uses_before_; }

void* MemoryReserve::allocate(size_t bytes, size_t alignment) noexcept {
  const Options* options = in_use.load();
  if (options == nullptr || use_of_thread != ReserveUse::kMay) return nullptr;
  void* memory = pool.allocate(bytes, alignment, options->bytes);
  if (memory == nullptr) options->give_up();
  short_of_memory = true;
  return memory;
}

bool MemoryReserve::release(void* memory) noexcept { return pool.release(memory); }

}  // namespace cuzk
