#include "msm/run_sums.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "msm/msm_tuning.hpp"
#include "parallel/workers.hpp"

namespace cuzk::msm_detail {

template <class Curve>
void batch_add(const Affine<Curve>* a, const Affine<Curve>* b, Affine<Curve>* sums, size_t count,
               typename Curve::Field* denominators, typename Curve::Field* products) {
  using Field = typename Curve::Field;
  // A denominator of zero stands for sums without a slope: an operand is infinity, or they are opposite.
  Field product = Field::one();
  for (size_t i = 0; i < count; ++i) {
    Field d = b[i].x - a[i].x;
    if (d.is_zero() && a[i].y == b[i].y) d = a[i].y.dbl();
    if (a[i].is_infinity() || b[i].is_infinity()) d = Field::zero();
    denominators[i] = d;
    products[i] = product;
    if (!d.is_zero()) product *= d;
  }
  Field inverse = product.inverse();
  for (size_t i = count; i-- > 0;) {
    const Affine<Curve> p = a[i], q = b[i];
    if (denominators[i].is_zero()) {
      sums[i] = p.is_infinity() ? q : q.is_infinity() ? p : Affine<Curve>::infinity();
      continue;
    }
    const Field inverse_i = inverse * products[i];
    inverse *= denominators[i];
    Field numerator = q.y - p.y;
    if (p.x == q.x) {
      const Field xx = p.x.square();
      numerator = xx.dbl() + xx;
    }
    const Field slope = numerator * inverse_i;
    const Field x = slope.square() - p.x - q.x;
    sums[i] = Affine<Curve>{x, slope * (p.x - x) - p.y};
  }
}

namespace {

template <class Curve>
class PortableChunkSummer final : public ChunkSummer<Curve> {
  using Point = Affine<Curve>;
  using Field = typename Curve::Field;
  // Additions that share an inversion: enough to hide it, few enough to stay in the second-level cache.
  static constexpr size_t kBatch = 1024;

 public:
  explicit PortableChunkSummer(size_t max_entries)
      : slots_(max_entries), a_(kBatch), b_(kBatch), denominators_(kBatch), products_(kBatch), where_(kBatch) {}

  void sum(const Point* bases, std::span<const Entry> entries, std::span<const uint32_t> lengths,
           Point* const* out) override {
    CUZK_ASSERT(entries.size() <= slots_.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      const Point& p = bases[entries[i].index()];
      slots_[i] = entries[i].negative() ? -p : p;
    }
    uint32_t longest = 0;
    for (const uint32_t length : lengths) longest = std::max(longest, length);
    // After a round, every second survivor is left: its slot holds the sum of a pair.
    for (size_t step = 1; step < longest; step *= 2) {
      size_t start = 0;
      for (const uint32_t length : lengths) {
        for (size_t i = 0; i + step < length; i += 2 * step) push(start + i, start + i + step);
        start += length;
      }
      flush();
    }
    size_t start = 0;
    for (size_t j = 0; j < lengths.size(); ++j) {
      *out[j] = slots_[start];
      start += lengths[j];
    }
  }

 private:
  void push(size_t to, size_t from) {
    a_[pending_] = slots_[to];
    b_[pending_] = slots_[from];
    where_[pending_] = static_cast<uint32_t>(to);
    if (++pending_ == kBatch) flush();
  }
  void flush() {
    batch_add<Curve>(a_.data(), b_.data(), a_.data(), pending_, denominators_.data(), products_.data());
    for (size_t i = 0; i < pending_; ++i) slots_[where_[i]] = a_[i];
    pending_ = 0;
  }

  std::vector<Point> slots_, a_, b_;
  std::vector<Field> denominators_, products_;
  std::vector<uint32_t> where_;
  size_t pending_ = 0;
};

// What a chunk's worker keeps.
template <class Curve>
struct Worker {
  std::unique_ptr<ChunkSummer<Curve>> summer;
  std::vector<uint32_t> lengths;
  std::vector<Affine<Curve>*> out;
};

}  // namespace

template <class Curve>
size_t max_chunk() {
  return msm_tuning::kChunkBytes / sizeof(Affine<Curve>);
}

template <class Curve>
std::unique_ptr<ChunkSummer<Curve>> make_portable_chunk_summer(size_t max_entries) {
  return std::make_unique<PortableChunkSummer<Curve>>(max_entries);
}

template <class Curve>
std::unique_ptr<ChunkSummer<Curve>> make_chunk_summer(size_t max_entries) {
  CUZK_ASSERT(max_entries <= max_chunk<Curve>());
#if CUZK_X86_ASM
  if (cpu_features().avx512_ifma) return make_ifma_chunk_summer<Curve>(max_entries);
#endif
  return make_portable_chunk_summer<Curve>(max_entries);
}

template <class Curve>
void sum_runs(const Affine<Curve>* bases, std::span<const Entry> entries, std::span<const uint32_t> starts,
              std::span<Affine<Curve>> out) {
  CUZK_ASSERT(starts.size() == out.size() + 1 && starts.back() == entries.size());
  std::fill(out.begin(), out.end(), Affine<Curve>::infinity());
  if (entries.empty()) return;
  // Chunks of equal size, as full as the threads allow.
  const size_t threads = parallel_threads();
  const size_t share = (entries.size() + threads - 1) / threads;
  const size_t chunk = std::min(max_chunk<Curve>(), std::max(share, msm_tuning::kMinChunk));
  const size_t chunks = (entries.size() + chunk - 1) / chunk;
  // A run that chunks cut leaves a partial sum in each: at most one at the beginning of a chunk and one at its end.
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<Affine<Curve>> partial(2 * chunks);
  std::vector<uint32_t> partial_run(2 * chunks, kNone);
  parallel_workers(
      chunks, chunks,
      [&] {
        return Worker<Curve>{make_chunk_summer<Curve>(chunk), {}, {}};
      },
      [&](size_t k, Worker<Curve>& worker) {
        const size_t begin = k * chunk, end = std::min(begin + chunk, entries.size());
        worker.lengths.clear();
        worker.out.clear();
        size_t run = static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), begin) - starts.begin()) - 1;
        for (size_t at = begin; at < end; ++run) {
          const size_t stop = std::min<size_t>(starts[run + 1], end);
          if (stop == at) continue;
          const bool head_cut = starts[run]<begin, tail_cut = starts[run + 1]> end;
          worker.lengths.push_back(static_cast<uint32_t>(stop - at));
          if (head_cut || tail_cut) {
            const size_t slot = 2 * k + (head_cut ? 0 : 1);
            partial_run[slot] = static_cast<uint32_t>(run);
            worker.out.push_back(&partial[slot]);
          } else {
            worker.out.push_back(&out[run]);
          }
          at = stop;
        }
        worker.summer->sum(bases, entries.subspan(begin, end - begin), worker.lengths, worker.out.data());
      });
  // The partial sums of a run are neighbours; sum them the same way.
  std::vector<Entry> rest;
  std::vector<uint32_t> rest_starts, rest_runs;
  for (size_t slot = 0; slot < partial.size(); ++slot) {
    if (partial_run[slot] == kNone) continue;
    if (rest_runs.empty() || rest_runs.back() != partial_run[slot]) {
      rest_runs.push_back(partial_run[slot]);
      rest_starts.push_back(static_cast<uint32_t>(rest.size()));
    }
    rest.push_back(Entry::of(slot, false));
  }
  if (rest.empty()) return;
  rest_starts.push_back(static_cast<uint32_t>(rest.size()));
  std::vector<Affine<Curve>> sums(rest_runs.size());
  sum_runs<Curve>(partial.data(), rest, rest_starts, sums);
  for (size_t j = 0; j < sums.size(); ++j) out[rest_runs[j]] = sums[j];
}

#define CUZK_INSTANTIATE(Curve)                                                                                     \
  template void batch_add<Curve>(const Affine<Curve>*, const Affine<Curve>*, Affine<Curve>*, size_t, Curve::Field*, \
                                 Curve::Field*);                                                                    \
  template size_t max_chunk<Curve>();                                                                               \
  template std::unique_ptr<ChunkSummer<Curve>> make_portable_chunk_summer<Curve>(size_t);                           \
  template std::unique_ptr<ChunkSummer<Curve>> make_chunk_summer<Curve>(size_t);                                    \
  template void sum_runs<Curve>(const Affine<Curve>*, std::span<const Entry>, std::span<const uint32_t>,            \
                                std::span<Affine<Curve>>)
CUZK_INSTANTIATE(G1Curve);
CUZK_INSTANTIATE(G2Curve);

}  // namespace cuzk::msm_detail
