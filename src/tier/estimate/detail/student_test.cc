#include "tier/estimate/detail/student.h"

#include <gtest/gtest.h>

namespace berth::tier {
namespace {

TEST(Student, QuantilesOfThePrintedTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_quantile(0.95, 2), 2.91999, 1e-5);
  EXPECT_NEAR(student_quantile(0.975, 3), 3.18245, 1e-5);
  EXPECT_NEAR(student_quantile(0.9, 5), 1.47588, 1e-5);
  EXPECT_NEAR(student_quantile(0.995, 10), 3.16927, 1e-5);
  EXPECT_NEAR(student_quantile(0.025, 30), -2.04227, 1e-5);
}

TEST(Student, DistributionAndQuantileAreInverse) {
  for (int degrees = 1; degrees <= 30; ++degrees) {
    EXPECT_NEAR(student_cdf(0, degrees), 0.5, 1e-12);
    for (const double share : {0.001, 0.2, 0.5, 0.77, 0.9999}) {
      EXPECT_NEAR(student_cdf(student_quantile(share, degrees), degrees), share, 1e-9);
    }
  }
}

}  // namespace
}  // namespace berth::tier
