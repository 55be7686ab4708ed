#include "base/core/month.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Month, IsReadAndWritten) {
  for (const char* text : {"1970-01", "1999-12", "2026-11", "2100-02", "9999-12"}) {
    const auto month = Month::parse(text);
    ASSERT_TRUE(month) << text;
    EXPECT_EQ(month->to_string(), text);
  }
  for (const char* text : {"", "2026", "2026-13", "2026-00", "2026-1", "2026-011", "1969-12", "2026/11", "2026-11-"}) {
    EXPECT_FALSE(Month::parse(text)) << text;
  }
  EXPECT_EQ(Month::parse("x").error().message, "wanted a month such as 2026-11, found \"x\"");
}

TEST(Month, BeginsAndEndsAtMidnight) {
  const Month november = *Month::parse("2026-11");
  EXPECT_EQ(november.begin_us(), 1'793'491'200'000'000);
  EXPECT_EQ(november.day_count(), 30);
  EXPECT_EQ(november.end_us(), november.next().begin_us());
  EXPECT_EQ(Month::of(november.begin_us()), november);
  EXPECT_EQ(Month::of(november.end_us() - 1), november);
  EXPECT_EQ(Month::of(november.end_us()), november.next());
  EXPECT_EQ(Month::parse("2024-02")->day_count(), 29);
  EXPECT_EQ(Month::parse("2100-02")->day_count(), 28);
}

TEST(Month, DaysBeginAtMidnight) {
  EXPECT_EQ(day_of(0), 0);
  EXPECT_EQ(day_of(kMicrosPerDay - 1), 0);
  EXPECT_EQ(day_of(kMicrosPerDay), 1);
}

}  // namespace
}  // namespace berth
