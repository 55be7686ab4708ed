#include "scheduling/jobs/last_values.h"

#include <gtest/gtest.h>

namespace berth::sched {
namespace {

TEST(LastValues, QuantilesAreByNearestRankOfTheLatest) {
  LastValues values(10);
  for (int i = 1; i <= 10; ++i) values.add(i);
  EXPECT_DOUBLE_EQ(values.quantile(50), 5);
  EXPECT_DOUBLE_EQ(values.quantile(90), 9);
  EXPECT_DOUBLE_EQ(values.quantile(91), 10);
  EXPECT_DOUBLE_EQ(values.quantile(1), 1);
  values.add(100);
  EXPECT_EQ(values.count(), 10U);
  EXPECT_DOUBLE_EQ(values.quantile(1), 2) << "the oldest has gone";
  EXPECT_DOUBLE_EQ(values.quantile(100), 100);
}

TEST(LastValues, OneValueIsEveryQuantile) {
  LastValues values(500);
  values.add(7);
  EXPECT_DOUBLE_EQ(values.quantile(50), 7);
  EXPECT_DOUBLE_EQ(values.quantile(90), 7);
}

}  // namespace
}  // namespace berth::sched
