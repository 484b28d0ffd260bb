// The kernels of msm_kernels.cuh that need no cooperation between threads, run one thread after the other on the host
// and compared with msm().
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

// The kernels' pragmas are for nvcc.
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
namespace {
struct Index {
  uint32_t x;
};
thread_local Index blockIdx, threadIdx;
// A warp of one lane.
bool __any_sync(unsigned, bool v) { return v; }
uint32_t __shfl_xor_sync(unsigned, uint32_t v, int) { return v; }
void __syncwarp() {}
}  // namespace
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/sqrt.hpp"
#include "msm/digits.hpp"
#include "msm/msm.hpp"
#include "msm/msm_hybrid_kernels.cuh"
#include "msm/msm_kernels.cuh"
#include "msm/msm_plan.hpp"
#include "msm/msm_test_support.hpp"

namespace cuzk::msm_detail {
namespace {

template <unsigned block = kBlock, class Kernel, class... Args>
void launch(Kernel kernel, uint32_t threads, Args... args) {
  for (uint32_t t = 0; t < threads; ++t) {
    blockIdx.x = t / block;
    threadIdx.x = t % block;
    kernel(args...);
  }
}

template <class C>
struct Emulation {
  Emulation(const MsmPlan& p, const std::vector<Affine<C>>& t)
      : plan(p),
        table(t),
        begin(p.threads()),
        products(size_t{p.threads()} * (p.max_segment() / 2) * kFieldWords<C>),
        slots(2 * products.size()),
        buckets(p.buckets()) {
    partial_keys.resize(2 * p.threads());
    partials.resize(2 * p.threads());
    if constexpr (std::is_same_v<C, G1Curve>) {
      if (plan.multiplier() != MsmMultiplier::kHybrid) return;
      // First some records of nobody, then the bases, then the sums.
      const size_t words = plan.record_bytes() / sizeof(Word);
      records.resize((3 + table.size() + size_t{p.threads()} * (p.max_segment() / 2)) * words);
      for (size_t i = 0; i < table.size(); ++i) HybridRecord<Word>{&records[(3 + i) * words]}.store(table[i]);
    }
  }

  void add_task(const MsmTask& task, const std::vector<Fr>& scalars) {
    const DigitCutter cutter(plan.layout());
    std::vector<uint32_t> all_keys, all_refs;
    unsigned set = task.first_set, multiple = task.first_multiple;
    for (unsigned digit = 0; digit < task.digits; ++digit) {
      for (uint32_t i = task.first_base; i < task.first_base + task.bases; ++i) {
        const DigitCode code = cutter.code(cutter.prepare(scalars[i]), multiple, set);
        if (code == 0) continue;
        all_keys.push_back((set - task.first_set) << plan.bucket_bits() | digit_bucket(code));
        all_refs.push_back(static_cast<uint32_t>(multiple * plan.bases() + i) | (digit_negative(code) ? kNegative : 0));
      }
      cutter.layout().advance(multiple, set);
    }
    std::vector<uint32_t> order(all_keys.size());
    std::vector<uint32_t> keys(size_t{plan.threads()} * plan.max_segment()), refs(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return all_keys[a] < all_keys[b]; });
    const auto count = static_cast<uint32_t>(order.size());
    for (uint32_t t = 0, next = 0; t < plan.threads(); ++t) {
      const Segment s = segment_of(t, count, plan.threads(), plan.max_segment());
      for (uint32_t e = 0; e < s.length; ++e, ++next) {
        keys[s.at(e)] = all_keys[order[next]];
        refs[s.at(e)] = all_refs[order[next]];
      }
    }
    AccumulateArgs<C> a{};
    a.bases = table.data();
    a.keys = keys.data();
    a.refs = refs.data();
    a.count = &count;
    a.begin = begin.data();
    a.threads = plan.threads();
    a.max_segment = plan.max_segment();
    a.products = products.data();
    a.slots = slots.data();
    a.partial_keys = partial_keys.data();
    a.partial_points = partials.data();
    a.buckets = buckets.data() + (size_t{task.first_set} << plan.bucket_bits());
    for (unsigned i = 0; i < 2; ++i) {
      pair_refs[i].resize(size_t{plan.threads()} * plan.max_segment());
      a.pair_refs[i] = pair_refs[i].data();
    }
    pair_counts.resize(plan.threads());
    a.pair_counts = pair_counts.data();
    a.records = records.data();
    a.record_bytes = static_cast<uint32_t>(plan.record_bytes());
    a.first_base = 3;
    a.first_sum = static_cast<uint32_t>(3 + table.size());
    run_rounds(a);
    launch(meet_kernel<C>, plan.threads(), partial_keys.data(), partials.data(), plan.threads(), a.buckets);
    // In place of join_kernel, which works by warps.
    for (size_t i = 0; i < 2 * size_t{plan.threads()}; ++i) {
      if (!partials[i].is_infinity()) a.buckets[partial_keys[i]].add(partials[i]);
    }
  }

  void run_rounds(const AccumulateArgs<C>& a) {
    const unsigned rounds = plan.affine_rounds();
    if constexpr (std::is_same_v<C, G1Curve>) {
      if (plan.multiplier() == MsmMultiplier::kHybrid) {
        for (unsigned round = 0; round < rounds; ++round) {
          launch(list_kernel, a.threads, a, round == 0);
          launch<kHybridBlock>(hybrid_pair_kernel, a.threads, a, round == 0);
        }
        launch(walk_kernel<C, HybridPoints>, a.threads, a, rounds > 0);
        return;
      }
    }
    for (unsigned round = 0; round < rounds; ++round) {
      launch(round == 0 ? pair_kernel<C, true> : pair_kernel<C, false>, a.threads, a);
    }
    launch(walk_kernel<C>, a.threads, a, rounds > 0);
  }

  std::vector<Xyzz<C>> sums() const {
    std::vector<Xyzz<C>> out(plan.sums());
    for (size_t b = 0; b < buckets.size(); ++b) {
      const size_t set = b >> plan.bucket_bits();
      out[set * plan.window_bits()].add(buckets[b]);
      for (unsigned bit = 0; bit < plan.bucket_bits(); ++bit) {
        if (b >> bit & 1) out[set * plan.window_bits() + 1 + bit].add(buckets[b]);
      }
    }
    return out;
  }

  const MsmPlan& plan;
  const std::vector<Affine<C>>& table;
  std::vector<uint32_t> begin;
  std::vector<Word> products, slots, records;
  std::vector<uint32_t> pair_refs[2], pair_counts;
  std::vector<uint32_t> partial_keys;
  std::vector<Xyzz<C>> partials, buckets;
};

template <class C>
void compare_one(const msm_test::Points<C>& points, const std::vector<Fr>& scalars, const MsmOptions& options,
                 const char* what) {
  const size_t n = points.size();
  auto made = MsmPlan::make(static_cast<MsmGroup>(sizeof(typename C::Field)), n, options);
  ASSERT_TRUE(made.ok());
  const MsmPlan plan = std::move(made).value();
  auto table = points;
  for (size_t i = n; i < plan.table_points(); ++i) {
    Xyzz<C> p = Xyzz<C>::from_affine(table[i - n]);
    for (unsigned k = 0; k < plan.table_shift(); ++k) p = p.dbl();
    table.push_back(p.to_affine());
  }
  Emulation<C> emulation(plan, table);
  for (const MsmTask& task : plan.tasks()) emulation.add_task(task, scalars);
  EXPECT_EQ(msm_finish<C>(plan, emulation.sums()), msm<C>(points, scalars))
      << C::kName << " " << n << " bases, " << plan.window_bits() << " bits, " << plan.table_multiples()
      << " multiples, " << plan.affine_rounds() << " rounds, "
      << (plan.multiplier() == MsmMultiplier::kHybrid ? "hybrid, " : "") << what;
}

// By both multipliers.
template <class C>
void compare(const msm_test::Points<C>& points, const std::vector<Fr>& scalars, MsmOptions options, const char* what) {
  compare_one<C>(points, scalars, options, what);
  if constexpr (std::is_same_v<C, G1Curve>) {
    options.multiplier = MsmMultiplier::kHybrid;
    options.prepared = options.affine_rounds == 1 || options.affine_rounds == 3;
    compare_one<C>(points, scalars, options, what);
  }
}

constexpr MsmOptions kVariants[] = {
    {.affine_rounds = 0},
    {.window_bits = 6, .multiprocessors = 1, .affine_rounds = 1},
    {.window_bits = 5, .table_multiples = 255, .multiprocessors = 1, .affine_rounds = 7},
    {.window_bits = 9, .table_multiples = 4, .max_entries = 700, .affine_rounds = 3},
};

TEST(MsmKernels, EveryDistributionOfScalars) {
  const auto known = msm_test::known_points<G1Curve>(900, 1);
  for (const auto distribution : msm_test::kDistributions) {
    const auto scalars = msm_test::make_scalars(900, distribution, 2);
    for (const MsmOptions& options : kVariants) {
      compare<G1Curve>(known.points, scalars, options, msm_test::name(distribution));
    }
  }
}

TEST(MsmKernels, InfiniteEqualAndOppositeBases) {
  for (const auto bases : msm_test::kBases) {
    const auto known = msm_test::exceptional_points<G1Curve>(300, bases, 3);
    for (const MsmOptions& options : kVariants) {
      for (const auto distribution : {msm_test::Distribution::kUniform, msm_test::Distribution::kBits}) {
        const auto scalars = msm_test::make_scalars(300, distribution, 4);
        compare<G1Curve>(known.points, scalars, options, "exceptional");
      }
    }
  }
}

// A point of the curve whose x, as a prepared base has it, has zero as its lowest word: what sends a pair the special
// way although it has a chord.
G1Affine point_with_zero_word(std::mt19937_64& rng) {
  for (;;) {
    FpHybrid x;
    for (unsigned k = 0; k < FpHybrid::kDigits; ++k) {
      // Well below p/2, so that there is no other representative in range.
      const int64_t most = int64_t{1} << (k + 1 < FpHybrid::kDigits ? 37 : 27);
      int64_t digit = static_cast<int64_t>(rng() % static_cast<uint64_t>(2 * most)) - most;
      if (k == 0) digit &= ~int64_t{0xffffffff};
      x.d[k] = static_cast<double>(digit);
      x.s[k] = static_cast<uint32_t>(digit);
    }
    const Fp as_fp = x.to_fp();
    const std::optional<Fp> y = sqrt(as_fp.square() * as_fp + G1Curve::b());
    if (!y) continue;
    EXPECT_EQ(FpHybrid::from_fp(as_fp).reduced().pack()[0], 0u);
    return {as_fp, *y};
  }
}

TEST(MsmKernels, OrdinaryPointsWithAZeroWord) {
  std::mt19937_64 rng(11);
  auto points = msm_test::known_points<G1Curve>(300, 7).points;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i % 3 != 0) points[i] = point_with_zero_word(rng);
    if (i % 20 == 7) points[i] = points[i - 1];
    if (i % 20 == 8) points[i] = {points[i - 1].x, -points[i - 1].y};
  }
  for (const auto distribution :
       {msm_test::Distribution::kUniform, msm_test::Distribution::kBits, msm_test::Distribution::kHalfEqual}) {
    const auto scalars = msm_test::make_scalars(points.size(), distribution, 12);
    for (const MsmOptions& options : kVariants) compare<G1Curve>(points, scalars, options, "zero words");
  }
}

TEST(MsmKernels, FewBasesAndG2) {
  for (const size_t n : {1, 2, 33}) {
    const auto known = msm_test::known_points<G1Curve>(n, n);
    const auto scalars = msm_test::make_scalars(n, msm_test::Distribution::kUniform, n);
    for (const MsmOptions& options : kVariants) compare<G1Curve>(known.points, scalars, options, "few");
  }
  const auto known = msm_test::exceptional_points<G2Curve>(200, msm_test::Bases::kOpposite, 5);
  const auto scalars = msm_test::make_scalars(200, msm_test::Distribution::kHalfEqual, 6);
  for (const MsmOptions& options : kVariants) compare<G2Curve>(known.points, scalars, options, "G2");
}

}  // namespace
}  // namespace cuzk::msm_detail
