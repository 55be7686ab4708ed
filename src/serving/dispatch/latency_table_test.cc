#include "serving/dispatch/latency_table.h"

#include <gtest/gtest.h>

namespace berth::serving {
namespace {

TEST(LatencyTable, FindsTheMostRowsWithinALimit) {
  const LatencyTable table({Micros(10), Micros(12), Micros(20)});
  EXPECT_EQ(table.rows_max(), 3);
  EXPECT_EQ(table.at(2), Micros(12));
  EXPECT_EQ(table.rows_within(Micros(9)), 0);
  EXPECT_EQ(table.rows_within(Micros(10)), 1);
  EXPECT_EQ(table.rows_within(Micros(19)), 2);
  EXPECT_EQ(table.rows_within(Micros(1000)), 3);
}

TEST(LatencyTable, ALargerBatchMayBeFaster) {
  const LatencyTable table({Micros(10), Micros(30), Micros(15)});
  EXPECT_EQ(table.rows_within(Micros(14)), 1);
  EXPECT_EQ(table.rows_within(Micros(15)), 3);
}

}  // namespace
}  // namespace berth::serving
