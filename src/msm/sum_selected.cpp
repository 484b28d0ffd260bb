#include <algorithm>
#include <vector>

#include "base/assert.hpp"
#include "msm/msm.hpp"
#include "msm/run_sums.hpp"
#include "parallel/workers.hpp"

namespace cuzk {
namespace {

using msm_detail::ChunkSummer;
using msm_detail::Entry;

// Words of bits that a task looks at: as many as cannot overfill a chunk.
template <class Curve>
size_t words_per_task() {
  return msm_detail::max_chunk<Curve>() / 64;
}

template <class Curve>
Jacobian<Curve> sum_selected_part(std::span<const Affine<Curve>> bases, std::span<const uint64_t> words) {
  const size_t per_task = words_per_task<Curve>();
  const size_t tasks = (words.size() + per_task - 1) / per_task;
  std::vector<Affine<Curve>> partial(tasks);
  struct Worker {
    std::unique_ptr<ChunkSummer<Curve>> summer;
    std::vector<Entry> entries;
  };
  parallel_workers(
      tasks, tasks,
      [&] {
        return Worker{msm_detail::make_chunk_summer<Curve>(64 * std::min(per_task, words.size())), {}};
      },
      [&](size_t task, Worker& worker) {
        worker.entries.clear();
        const size_t end = std::min(words.size(), (task + 1) * per_task);
        for (size_t w = task * per_task; w < end; ++w) {
          for (uint64_t word = words[w]; word != 0; word &= word - 1) {
            worker.entries.push_back(Entry::of(64 * w + static_cast<size_t>(__builtin_ctzll(word)), false));
          }
        }
        if (worker.entries.empty()) return;
        const uint32_t length = static_cast<uint32_t>(worker.entries.size());
        Affine<Curve>* out = &partial[task];
        worker.summer->sum(bases.data(), worker.entries, std::span(&length, 1), &out);
      });
  std::vector<Entry> entries;
  for (size_t i = 0; i < tasks; ++i) entries.push_back(Entry::of(i, false));
  const uint32_t starts[2] = {0, static_cast<uint32_t>(tasks)};
  Affine<Curve> total;
  msm_detail::sum_runs<Curve>(partial.data(), entries, starts, std::span(&total, 1));
  return Jacobian<Curve>::from_affine(total);
}

}  // namespace

template <class Curve>
Jacobian<Curve> sum_selected(std::span<const Affine<Curve>> bases, const BitVector& bits) {
  CUZK_ASSERT(bases.size() == bits.size());
  constexpr size_t kPart = msm_detail::kMaxIndex / 2;
  Jacobian<Curve> total = Jacobian<Curve>::infinity();
  for (size_t begin = 0; begin < bases.size(); begin += kPart) {
    const size_t count = std::min(kPart, bases.size() - begin);
    total += sum_selected_part<Curve>(bases.subspan(begin, count), bits.words().subspan(begin / 64, (count + 63) / 64));
  }
  return total;
}

template Jacobian<G1Curve> sum_selected<G1Curve>(std::span<const G1Affine>, const BitVector&);
template Jacobian<G2Curve> sum_selected<G2Curve>(std::span<const G2Affine>, const BitVector&);

}  // namespace cuzk
