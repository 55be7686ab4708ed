#include "base/core/date.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Date, CountsDaysSince1970) {
  EXPECT_EQ(Date::parse("1970-01-01")->days(), 0);
  EXPECT_EQ(Date::parse("2000-03-01")->days(), 11'017);
  EXPECT_EQ(Date::parse("9999-12-31")->days(), 2'932'896);
}

TEST(Date, IsPrintedAsItIsRead) {
  for (const char* text : {"1970-01-01", "2024-02-29", "2026-07-20", "9999-12-31"}) {
    EXPECT_EQ(Date::parse(text)->to_string(), text);
  }
}

TEST(Date, RefusesWhatIsNoDay) {
  for (const char* text : {"", "2026-7-20", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "1969-12-31",
                           "2026/07/20", "2026-07-20T00:00", "+026-07-20"}) {
    const auto date = Date::parse(text);
    ASSERT_FALSE(date.has_value()) << text;
    EXPECT_NE(date.error().message.find("wanted a date such as 2026-07-20"), std::string::npos);
  }
}

TEST(Date, EarlierDaysAreLess) { EXPECT_LT(*Date::parse("2026-07-31"), *Date::parse("2026-08-01")); }

}  // namespace
}  // namespace berth
