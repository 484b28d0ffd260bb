#include <gtest/gtest.h>

#include "field/fp.hpp"
#include "field/fr.hpp"

namespace cuzk {
namespace {

template <class F>
class PrimeFieldTest : public testing::Test {};
using Fields = testing::Types<Fr, Fp>;
TYPED_TEST_SUITE(PrimeFieldTest, Fields);

TYPED_TEST(PrimeFieldTest, InverseTimesSelfIsOne) {
  using F = TypeParam;
  for (uint64_t v : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{0xffffffffffffffff}}) {
    const F x = F::from_u64(v);
    EXPECT_EQ(x * x.inverse(), F::one());
    EXPECT_EQ((-x) * x.inverse(), -F::one());
  }
  EXPECT_TRUE(F::zero().inverse().is_zero());
}

TYPED_TEST(PrimeFieldTest, BytesRefuseTheModulus) {
  using F = TypeParam;
  std::array<uint8_t, F::kBytes> bytes{};
  for (size_t i = 0; i < F::kBytes; ++i) bytes[i] = static_cast<uint8_t>(F::kModulus[i / 8] >> (8 * (i % 8)));
  EXPECT_FALSE(F::from_bytes_le(bytes).has_value());
  bytes[0] -= 1;
  EXPECT_EQ(*F::from_bytes_le(bytes), -F::one());
}

TEST(Fr, RootOfUnityHasOrderTwoToThe32) {
  Fr x = fr_root_of_unity();
  for (int i = 0; i < 31; ++i) x = x.square();
  EXPECT_EQ(x, -Fr::one());
}

}  // namespace
}  // namespace cuzk
