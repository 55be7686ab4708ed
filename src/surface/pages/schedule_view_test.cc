#include "surface/pages/schedule_view.h"

#include <gtest/gtest.h>

namespace berth::report {
namespace {

TEST(ScheduleView, DurationsHaveThreeDigits) {
  EXPECT_EQ(duration_words(0), "0 s");
  EXPECT_EQ(duration_words(64), "64 s");
  EXPECT_EQ(duration_words(119), "119 s");
  EXPECT_EQ(duration_words(936), "15.6 min");
  EXPECT_EQ(duration_words(7'200), "2 h");
  EXPECT_EQ(duration_words(615'526), "7.12 d");
  EXPECT_EQ(duration_words(86'400'000), "1,000 d");
}

TEST(ScheduleView, NamesAreCutOffBetweenCharactersAndEscaped) {
  EXPECT_EQ(short_name("vision", 400), "vision");
  EXPECT_EQ(short_name("language", 400), "lang…");
  EXPECT_EQ(short_name("WWWW", 400), "WW…");
  EXPECT_EQ(short_name("<b>", 400), "&lt;b&gt;");
  EXPECT_EQ(short_name("öööö", 340), "\u2068öööö\u2069");
  EXPECT_EQ(short_name("ööööö", 340), "\u2068öö\u2069…");
  EXPECT_EQ(short_name(" ", 100), "\u2068“ ”\u2069");
}

TEST(ScheduleView, ColoursRepeatUnderPatterns) {
  EXPECT_EQ(tenant_style(7).colour, "t7");
  EXPECT_FALSE(tenant_style(7).pattern);
  EXPECT_EQ(tenant_style(8).colour, "t0");
  EXPECT_EQ(tenant_style(8).pattern, "p0");
  EXPECT_EQ(tenant_style(23).pattern, "p1");
  EXPECT_EQ(tenant_style(std::nullopt).colour, "others");
}

}  // namespace
}  // namespace berth::report
