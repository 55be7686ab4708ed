#include "base/core/nearest_double.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(NearestDouble, RoundsHalfToEven) {
  EXPECT_EQ(nearest_double(Decimal(1, 3)), 1.0 / 3);
  EXPECT_EQ(nearest_double(Decimal(2, 3)), 2.0 / 3) << "towards 0 would be one less in the last place";
  EXPECT_EQ(nearest_double(Decimal(-2, 3)), -2.0 / 3);
  EXPECT_EQ(nearest_double(Decimal(0)), 0.0);
  EXPECT_EQ(nearest_double(Decimal((std::int64_t{1} << 53) + 1)), 0x1p53) << "half to even";
  EXPECT_EQ(nearest_double(Decimal((std::int64_t{1} << 53) + 3)), 0x1p53 + 4) << "half to even";
  for (int i = 1; i < 200; ++i) EXPECT_EQ(nearest_double(Decimal(i, 7 * i + 3)), i / (7.0 * i + 3)) << i;
}

TEST(NearestDouble, IsWhatAProgramMeansByADecimal) {
  EXPECT_EQ(nearest_double(*Decimal::parse("0.9")), 0.9);
  EXPECT_EQ(nearest_double(*Decimal::parse("0.95")), 0.95);
  EXPECT_LT(Decimal::parse("0.9")->to_double(), 0.9);
}

}  // namespace
}  // namespace berth
