#include "base/core/clock_text.h"

#include <gtest/gtest.h>

#include <optional>

namespace berth {
namespace {

TEST(WorldEpoch, WritesTimesOfTheWorldInUtc) {
  EXPECT_EQ(WorldEpoch{}.text(Instant()), "1970-01-01T00:00:00.000000Z");
  const WorldEpoch leap_day{951'782'400'000'000};
  EXPECT_EQ(leap_day.text(Instant()), "2000-02-29T00:00:00.000000Z");
  EXPECT_EQ(leap_day.text(Instant(86'399'999'999)), "2000-02-29T23:59:59.999999Z");
  EXPECT_EQ(leap_day.text(Instant(86'400'000'001)), "2000-03-01T00:00:00.000001Z");
  EXPECT_EQ(WorldEpoch{}.text(Instant(-1)), "1969-12-31T23:59:59.999999Z");
}

TEST(WorldEpoch, ReadsTimesOfRfc3339) {
  const WorldEpoch epoch{951'782'400'000'000};  // 2000-02-29
  const auto micros = [&](const char* text) {
    const auto at = epoch.parse(text);
    return at ? std::optional(at->micros()) : std::nullopt;
  };
  EXPECT_EQ(micros("2000-02-29T00:00:00Z"), 0);
  EXPECT_EQ(micros("2000-02-29T00:00:00.000001Z"), 1);
  EXPECT_EQ(micros("2000-02-29T00:00:01.5Z"), 1'500'000);
  EXPECT_EQ(micros("2000-02-29T00:00:01.123456789+00:00"), 1'123'456);
  EXPECT_EQ(micros("2000-02-29T01:00:00+01:00"), 0);
  EXPECT_EQ(micros("2000-02-28T20:29:59.25-03:30"), -250'000 - 500'000);
  EXPECT_EQ(micros("2000-02-29t00:00:00z"), 0);
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{86'399'999'999}, std::int64_t{-1}}) {
    EXPECT_EQ(micros(epoch.text(Instant(at)).c_str()), at);
  }
  for (const char* text :
       {"", "now", "2000-02-29", "2000-02-29T00:00:00", "2001-02-29T00:00:00Z", "2000-02-29T24:00:00Z",
        "2000-02-29T00:60:00Z", "2000-02-29T00:00:60Z", "2000-02-29T00:00:00.Z", "2000-02-29T00:00:00Z ",
        " 2000-02-29T00:00:00Z", "2000-2-29T00:00:00Z", "0000-02-29T00:00:00Z", "2000-02-29T00:00:00+24:00",
        "2000-02-29T00:00:00 00:00", "-200-02-29T00:00:00Z", "2000-13-01T00:00:00Z"}) {
    EXPECT_EQ(micros(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace berth
