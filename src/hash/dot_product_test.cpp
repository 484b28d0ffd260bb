#include "hash/dot_product.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cuzk {
namespace {

Fr sum_of_products(const std::vector<Fr>& a, const std::vector<Fr>& b, size_t stride) {
  Fr sum = Fr::zero();
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i * stride];
  return sum;
}

TEST(DotProduct, EqualsSumOfProducts) {
  std::mt19937_64 random(7);
  auto element = [&] {
    Fr::Limbs limbs;
    do {
      for (auto& l : limbs) l = random();
      limbs[3] >>= 1;
    } while (!limbs::less(limbs, Fr::kModulus));
    return Fr::from_montgomery(limbs);
  };
  for (size_t count = 0; count <= 64; ++count) {
    for (const size_t stride : {1, 3}) {
      for (int round = 0; round < 20; ++round) {
        std::vector<Fr> a(count), b(count * stride);
        for (Fr& x : a) x = element();
        for (Fr& x : b) x = element();
        ASSERT_EQ(detail::dot_product(a.data(), b.data(), stride, count), sum_of_products(a, b, stride)) << count;
      }
    }
  }
}

// The largest stored values make the largest sum before the reduction; products that cancel give zero.
TEST(DotProduct, Extremes) {
  Fr::Limbs limbs = Fr::kModulus;
  limbs[0] -= 1;
  const Fr largest = Fr::from_montgomery(limbs);
  for (size_t count = 0; count <= 64; ++count) {
    const std::vector<Fr> top(count, largest), ones(count, Fr::one()), zeros(count);
    EXPECT_EQ(detail::dot_product(top.data(), top.data(), 1, count), sum_of_products(top, top, 1));
    EXPECT_EQ(detail::dot_product(top.data(), ones.data(), 1, count), sum_of_products(top, ones, 1));
    EXPECT_TRUE(detail::dot_product(top.data(), zeros.data(), 1, count).is_zero());
    if (count % 2 == 0 && count > 0) {
      std::vector<Fr> cancel(count, largest);
      for (size_t i = 0; i < count; i += 2) cancel[i] = -largest;
      EXPECT_TRUE(detail::dot_product(cancel.data(), top.data(), 1, count).is_zero());
    }
  }
}

}  // namespace
}  // namespace cuzk
