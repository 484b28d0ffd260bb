// A parallel loop whose workers keep scratch memory of their own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "parallel/parallel.hpp"

namespace cuzk {

// Runs body(index, scratch) for every index below count, in any order, on at most max_workers threads (and at most
// parallel_threads()); make_scratch() is called once by each worker that runs. body must not throw.
template <class MakeScratch, class Body>
void parallel_workers(size_t count, size_t max_workers, const MakeScratch& make_scratch, const Body& body) {
  if (count == 0) return;
  const size_t workers = std::max<size_t>(1, std::min({parallel_threads(), max_workers, count}));
  std::atomic<size_t> next{0};
  parallel_for(workers, 1, [&](size_t, size_t) {
    size_t index = next.fetch_add(1, std::memory_order_relaxed);
    if (index >= count) return;
    auto scratch = make_scratch();
    for (; index < count; index = next.fetch_add(1, std::memory_order_relaxed)) body(index, scratch);
  });
}

}  // namespace cuzk
