// What the sums of this module really allocate, against what they say.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <thread>

#include "msm/msm.hpp"
#include "msm/msm_test_support.hpp"
#include "parallel/parallel.hpp"
#include "support/allocations.hpp"

namespace cuzk {
namespace {

// Never more than said, and nearly that much: what is said decides which proofs run side by side. Below a few
// megabytes the fixed part of a worker, which differs between the two forms, is most of it; and where this machine has
// fewer processors than threads were asked for, oneTBB makes fewer.
void expect_close(size_t taken, uint64_t said) {
  EXPECT_LE(taken, said);
  if (said > (size_t{8} << 20) && parallel_threads() <= std::thread::hardware_concurrency()) {
    EXPECT_GE(static_cast<double>(taken), 0.8 * static_cast<double>(said));
  }
}

template <class Curve>
std::vector<Affine<Curve>> some_bases(size_t count) {
  std::vector<Affine<Curve>> out(count);
  Jacobian<Curve> point = Jacobian<Curve>::from_affine(Curve::generator());
  for (size_t i = 0; i < std::min<size_t>(count, 64); ++i, point = point.dbl()) out[i] = point.to_affine();
  for (size_t i = 64; i < count; ++i) out[i] = out[i % 64];
  return out;
}

class Memory : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override { set_parallel_threads(GetParam()); }
  void TearDown() override { set_parallel_threads(before_); }

 private:
  const size_t before_ = parallel_threads();
};

template <class Curve>
void check_sums(size_t count) {
  std::mt19937_64 rng(count);
  const auto bases = some_bases<Curve>(count);
  std::vector<Fr> scalars(count);
  for (Fr& s : scalars) s = msm_test::random_fr(rng);
  BitVector bits(count);
  for (uint64_t& word : bits.words()) word = ~uint64_t{0};
  if (count % 64 != 0) bits.words().back() = (uint64_t{1} << count % 64) - 1;
  SCOPED_TRACE(std::to_string(count) + " on " + Curve::kName);
  const size_t threads = parallel_threads();
  expect_close(test::peak_of([&] { msm<Curve>(bases, scalars); }), msm_scratch_bytes<Curve>(count, threads));
  expect_close(test::peak_of([&] { sum_selected<Curve>(bases, bits); }),
               sum_selected_scratch_bytes<Curve>(count, threads));
}

TEST_P(Memory, Sums) {
  for (const size_t count : {1, 8, 63, 1000, 30000, 200000}) {
    check_sums<G1Curve>(count);
    if (count < 100000) check_sums<G2Curve>(count);
  }
}

template <class Curve>
void check_fixed_base(size_t expected, size_t count) {
  SCOPED_TRACE(std::to_string(expected) + " on " + Curve::kName);
  const size_t threads = parallel_threads();
  std::optional<FixedBase<Curve>> base;
  expect_close(test::peak_of([&] { base.emplace(Curve::generator(), expected); }),
               FixedBase<Curve>::making_bytes(expected, threads));
  const size_t held = test::allocated_bytes;
  const std::vector<Fr> scalars(count, -Fr::from_u64(2).inverse());
  std::vector<Affine<Curve>> out(count);
  expect_close(test::peak_of([&] { base->multiply(scalars, out); }),
               FixedBase<Curve>::multiply_scratch_bytes(expected, count, threads));
  const size_t before = test::allocated_bytes;
  base.reset();
  EXPECT_NEAR(static_cast<double>(before - test::allocated_bytes),
              static_cast<double>(FixedBase<Curve>::table_bytes(expected)), 8192);
  EXPECT_GT(held, 0u);
}

TEST_P(Memory, FixedBase) {
  check_fixed_base<G1Curve>(1, 1);
  check_fixed_base<G1Curve>(5'000'000, 3000);
  check_fixed_base<G2Curve>(1000, 3000);
}

INSTANTIATE_TEST_SUITE_P(Threads, Memory, testing::Values(1, 2, 7));

// Sums of the prover's sizes: a segment's bookkeeping, not its bases, so the memory of longer ones does not grow.
TEST(MsmScratch, IsBounded) {
  for (const size_t threads : {1, 2, 16, 128}) {
    for (unsigned log2 = 0; log2 <= 30; ++log2) {
      for (const size_t count : {(size_t{1} << log2) - 1, size_t{1} << log2, (size_t{1} << log2) + 1}) {
        EXPECT_LT(msm_scratch_bytes<G1Curve>(count, threads), uint64_t{340'000'000} + threads * 8'000'000);
        EXPECT_LT(msm_scratch_bytes<G2Curve>(count, threads), uint64_t{370'000'000} + threads * 8'000'000);
      }
    }
  }
}

}  // namespace
}  // namespace cuzk
