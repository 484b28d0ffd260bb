#include "msm/msm_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "msm/digits.hpp"
#include "msm/msm.hpp"
#include "msm/msm_keys.hpp"
#include "msm/msm_test_support.hpp"

namespace cuzk {
namespace {

constexpr size_t kSizes[] = {0, 1, 2, 31, 1000, size_t{1} << 16, size_t{1} << 20, size_t{1} << 24, size_t{1} << 27};

MsmPlan make_plan(MsmGroup group, size_t bases, const MsmOptions& options) {
  auto plan = MsmPlan::make(group, bases, options);
  EXPECT_TRUE(plan.ok());
  return std::move(plan).value();
}

std::vector<MsmOptions> some_options(size_t bases) {
  std::vector<MsmOptions> out = {{},
                                 {.window_bits = 13},
                                 {.max_entries = 1000003},
                                 {.multiprocessors = 1},
                                 {.multiplier = MsmMultiplier::kHybrid},
                                 {.multiplier = MsmMultiplier::kHybrid, .prepared = true}};
  for (const unsigned multiples : {2u, 5u, 15u, 255u}) {
    if (bases <= MsmPlan::kMaxTable / multiples) out.push_back({.table_multiples = multiples});
    if (bases <= MsmPlan::kMaxTable / multiples) out.push_back({.table_multiples = multiples, .max_entries = 5000});
  }
  // A task a thousand entries of 2^27 would be many.
  if (bases > size_t{1} << 20) std::erase_if(out, [](const MsmOptions& o) { return o.max_entries == 5000; });
  return out;
}

TEST(MsmPlan, TasksCoverEveryDigitOnceWithinTheEntriesPlanned) {
  for (const size_t bases : kSizes) {
    for (const MsmOptions& options : some_options(bases)) {
      const MsmPlan plan = make_plan(MsmGroup::kG1, bases, options);
      EXPECT_GE(plan.layout().total_bits(), 255u);
      EXPECT_LT(plan.narrow_sets(), plan.sets());
      EXPECT_GE(plan.sets() * plan.table_multiples(), plan.digits());
      EXPECT_LE(plan.table_multiples(), options.table_multiples);
      // The order of digits: set by set, and in each by multiple.
      std::vector<std::pair<unsigned, unsigned>> order;
      for (unsigned set = 0; set < plan.sets(); ++set) {
        for (unsigned multiple = 0; multiple * plan.sets() + set < plan.digits(); ++multiple) {
          order.emplace_back(set, multiple);
        }
      }
      ASSERT_EQ(order.size(), plan.digits());
      size_t covered = 0, next_base = 0, next_digit = 0;
      for (const MsmTask& task : plan.tasks()) {
        EXPECT_EQ(task.first_base, next_base);
        ASSERT_GT(task.entries(), 0u);
        EXPECT_LE(task.entries(), plan.max_entries());
        EXPECT_LE((task.entries() + plan.threads() - 1) / plan.threads(), plan.max_segment());
        ASSERT_LE(next_digit + task.digits, order.size());
        EXPECT_EQ(order[next_digit], std::make_pair(task.first_set, task.first_multiple));
        EXPECT_EQ(order[next_digit + task.digits - 1].first, task.first_set + task.sets - 1);
        covered += task.entries();
        next_digit += task.digits;
        if (next_digit == plan.digits()) next_digit = 0, next_base += task.bases;
      }
      EXPECT_EQ(covered, bases * plan.digits());
      EXPECT_EQ(next_base, bases);
    }
  }
}

TEST(MsmPlan, KeysAndReferencesFit) {
  for (const size_t bases : kSizes) {
    for (const MsmOptions& options : some_options(bases)) {
      const MsmPlan plan = make_plan(MsmGroup::kG2, bases, options);
      EXPECT_LT(size_t{plan.sets()} << plan.bucket_bits(), size_t{msm_detail::kNoKey});
      EXPECT_LE(plan.table_points(), size_t{msm_detail::kFirstSlot});
      EXPECT_LT(msm_detail::kFirstSlot + uint64_t{plan.max_segment() / 2}, uint64_t{msm_detail::kNegative});
      EXPECT_EQ(plan.threads() % 128, 0u);
    }
  }
}

TEST(MsmPlan, EntriesAreNumberedWith32Bits) {
  const MsmPlan plan = make_plan(MsmGroup::kG1, size_t{1} << 30, {.max_entries = size_t{1} << 40});
  EXPECT_GT(plan.digits() * plan.bases(), size_t{1} << 32);
  for (const MsmTask& task : plan.tasks()) EXPECT_LE(task.entries(), size_t{1} << 31);
}

TEST(MsmPlan, ScratchRangesAreAlignedApartAndAsLargeAsTheirUse) {
  for (const MsmGroup group : {MsmGroup::kG1, MsmGroup::kG2}) {
    for (const size_t bases : kSizes) {
      for (const MsmOptions& options : some_options(bases)) {
        const MsmPlan plan = make_plan(group, bases, options);
        const MsmScratch& s = plan.scratch();
        const size_t field = static_cast<size_t>(group), threads = plan.threads();
        const size_t pairs = plan.affine_rounds() > 0 ? threads * (plan.max_segment() / 2) : 0;
        struct Range {
          size_t begin, bytes;
        };
        const bool hybrid = plan.multiplier() == MsmMultiplier::kHybrid, copies = hybrid && !plan.bases_are_prepared();
        std::vector<Range> ranges = {{s.prepared, copies ? plan.table_points() * MsmPlan::kPreparedBytes : 0},
                                     {s.keys[0], 4 * threads * plan.max_segment()},
                                     {s.keys[1], 4 * threads * plan.max_segment()},
                                     {s.refs[0], 4 * threads * plan.max_segment()},
                                     {s.refs[1], 4 * threads * plan.max_segment()},
                                     {s.sort, s.sort_bytes},
                                     {s.count, 4},
                                     {s.begin, 4 * threads},
                                     {s.products, pairs * field},
                                     {s.slots, pairs == 0 ? 0
                                               : hybrid   ? (pairs + 1) * plan.record_bytes()
                                                          : pairs * 2 * field},
                                     {s.partial_keys[0], 8 * threads},
                                     {s.partial_keys[1], 8 * ((2 * threads + 31) / 32)},
                                     {s.partial_points[0], 2 * threads * 4 * field},
                                     {s.partial_points[1], 2 * ((2 * threads + 31) / 32) * 4 * field},
                                     {s.buckets, plan.buckets() * 4 * field},
                                     {s.lines, plan.sets() * plan.lines_of_set() * 4 * field}};
        std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
          return a.begin != b.begin ? a.begin < b.begin : a.bytes < b.bytes;
        });
        for (size_t i = 0; i < ranges.size(); ++i) {
          EXPECT_EQ(ranges[i].begin % 256, 0u);
          EXPECT_LE(ranges[i].begin + ranges[i].bytes, i + 1 < ranges.size() ? ranges[i + 1].begin : s.total_bytes);
        }
        EXPECT_EQ(plan.scratch_bytes(), s.total_bytes);
      }
    }
  }
}

TEST(MsmPlan, FewerEntriesTakeLessScratch) {
  const MsmPlan large = make_plan(MsmGroup::kG1, size_t{1} << 26, {});
  const MsmPlan small = make_plan(MsmGroup::kG1, size_t{1} << 26, {.max_entries = size_t{1} << 22});
  EXPECT_LT(large.scratch_bytes(), uint64_t{8} << 30);
  EXPECT_LT(small.scratch_bytes(), large.scratch_bytes() / 3);
}

TEST(MsmPlan, TheHybridMultiplierIsForRoundsInG1) {
  const auto make = [](MsmGroup group, size_t bases, bool prepared) {
    return make_plan(group, bases, {.multiplier = MsmMultiplier::kHybrid, .prepared = prepared});
  };
  const size_t large = size_t{1} << 20;
  EXPECT_EQ(make(MsmGroup::kG1, large, false).multiplier(), MsmMultiplier::kHybrid);
  EXPECT_EQ(make(MsmGroup::kG2, large, false).multiplier(), MsmMultiplier::kInteger);
  // Without rounds there is nothing to gain, but bases that are prepared must be read as such.
  EXPECT_EQ(make(MsmGroup::kG1, 10, false).multiplier(), MsmMultiplier::kInteger);
  EXPECT_EQ(make(MsmGroup::kG1, 10, true).multiplier(), MsmMultiplier::kHybrid);
  EXPECT_TRUE(make(MsmGroup::kG1, 10, true).bases_are_prepared());
  EXPECT_FALSE(make(MsmGroup::kG2, large, true).bases_are_prepared());
  const auto selection = MsmPlan::make_selection(MsmGroup::kG1, large, 3, {.multiplier = MsmMultiplier::kHybrid});
  EXPECT_EQ(selection.value().multiplier(), MsmMultiplier::kInteger);
}

TEST(MsmPlan, WrongOptionsAreNamed) {
  const auto field = [](size_t bases, const MsmOptions& options) {
    const auto plan = MsmPlan::make(MsmGroup::kG1, bases, options);
    return plan.ok() ? std::string() : plan.error().field;
  };
  EXPECT_EQ(field(10, {.window_bits = 3}), "window_bits");
  EXPECT_EQ(field(10, {.window_bits = 25}), "window_bits");
  EXPECT_EQ(field(10, {.table_multiples = 0}), "table_multiples");
  EXPECT_EQ(field(10, {.table_multiples = 256}), "table_multiples");
  EXPECT_EQ(field(10, {.multiprocessors = 0}), "multiprocessors");
  EXPECT_EQ(field(size_t{1} << 31, {}), "bases");
  EXPECT_EQ(field(size_t{1} << 29, {.table_multiples = 255}), "bases");
  EXPECT_EQ(field(MsmPlan::kMaxTable, {}), "");
  for (const unsigned witnesses : {0u, 17u}) {
    const auto plan = MsmPlan::make_selection(MsmGroup::kG1, 10, witnesses, {});
    EXPECT_EQ(plan.ok() ? "" : plan.error().field, "witnesses");
  }
}

TEST(MsmPlan, SelectionsHaveABucketForEachPattern) {
  for (unsigned witnesses = 1; witnesses <= MsmPlan::kMaxWitnesses; ++witnesses) {
    auto made = MsmPlan::make_selection(MsmGroup::kG1, 1000, witnesses, {.max_entries = 300});
    ASSERT_TRUE(made.ok());
    const MsmPlan plan = std::move(made).value();
    EXPECT_TRUE(plan.is_selection());
    EXPECT_EQ(plan.buckets(), size_t{1} << witnesses);
    EXPECT_EQ(plan.row_bits() + plan.column_bits(), witnesses);
    EXPECT_EQ(plan.sums(), witnesses + 1);
    EXPECT_EQ(plan.table_points(), 1000u);
    EXPECT_EQ(plan.words_of_bits(), 16u);
    size_t covered = 0;
    for (const MsmTask& task : plan.tasks()) covered += task.entries();
    EXPECT_EQ(covered, 1000u);
  }
}

// Digits of every layout that a plan can have add up to the scalar, and find their bucket.
TEST(MsmPlan, DigitsOfWindowsOfTwoWidthsAddUpToTheScalar) {
  std::vector<Fr> scalars = msm_test::make_scalars(20, msm_test::Distribution::kUniform, 9);
  const Fr half = Fr::from_u64(2).inverse();  // (r + 1)/2
  for (const Fr& s : {Fr::zero(), Fr::one(), -Fr::one(), half, half - Fr::one(), half + Fr::one(), -half}) {
    scalars.push_back(s);
  }
  for (unsigned i = 200; i < 255; ++i) {
    scalars.push_back(Fr::from_u64(2).pow(i));
    scalars.push_back(Fr::from_u64(2).pow(i) - Fr::one());
  }
  size_t narrow = 0;
  for (unsigned bits = 4; bits <= 24; ++bits) {
    for (unsigned multiples = 1; multiples <= 20; ++multiples) {
      const MsmPlan plan =
          make_plan(MsmGroup::kG1, scalars.size(), {.window_bits = bits, .table_multiples = multiples});
      const msm_detail::DigitLayout layout = plan.layout();
      narrow += plan.narrow_sets();
      EXPECT_GE(layout.total_bits(), 255u);
      EXPECT_EQ(layout.begin(1, 0), plan.table_shift());
      const msm_detail::DigitCutter cutter(layout);
      for (const Fr& s : scalars) {
        const auto prepared = cutter.prepare(s);
        Fr sum;
        for (unsigned w = 0; w < plan.digits(); ++w) {
          const unsigned multiple = w / plan.sets(), set = w % plan.sets();
          const auto code = cutter.code(prepared, multiple, set);
          if (code == 0) continue;
          ASSERT_LT(msm_detail::digit_bucket(code), 1u << (layout.bits_of(set) - 1));
          const Fr digit =
              Fr::from_u64(msm_detail::digit_bucket(code) + 1) * Fr::from_u64(2).pow(layout.begin(multiple, set));
          sum += msm_detail::digit_negative(code) ? -digit : digit;
        }
        ASSERT_EQ(sum, s) << bits << " bits, " << multiples << " multiples";
      }
    }
  }
  EXPECT_GT(narrow, 100u);
}

// The windows of the prover's largest sums: 11 digits of 255 bits in all.
TEST(MsmPlan, WindowsAreNoWiderThanTheyNeedBe) {
  const size_t n = size_t{1} << 27;
  const MsmPlan three = make_plan(MsmGroup::kG1, n, {.table_multiples = 3});
  EXPECT_EQ(three.window_bits(), 24u);
  EXPECT_EQ(three.digits(), 11u);
  EXPECT_EQ(three.sets(), 4u);
  EXPECT_EQ(three.narrow_sets(), 3u);
  EXPECT_EQ(three.table_shift(), 93u);
  EXPECT_EQ(three.layout().total_bits(), 255u);
  const MsmPlan one = make_plan(MsmGroup::kG1, n / 8, {});
  EXPECT_EQ(one.layout().total_bits(), 255u);
}

// What the device does, by definition: every digit into its bucket, then the sums of each set. With the table's points
// this checks digits, weights and msm_finish against msm().
template <class C>
void sums_by_definition(size_t n, const MsmOptions& options) {
  const auto known = msm_test::known_points<C>(n, n);
  const auto scalars = msm_test::make_scalars(n, msm_test::Distribution::kUniform, n);
  const MsmPlan plan = make_plan(static_cast<MsmGroup>(sizeof(typename C::Field)), n, options);
  std::vector<Xyzz<C>> table;
  for (const auto& p : known.points) table.push_back(Xyzz<C>::from_affine(p));
  for (size_t i = n; i < plan.table_points(); ++i) {
    Xyzz<C> p = table[i - n];
    for (unsigned k = 0; k < plan.table_shift(); ++k) p = p.dbl();
    table.push_back(p);
  }
  std::vector<Xyzz<C>> buckets(plan.buckets());
  const msm_detail::DigitCutter cutter(plan.layout());
  ASSERT_EQ(cutter.windows(), plan.digits());
  for (size_t i = 0; i < n; ++i) {
    const auto prepared = cutter.prepare(scalars[i]);
    for (unsigned w = 0; w < plan.digits(); ++w) {
      const unsigned set = w % plan.sets();
      const auto code = cutter.code(prepared, w / plan.sets(), set);
      if (code == 0) continue;
      ASSERT_LT(msm_detail::digit_bucket(code), 1u << (plan.layout().bits_of(set) - 1));
      const Xyzz<C>& p = table[w / plan.sets() * n + i];
      const size_t bucket = (size_t{set} << plan.bucket_bits()) + msm_detail::digit_bucket(code);
      buckets[bucket].add(msm_detail::digit_negative(code) ? -p : p);
    }
  }
  std::vector<Xyzz<C>> sums(plan.sums());
  for (size_t b = 0; b < buckets.size(); ++b) {
    const size_t set = b >> plan.bucket_bits();
    sums[set * plan.window_bits()].add(buckets[b]);
    for (unsigned bit = 0; bit < plan.bucket_bits(); ++bit) {
      if (b >> bit & 1) sums[set * plan.window_bits() + 1 + bit].add(buckets[b]);
    }
  }
  EXPECT_EQ(msm_finish<C>(plan, sums), msm<C>(known.points, scalars));
}

TEST(MsmPlan, SumsByDefinitionFinishToTheMsm) {
  for (const unsigned bits : {4u, 5u, 7u, 8u, 13u}) {
    for (const unsigned multiples : {1u, 2u, 3u, 255u}) {
      sums_by_definition<G1Curve>(5, {.window_bits = bits, .table_multiples = multiples});
    }
  }
  sums_by_definition<G2Curve>(3, {.window_bits = 6, .table_multiples = 4});
}

}  // namespace
}  // namespace cuzk
