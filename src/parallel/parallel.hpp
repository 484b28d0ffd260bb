// Data-parallel loops over a bounded number of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace cuzk {

// Threads that parallel loops may use, at least 1. Starts as the number of processors this process may run on.
size_t parallel_threads();
// Bounds the threads of every later loop; for tools and tests, before work starts.
void set_parallel_threads(size_t threads);

// Runs body(begin, end) over disjoint chunks that cover [0, count), each at most `grain` long (grain >= 1), in
// any order, on up to parallel_threads() threads; returns when all are done. Chunks are handed out dynamically.
// body must not throw. May be nested (an inner loop may run on the calling thread alone).
void parallel_for(size_t count, size_t grain, const std::function<void(size_t begin, size_t end)>& body);

// Runs f and g, perhaps at the same time; returns when both are done.
void parallel_invoke(const std::function<void()>& f, const std::function<void()>& g);

}  // namespace cuzk
