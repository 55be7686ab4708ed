#include "surface/report/schedule_view.h"

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

TEST(ScheduleView, NamesAreShortenedByCharactersAndEscaped) {
  EXPECT_EQ(short_name("vision", 6), "vision");
  EXPECT_EQ(short_name("language", 6), "langu…");
  EXPECT_EQ(short_name("<b>", 9), "&lt;b&gt;");
  EXPECT_EQ(short_name("größe", 5), "\u2068größe\u2069");
  EXPECT_EQ(short_name("größer", 5), "\u2068größ\u2069…");
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
