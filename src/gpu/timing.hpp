// Times of work on a stream, by events. For benches and checks.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "gpu/stream.hpp"

namespace cuzk::gpu {

// Runs `work`, which enqueues on `stream` and returns a Status, warm_ups times untimed and then `repeats` (> 0) times.
// Returns the milliseconds of the latter, ascending: the median is times[times.size() / 2]. Waits for each run. Errors:
// those of `work` and of the device.
template <class Work>
Result<std::vector<double>> time_runs(const Stream& stream, Event& begin, Event& end, int warm_ups, int repeats,
                                      Work&& work) {
  std::vector<double> times;
  for (int i = 0; i < warm_ups + repeats; ++i) {
    CUZK_TRY(begin.record(stream));
    CUZK_TRY(work());
    CUZK_TRY(end.record(stream));
    CUZK_TRY(end.synchronize());
    CUZK_ASSIGN(const double ms, end.milliseconds_since(begin));
    if (i >= warm_ups) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace cuzk::gpu
