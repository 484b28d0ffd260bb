#include <algorithm>
#include <array>
#include <vector>

#include "base/assert.hpp"
#include "msm/digits.hpp"
#include "msm/msm.hpp"
#include "msm/msm_tuning.hpp"
#include "msm/run_sums.hpp"
#include "parallel/workers.hpp"

namespace cuzk {

using msm_detail::ChunkSummer;
using msm_detail::DigitCode;
using msm_detail::DigitCutter;
using msm_detail::Entry;

// table_[w << (bits-1) | d-1] = d * 2^(bits*w) * base for d = 1 .. 2^(bits-1). Powers of two by doubling; then level by
// level 2^k + j as the sum of 2^k and j, which are never equal or opposite.
template <class Curve>
FixedBase<Curve>::FixedBase(const Affine<Curve>& base, size_t expected)
    : window_bits_(msm_tuning::fixed_base_bits(expected)) {
  const unsigned bits = window_bits_, windows = msm_tuning::windows(bits);
  const size_t row = size_t{1} << (bits - 1);
  table_size_ = windows * row;
  table_ = std::make_unique<Affine<Curve>[]>(table_size_);
  std::vector<Jacobian<Curve>> powers(windows * bits);
  Jacobian<Curve> power = Jacobian<Curve>::from_affine(base);
  for (auto& p : powers) {
    p = power;
    power = power.dbl();
  }
  std::vector<Affine<Curve>> affine(powers.size());
  batch_to_affine<Curve>(powers, affine);
  for (unsigned w = 0; w < windows; ++w) {
    for (unsigned k = 0; k < bits; ++k) table_[w * row + (size_t{1} << k) - 1] = affine[w * bits + k];
  }
  for (size_t level = 2; level < row; level *= 2) {
    std::vector<Entry> entries;
    std::vector<uint32_t> starts;
    entries.reserve(2 * windows * (level - 1));
    starts.reserve(windows * (level - 1) + 1);
    for (unsigned w = 0; w < windows; ++w) {
      for (size_t j = 1; j < level; ++j) {
        starts.push_back(static_cast<uint32_t>(entries.size()));
        entries.push_back(Entry::of(w * row + level - 1, false));
        entries.push_back(Entry::of(w * row + j - 1, false));
      }
    }
    starts.push_back(static_cast<uint32_t>(entries.size()));
    std::vector<Affine<Curve>> sums(starts.size() - 1);
    msm_detail::sum_runs<Curve>(table_.get(), entries, starts, sums);
    for (unsigned w = 0; w < windows; ++w) {
      std::copy_n(sums.begin() + static_cast<ptrdiff_t>(w * (level - 1)), level - 1, table_.get() + w * row + level);
    }
  }
}

template <class Curve>
void FixedBase<Curve>::multiply(std::span<const Fr> scalars, std::span<Affine<Curve>> out) const {
  CUZK_ASSERT(scalars.size() == out.size());
  const DigitCutter cutter(window_bits_);
  const unsigned windows = cutter.windows();
  const size_t row = size_t{1} << (window_bits_ - 1);
  const size_t fair = (scalars.size() + parallel_threads() - 1) / parallel_threads();
  const size_t per_task = std::clamp<size_t>(fair, 1, msm_detail::max_chunk<Curve>() / windows);
  const size_t tasks = (scalars.size() + per_task - 1) / per_task;
  struct Worker {
    std::unique_ptr<ChunkSummer<Curve>> summer;
    std::vector<Entry> entries;
    std::vector<uint32_t> lengths;
    std::vector<Affine<Curve>*> sums;
  };
  parallel_workers(
      tasks, tasks,
      [&] {
        return Worker{msm_detail::make_chunk_summer<Curve>(per_task * windows), {}, {}, {}};
      },
      [&](size_t task, Worker& worker) {
        worker.entries.clear();
        worker.lengths.clear();
        worker.sums.clear();
        const size_t end = std::min(scalars.size(), (task + 1) * per_task);
        for (size_t i = task * per_task; i < end; ++i) {
          std::array<DigitCode, 64> codes;
          cutter.cut(scalars[i], codes.data(), 1);
          const size_t before = worker.entries.size();
          for (unsigned w = 0; w < windows; ++w) {
            if (codes[w] == 0) continue;
            worker.entries.push_back(
                Entry::of(w * row + msm_detail::digit_bucket(codes[w]), msm_detail::digit_negative(codes[w])));
          }
          if (worker.entries.size() == before) {
            out[i] = Affine<Curve>::infinity();
            continue;
          }
          worker.lengths.push_back(static_cast<uint32_t>(worker.entries.size() - before));
          worker.sums.push_back(&out[i]);
        }
        worker.summer->sum(table_.get(), worker.entries, worker.lengths, worker.sums.data());
      });
}

template class FixedBase<G1Curve>;
template class FixedBase<G2Curve>;

}  // namespace cuzk
