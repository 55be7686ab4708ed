#include "scheduling/jobs/censored_quantile.h"

#include <gtest/gtest.h>

namespace berth::sched {
namespace {

TEST(CensoredQuantile, IsTheUsualOneOfCompleteValues) {
  EXPECT_EQ(censored_quantile({{4}, {1}, {3}, {2}}, 0.5), 2);
  EXPECT_EQ(censored_quantile({{4}, {1}, {3}, {2}}, 0.75), 3);
  EXPECT_EQ(censored_quantile({{4}, {1}, {3}, {2}}, 0.9), 4);
}

TEST(CensoredQuantile, ValuesThatWillBeLargerShiftIt) {
  // Of 1, at least 2, 3, 4: 3/4 exceed 1, half of these exceed 3.
  EXPECT_EQ(censored_quantile({{1}, {2, false}, {3}, {4}}, 0.5), 3);
  EXPECT_EQ(censored_quantile({{1}, {2, false}, {3}, {4}}, 0.7), 4);
  EXPECT_EQ(censored_quantile({{2}, {2, false}}, 0.5), 2) << "of equal values the complete one comes first";
}

TEST(CensoredQuantile, ThatIsNeverReachedIsTheLargestSeen) {
  EXPECT_EQ(censored_quantile({{1}, {5, false}}, 0.9), 5);
  EXPECT_EQ(censored_quantile({{5, false}}, 0.9), std::nullopt);
  EXPECT_EQ(censored_quantile({}, 0.5), std::nullopt);
}

}  // namespace
}  // namespace berth::sched
