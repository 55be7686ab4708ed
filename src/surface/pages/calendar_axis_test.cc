#include "surface/pages/calendar_axis.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "base/core/month.h"

namespace berth::report {
namespace {

constexpr std::int32_t kMonday = 20'773;  // 2026-11-16

/// The labels of `days` days from `first` on.
std::vector<std::string> labels(std::int32_t first, double days, CalendarUnit least = CalendarUnit::kHour) {
  const ChartFrame frame;
  const ChartScale x{.first = static_cast<double>(first * kMicrosPerDay),
                     .last = (first + days) * kMicrosPerDay,
                     .at_first = frame.left,
                     .at_last = frame.right};
  const std::string svg = calendar_axis(frame, x, least);
  static const std::regex text(">([^<]+)</text>");
  std::vector<std::string> found;
  for (std::sregex_iterator it(svg.begin(), svg.end(), text); it != std::sregex_iterator(); ++it) {
    found.push_back((*it)[1]);
  }
  return found;
}

TEST(CalendarAxis, LabelsFitTheLength) {
  EXPECT_EQ(labels(kMonday, 0.25),
            (std::vector<std::string>{"16 Nov", "01:00", "02:00", "03:00", "04:00", "05:00", "06:00"}));
  EXPECT_EQ(labels(kMonday, 2), (std::vector<std::string>{"16 Nov", "06:00", "12:00", "18:00", "17 Nov", "06:00",
                                                          "12:00", "18:00", "18 Nov"}));
  EXPECT_EQ(labels(kMonday, 7),
            (std::vector<std::string>{"16 Nov", "17 Nov", "18 Nov", "19 Nov", "20 Nov", "21 Nov", "22 Nov"}));
  EXPECT_EQ(labels(kMonday - 1, 30), (std::vector<std::string>{"16 Nov", "23 Nov", "30 Nov", "7 Dec", "14 Dec"}));
  EXPECT_EQ(labels(kMonday, 200), (std::vector<std::string>{"Dec 2026", "Jan 2027", "Feb 2027", "Mar 2027", "Apr 2027",
                                                            "May 2027", "Jun 2027"}));
  EXPECT_EQ(labels(kMonday, 1500), (std::vector<std::string>{"Jan 2027", "Jul 2027", "Jan 2028", "Jul 2028", "Jan 2029",
                                                             "Jul 2029", "Jan 2030", "Jul 2030"}));
  EXPECT_EQ(labels(10'957, 36'890), (std::vector<std::string>{"2000", "2020", "2040", "2060", "2080", "2100"}));
}

TEST(CalendarAxis, ShowsNothingShorterThanWanted) {
  EXPECT_EQ(labels(kMonday, 1, CalendarUnit::kDay), std::vector<std::string>{"16 Nov"});
  EXPECT_EQ(labels(kMonday, 7, CalendarUnit::kMonth), std::vector<std::string>());
}

TEST(CalendarAxis, DaysHaveShortNames) {
  EXPECT_EQ(day_words(0), "1 Jan");
  EXPECT_EQ(day_words(kMonday + 45), "31 Dec");
}

}  // namespace
}  // namespace berth::report
