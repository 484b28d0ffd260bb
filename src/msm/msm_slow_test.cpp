// Sizes at which several segments of windows, chunks and threads come into play.
#include <gtest/gtest.h>

#include <numeric>

#include "msm/msm.hpp"
#include "msm/msm_test_support.hpp"
#include "msm/msm_tuning.hpp"

namespace cuzk {
namespace {

using namespace msm_test;

template <class C>
void expect_known_sum(const Points<C>& points, const Scalars& logs, const Scalars& scalars, const char* what) {
  Fr log;
  for (size_t i = 0; i < logs.size(); ++i) log += logs[i] * scalars[i];
  EXPECT_EQ(msm<C>(points, scalars), Jacobian<C>::from_affine(C::generator()).mul(log)) << what;
}

template <class C>
void every_distribution(size_t n) {
  const Scalars logs = make_scalars(n, Distribution::kUniform, n);
  Points<C> points(n);
  FixedBase<C>(C::generator(), n).multiply(logs, points);
  for (const Distribution d : kDistributions) expect_known_sum<C>(points, logs, make_scalars(n, d, 1), name(d));
}

TEST(MsmSlow, G1) { every_distribution<G1Curve>((1 << 18) + 3); }
TEST(MsmSlow, G2) { every_distribution<G2Curve>((1 << 16) - 1); }

TEST(MsmSlow, Portable) {
  const Arithmetic arithmetic(true);
  every_distribution<G1Curve>(1 << 16);
}

TEST(MsmSlow, MoreThanOneSegment) {
  const size_t n = msm_tuning::kSegment + 1;
  const Scalars logs = make_scalars(n, Distribution::kUniform, 5), scalars = make_scalars(n, Distribution::kUniform, 6);
  Points<G1Curve> points(n);
  FixedBase<G1Curve>(G1Curve::generator(), n).multiply(logs, points);
  expect_known_sum<G1Curve>(points, logs, scalars, "two segments");
  BitVector bits(n);
  Fr log;
  for (size_t i = 0; i < n; i += 1 + (i * i) % 3) bits.set(i), log += logs[i];
  EXPECT_EQ(sum_selected<G1Curve>(points, bits), Jacobian<G1Curve>::from_affine(G1Curve::generator()).mul(log));
}

}  // namespace
}  // namespace cuzk
