#include "base/core/duration.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Duration, BecomesWholeMicrosecondsRoundedHalfUp) {
  EXPECT_EQ(micros_from_seconds(Decimal::parse("1.5").value()), Micros(1'500'000));
  EXPECT_EQ(micros_from_seconds(Decimal::parse("0.0000005").value()), Micros(1));
  EXPECT_EQ(micros_from_seconds(Decimal::parse("0.00000049").value()), Micros(0));
  EXPECT_EQ(micros_from_millis(Decimal::parse("12.3456").value()), Micros(12'346));
  EXPECT_EQ(micros_from_millis(Decimal(1, 3)), Micros(333));
}

}  // namespace
}  // namespace berth
