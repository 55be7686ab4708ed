#include "surface/api/clock_text.h"

#include <gtest/gtest.h>

namespace berth::api {
namespace {

TEST(WorldEpoch, WritesTimesOfTheWorldInUtc) {
  EXPECT_EQ(WorldEpoch{}.text(Instant()), "1970-01-01T00:00:00.000000Z");
  const WorldEpoch leap_day{951'782'400'000'000};
  EXPECT_EQ(leap_day.text(Instant()), "2000-02-29T00:00:00.000000Z");
  EXPECT_EQ(leap_day.text(Instant(86'399'999'999)), "2000-02-29T23:59:59.999999Z");
  EXPECT_EQ(leap_day.text(Instant(86'400'000'001)), "2000-03-01T00:00:00.000001Z");
  EXPECT_EQ(WorldEpoch{}.text(Instant(-1)), "1969-12-31T23:59:59.999999Z");
}

}  // namespace
}  // namespace berth::api
