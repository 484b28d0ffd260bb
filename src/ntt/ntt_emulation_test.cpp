// The CUDA form's passes, run on the CPU: the phases of a block one after the other, all threads in each. It is the
// code of the kernels (ntt_kernels.cuh) but for the arithmetic and the barriers, so that numbers of elements, tables
// and twiddles are tested on machines without a GPU.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "ntt/engine.hpp"
#include "ntt/ntt.hpp"
#include "ntt/ntt_kernels.cuh"
#include "ntt/ntt_plan.hpp"

namespace cuzk::ntt {
namespace {

using Values = std::vector<Fr>;

Values random_values(size_t count, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Values out(count);
  for (Fr& v : out) v = Fr::from_plain({rng(), rng(), rng(), rng() >> 2});
  return out;
}

struct Tables {
  std::vector<PreparedTwiddle> levels, roots;
  Values low, high, factors;
  TwiddleTables view() const {
    return {levels.data(), low.data(), high.data(), factors.empty() ? nullptr : factors.data(), roots.data()};
  }
};

// What DeviceDomain::fill computes, by other means where it is cheap.
Tables make_tables(const DevicePlan& plan, bool inverse, bool coset) {
  const unsigned k = plan.log2_size();
  const auto directed = [&](const Fr& x) { return inverse ? x.inverse() : x; };
  const Fr root = directed(root_of_unity(k)), generator = directed(Fr::from_u64(kFrGenerator));
  TablePowers powers;
  for (unsigned i = 0; i < 32; ++i) powers.root[i] = i == 0 ? root : powers.root[i - 1].square();
  Values factors(32, Fr::one());
  for (unsigned l = 0; coset && l < k; ++l) factors[l] = generator.pow(uint64_t{1} << (k - 1 - l));
  Tables out;
  out.roots.resize(3);
  out.levels.resize(std::max<size_t>(16, size_t{1} << plan.table_levels()));
  for (unsigned i = 1; i < size_t{1} << plan.table_levels(); ++i) {
    level_twiddle(powers, factors.data(), k, i).store(&out.levels[i]);
  }
  if (plan.generates()) {
    out.low.resize(size_t{1} << kLowExponentBits);
    out.high.resize(size_t{1} << (k - 1 - kLowExponentBits));
    Fr x = coset ? generator : Fr::one();
    for (Fr& v : out.low) {
      v = x;
      x *= root;
    }
    for (size_t j = 0; j < out.high.size(); ++j) out.high[j] = root.pow(j << kLowExponentBits);
  }
  if (coset) {
    for (unsigned l = 0; l < k; ++l) out.factors.push_back(factors[l] * generator.inverse());
  }
  const Fr root8 = directed(root_of_unity(3));
  Prepared{root8.square()}.store(&out.roots[0]);
  Prepared{root8}.store(&out.roots[1]);
  Prepared{root8 * root8.square()}.store(&out.roots[2]);
  return out;
}

template <bool kGentlemanSande, bool kGenerate>
void run_block(const PassArguments& pass, unsigned block) {
  std::vector<std::array<LazyFr, 8>> registers(kPassThreads);
  Values slots(size_t{1} << kTileLog2);
  std::vector<PreparedTwiddle> shared(kPassThreads);
  Values scratch(2);
  if (kGenerate) {
    for (unsigned t = 0; t < kPassThreads; ++t) shared_twiddle(pass, block, t).store(&shared[t]);
  }
  const auto exchange = [&](unsigned from, unsigned to) {
    for (unsigned t = 0; t < kPassThreads; ++t) {
      for (unsigned j = 0; j < 8; ++j) registers[t][j].store(&slots[slot(position(t, j, from))]);
    }
    for (unsigned t = 0; t < kPassThreads; ++t) {
      for (unsigned j = 0; j < 8; ++j) registers[t][j] = LazyFr::load(&slots[slot(position(t, j, to))]);
    }
  };
  const unsigned windows = pass.windows();
  const bool contiguous = pass.column_bits() == 0;
  const size_t limit = pass.log2_size < kTileLog2 ? size_t{1} << pass.log2_size : size_t{1} << kTileLog2;
  unsigned low = !kGentlemanSande ? pass.window_low(0) : contiguous ? kMemoryLow : pass.window_low(windows - 1);
  for (unsigned t = 0; t < kPassThreads; ++t) {
    for (unsigned j = 0; j < 8; ++j) {
      const unsigned p = position(t, j, low);
      registers[t][j] = p < limit ? LazyFr::load(pass.data + address(pass, block, p)) : LazyFr{};
    }
  }
  for (unsigned i = 0; i < windows; ++i) {
    const unsigned w = kGentlemanSande ? windows - 1 - i : i, next = pass.window_low(w);
    if (next != low) exchange(low, next);
    low = next;
    for (unsigned t = 0; t < kPassThreads; ++t) {
      LazyFr x[8];
      std::copy(registers[t].begin(), registers[t].end(), x);
      if (kGenerate && w + 1 == windows) {
        generated_window<kGentlemanSande>(x, pass, block, t, scratch.data());
      } else {
        table_window<kGentlemanSande, kGenerate>(x, pass, block, t, w, shared.data());
      }
      std::copy(x, x + 8, registers[t].begin());
    }
  }
  if (!kGentlemanSande && contiguous) {
    exchange(low, kMemoryLow);
    low = kMemoryLow;
  }
  for (unsigned t = 0; t < kPassThreads; ++t) {
    for (unsigned j = 0; j < 8; ++j) {
      const unsigned p = position(t, j, low);
      if (p >= limit) continue;
      finish<kGentlemanSande>(registers[t][j], pass);
      registers[t][j].store(pass.data + address(pass, block, p));
    }
  }
}

void run(Values& values, unsigned k, bool inverse, bool coset) {
  const DevicePlan plan(k);
  const Tables tables = make_tables(plan, inverse, coset);
  const auto passes = plan.passes();
  for (size_t i = 0; i < passes.size(); ++i) {
    const DevicePass& cut = passes[inverse ? passes.size() - 1 - i : i];
    const bool last = i + 1 == passes.size();
    PassArguments pass{};
    pass.data = values.data();
    pass.tables = tables.view();
    pass.log2_size = k;
    pass.first_level = cut.first_level;
    pass.levels = cut.levels;
    pass.trivial = cut.first_level == 0 && cut.levels >= 3 && !coset;
    pass.reduce = last;
    pass.scale_bits = 0;  // its host form inverts for each element
    const bool generate = plan.generates() && cut.first_level >= plan.table_levels();
    for (unsigned block = 0; block < (k < kTileLog2 ? 1U : 1U << (k - kTileLog2)); ++block) {
      if (inverse) {
        generate ? run_block<true, true>(pass, block) : run_block<true, false>(pass, block);
      } else {
        generate ? run_block<false, true>(pass, block) : run_block<false, false>(pass, block);
      }
    }
  }
}

void compare(unsigned k, bool coset) {
  const Domain domain(k);
  const Values coefficients = random_values(domain.size(), k);
  Values expected = coefficients, values = coefficients;
  coset ? domain.coset_forward(expected) : domain.forward(expected);
  run(values, k, false, coset);
  bit_reverse(expected.data(), k);
  ASSERT_TRUE(values == expected) << k << " coset " << coset;
  run(values, k, true, coset);
  const Fr m = Fr::from_u64(domain.size());
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], coefficients[i] * m) << k << " " << i;
}

// quotient * r + (w * 2^256 mod r) = w * 2^256.
TEST(PreparedTwiddle, QuotientIsExact) {
  Values factors = random_values(100, 1);
  factors.insert(factors.end(), {Fr::zero(), Fr::one(), -Fr::one(), fr_root_of_unity()});
  for (const Fr& w : factors) {
    const PreparedTwiddle prepared = prepare_twiddle(w);
    std::array<uint64_t, 8> sum{};
    std::copy(w.montgomery().begin(), w.montgomery().end(), sum.begin());
    for (size_t i = 0; i < 4; ++i) {
      unsigned __int128 carry = 0;
      for (size_t j = 0; j < 4; ++j) {
        carry += static_cast<unsigned __int128>(prepared.quotient[i]) * Fr::kModulus[j] + sum[i + j];
        sum[i + j] = static_cast<uint64_t>(carry);
        carry >>= 64;
      }
      for (size_t j = i + 4; j < 8; ++j) {
        carry += sum[j];
        sum[j] = static_cast<uint64_t>(carry);
        carry >>= 64;
      }
    }
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(sum[i], 0U);
      EXPECT_EQ(sum[i + 4], w.to_plain()[i]);
    }
  }
}

TEST(NttPlan, CoversEveryLevelOnceInPassesThatFit) {
  for (unsigned k = 0; k <= DevicePlan::kMaxLog2Size; ++k) {
    const DevicePlan plan(k);
    unsigned level = 0;
    for (const DevicePass& pass : plan.passes()) {
      EXPECT_EQ(pass.first_level, level);
      EXPECT_LE(pass.levels, kTileLog2);
      level += pass.levels;
      // Neighbouring columns enough for a tile, except in the last pass.
      if (level < k) {
        EXPECT_GE(k - level, kTileLog2 - pass.levels) << k;
      }
    }
    EXPECT_EQ(level, k);
    EXPECT_EQ(plan.generates(), k > kMaxTableLog2);
    if (plan.generates()) {
      EXPECT_EQ(plan.passes().back().first_level, plan.table_levels());
      EXPECT_LE(plan.table_levels(), 19U);
      EXPECT_EQ(plan.passes().back().levels, kGeneratedLevels);
    } else {
      EXPECT_EQ(plan.table_levels(), k);
    }
  }
}

TEST(NttKernels, EverySlotIsUsedOnceAndElementsAreCoveredOnce) {
  for (unsigned low = 0; low <= kMemoryLow; ++low) {
    std::vector<int> seen(size_t{1} << kTileLog2);
    for (unsigned t = 0; t < kPassThreads; ++t) {
      for (unsigned j = 0; j < 8; ++j) ++seen[slot(position(t, j, low))];
    }
    for (const int count : seen) ASSERT_EQ(count, 1) << low;
    // Eight neighbouring threads meet eight banks of 16 bytes.
    for (unsigned t = 0; t < kPassThreads; t += 8) {
      for (unsigned j = 0; j < 8; ++j) {
        unsigned banks = 0;
        for (unsigned i = 0; i < 8; ++i) banks |= 1U << (slot(position(t + i, j, low)) & 7);
        ASSERT_EQ(banks, 0xffU) << low;
      }
    }
  }
}

TEST(NttKernels, EqualTheCpuForm) {
  for (unsigned k = 0; k <= 14; ++k) {
    for (const bool coset : {false, true}) compare(k, coset);
  }
}
// Two passes of a tile each way, and the smallest that generates twiddles, in two and three passes.
TEST(NttKernels, EqualTheCpuFormWhereTwiddlesAreGenerated) {
  for (const bool coset : {false, true}) compare(19, coset);
  compare(21, true);
}

}  // namespace
}  // namespace cuzk::ntt
