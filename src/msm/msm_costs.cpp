// What the calls of msm.hpp take while they run. These functions follow msm.cpp, run_sums.cpp, sum_selected.cpp and
// fixed_base.cpp line by line; msm_costs_test.cpp counts allocations and compares.
#include <algorithm>

#include "msm/digits.hpp"
#include "msm/msm.hpp"
#include "msm/msm_tuning.hpp"
#include "msm/run_sums.hpp"

namespace cuzk {
namespace {

using msm_detail::Entry;

constexpr uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// A ChunkSummer of either form, and what its worker keeps: a slot an entry, the lists of runs, a batch of additions.
template <class Curve>
uint64_t summer_bytes(uint64_t entries) {
  constexpr uint64_t kRunLists = 20;
  constexpr uint64_t kBatch = 1024 * (2 * sizeof(Affine<Curve>) + 2 * sizeof(typename Curve::Field) + sizeof(Entry));
  return entries * (sizeof(Affine<Curve>) + kRunLists) + kBatch;
}

template <class Curve>
uint64_t sum_runs_bytes(uint64_t entries, uint64_t threads) {
  if (entries == 0) return 0;
  const uint64_t share = divide_up(entries, threads);
  const uint64_t chunk =
      std::min<uint64_t>(msm_detail::max_chunk<Curve>(), std::max<uint64_t>(share, msm_tuning::kMinChunk));
  const uint64_t chunks = divide_up(entries, chunk);
  constexpr uint64_t kPartial = 2 * (2 * sizeof(Affine<Curve>) + 16);  // its point and sum, twice; indices
  return std::min(threads, chunks) * summer_bytes<Curve>(chunk) + chunks * kPartial;
}

// One segment of msm(), while it sums `count` windows together.
template <class Curve>
uint64_t window_group_bytes(uint64_t n, unsigned bits, uint64_t count, uint64_t threads) {
  const uint64_t buckets = uint64_t{1} << (bits - 1), parts = divide_up(threads, count);
  const uint64_t sides = (uint64_t{1} << (bits - 1) / 2) + (buckets >> (bits - 1) / 2);
  const uint64_t sorting = 4 * count * buckets * (parts + 1);
  const uint64_t weighing = count * (2 * buckets * sizeof(Entry) + sides * (sizeof(Affine<Curve>) + 4)) +
                            sum_runs_bytes<Curve>(2 * count * buckets, threads);
  return n * count * sizeof(Entry) + sorting + count * buckets * sizeof(Affine<Curve>) +
         std::max(sum_runs_bytes<Curve>(n * count, threads), weighing);
}

template <class Curve>
uint64_t table_points(size_t expected) {
  const unsigned bits = msm_tuning::fixed_base_bits(expected);
  return uint64_t{msm_tuning::windows(bits)} << (bits - 1);
}

}  // namespace

template <class Curve>
uint64_t msm_scratch_bytes(size_t count, size_t threads) {
  if (count < msm_tuning::kMinPippenger) return 0;
  const uint64_t n = divide_up(count, divide_up(count, msm_tuning::kSegment));
  const unsigned bits = msm_tuning::window_bits(n), windows = msm_tuning::windows(bits);
  const uint64_t group = std::clamp<uint64_t>(msm_tuning::kGroupEntries / n, 1, windows);
  uint64_t most = window_group_bytes<Curve>(n, bits, group, threads);
  if (windows % group != 0) most = std::max(most, window_group_bytes<Curve>(n, bits, windows % group, threads));
  return n * windows * sizeof(msm_detail::DigitCode) + most;
}

uint64_t msm_additions(size_t count) {
  if (count == 0) return 0;
  const uint64_t segments = divide_up(count, msm_tuning::kSegment), n = divide_up(count, segments);
  return segments * msm_tuning::additions(msm_tuning::window_bits(n), n);
}

template <class Curve>
uint64_t sum_selected_scratch_bytes(size_t count, size_t threads) {
  const uint64_t part = std::min<uint64_t>(count, msm_detail::kMaxIndex / 2);
  const uint64_t words = divide_up(part, 64), per_task = msm_detail::max_chunk<Curve>() / 64;
  const uint64_t tasks = divide_up(words, per_task), task_entries = 64 * std::min(per_task, words);
  const uint64_t workers = std::min<uint64_t>(threads, tasks);
  return workers * (summer_bytes<Curve>(task_entries) + 2 * sizeof(Entry) * task_entries) +
         tasks * (sizeof(Affine<Curve>) + 2 * sizeof(Entry)) + sum_runs_bytes<Curve>(tasks, threads);
}

template <class Curve>
uint64_t FixedBase<Curve>::table_bytes(size_t expected) {
  return table_points<Curve>(expected) * sizeof(Affine<Curve>);
}

template <class Curve>
uint64_t FixedBase<Curve>::making_bytes(size_t expected, size_t threads) {
  // The last level makes half the table from pairs.
  const uint64_t sums = table_points<Curve>(expected) / 2;
  return table_bytes(expected) + sums * (sizeof(Affine<Curve>) + 2 * sizeof(Entry) + 4) +
         sum_runs_bytes<Curve>(2 * sums, threads);
}

template <class Curve>
uint64_t FixedBase<Curve>::multiply_scratch_bytes(size_t expected, size_t count, size_t threads) {
  if (count == 0) return 0;
  const uint64_t windows = msm_tuning::windows(msm_tuning::fixed_base_bits(expected));
  const uint64_t per_task =
      std::clamp<uint64_t>(divide_up(count, threads), 1, msm_detail::max_chunk<Curve>() / windows);
  const uint64_t workers = std::min<uint64_t>(threads, divide_up(count, per_task));
  return workers * (summer_bytes<Curve>(per_task * windows) + 2 * sizeof(Entry) * per_task * windows);
}

template uint64_t msm_scratch_bytes<G1Curve>(size_t, size_t);
template uint64_t msm_scratch_bytes<G2Curve>(size_t, size_t);
template uint64_t sum_selected_scratch_bytes<G1Curve>(size_t, size_t);
template uint64_t sum_selected_scratch_bytes<G2Curve>(size_t, size_t);
template uint64_t FixedBase<G1Curve>::table_bytes(size_t);
template uint64_t FixedBase<G2Curve>::table_bytes(size_t);
template uint64_t FixedBase<G1Curve>::making_bytes(size_t, size_t);
template uint64_t FixedBase<G2Curve>::making_bytes(size_t, size_t);
template uint64_t FixedBase<G1Curve>::multiply_scratch_bytes(size_t, size_t, size_t);
template uint64_t FixedBase<G2Curve>::multiply_scratch_bytes(size_t, size_t, size_t);

}  // namespace cuzk
