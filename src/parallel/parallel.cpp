#include "parallel/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.hpp"

#if defined(CUZK_HAVE_TBB)
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace cuzk {
namespace {

size_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::atomic<size_t>& thread_limit() {
  static std::atomic<size_t> limit{processors()};
  return limit;
}

}  // namespace

size_t parallel_threads() { return thread_limit().load(std::memory_order_relaxed); }

void set_parallel_threads(size_t threads) {
  thread_limit().store(std::max<size_t>(1, threads), std::memory_order_relaxed);
}

#if defined(CUZK_HAVE_TBB)

namespace {

// An arena that nobody else uses meanwhile, so that a thread which waits for its loop takes up no work of another one.
// They are kept: of one that is made and destroyed, oneTBB 2021.8 keeps 7 KB each time.
class OwnArena {
 public:
  OwnArena() {
    const int threads = static_cast<int>(parallel_threads());
    Pool& all = pool();
    const std::lock_guard lock(all.mutex);
    while (!all.free.empty() && !arena_) {
      if (all.free.back()->max_concurrency() == threads) arena_ = std::move(all.free.back());
      all.free.pop_back();
      if (!arena_) --all.count;  // of another number of threads, from before that was changed
    }
    if (arena_) return;
    all.free.reserve(all.count + 1);  // so that giving it back needs no memory
    arena_ = std::make_unique<tbb::task_arena>(threads);
    ++all.count;
  }
  ~OwnArena() {
    Pool& all = pool();
    const std::lock_guard lock(all.mutex);
    all.free.push_back(std::move(arena_));
  }
  OwnArena(const OwnArena&) = delete;
  OwnArena& operator=(const OwnArena&) = delete;

  tbb::task_arena* operator->() { return arena_.get(); }

 private:
  struct Pool {
    std::mutex mutex;
    size_t count = 0;                                    // of those that are free and those that are not
    std::vector<std::unique_ptr<tbb::task_arena>> free;  // as many as there were loops at once
  };
  // Never destroyed: loops may run until the process ends.
  static Pool& pool() {
    static Pool* const all = new Pool;
    return *all;
  }

  std::unique_ptr<tbb::task_arena> arena_;
};

}  // namespace

void parallel_for(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) {
  CUZK_ASSERT(grain >= 1);
  if (count == 0) return;
  if (count <= grain) return body(0, count);
  OwnArena arena;
  arena->execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<size_t>(0, count, grain),
        [&body, grain](const tbb::blocked_range<size_t>& range) {
          // The partitioner may leave ranges between one half and one grain; cut what is longer.
          for (size_t begin = range.begin(); begin < range.end(); begin += grain) {
            body(begin, std::min(begin + grain, range.end()));
          }
        },
        tbb::simple_partitioner());
  });
}

void parallel_invoke(const std::function<void()>& f, const std::function<void()>& g) {
  OwnArena arena;
  arena->execute([&] { tbb::parallel_invoke(f, g); });
}

#else

namespace {
// Inner loops of a thread that already runs a loop's body stay on it: the outer loop has the processors.
thread_local bool inside_loop = false;
}  // namespace

void parallel_for(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) {
  CUZK_ASSERT(grain >= 1);
  if (count == 0) return;
  std::atomic<size_t> next{0};
  auto work = [&] {
    const bool outer = inside_loop;
    inside_loop = true;
    for (;;) {
      const size_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count) break;
      body(begin, std::min(begin + grain, count));
    }
    inside_loop = outer;
  };
  const size_t chunks = (count + grain - 1) / grain;
  const size_t workers = inside_loop ? 1 : std::min(parallel_threads(), chunks);
  std::vector<std::thread> threads;
  threads.reserve(workers - 1);
  for (size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  for (auto& t : threads) t.join();
}

void parallel_invoke(const std::function<void()>& f, const std::function<void()>& g) {
  if (inside_loop || parallel_threads() == 1) {
    f();
    g();
    return;
  }
  std::thread other(f);
  g();
  other.join();
}

#endif

}  // namespace cuzk
