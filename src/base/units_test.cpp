#include "base/units.hpp"

#include <gtest/gtest.h>

namespace cuzk {
namespace {

TEST(Units, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(2687921), "2,687,921");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Units, HumanBytes) {
  EXPECT_EQ(human_bytes(4708), "4,708 bytes");
  EXPECT_EQ(human_bytes(99'999), "99,999 bytes");
  EXPECT_EQ(human_bytes(100'000), "100 kB");
  EXPECT_EQ(human_bytes(1'114'707'768), "1.11 GB");
  EXPECT_EQ(human_bytes(47'373'896'256), "47.4 GB");
  EXPECT_EQ(human_bytes(uint64_t{5} << 60), "5764608 TB");
}

}  // namespace
}  // namespace cuzk
