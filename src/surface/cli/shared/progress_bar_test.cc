#include "surface/cli/shared/progress_bar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace berth::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ProgressLine, ShowsPolicyShareAndTime) {
  EXPECT_EQ(progress_line(
                {.policy = "static-best", .policy_index = 2, .policy_count = 6, .done = 0.5, .elapsed = seconds(72)}),
            "static-best  3/6  [############............]  50 %  1:12");
  EXPECT_EQ(progress_line({.policy = "fixed", .done = std::nan("")}).substr(18, 26), "[........................]");
  EXPECT_NE(progress_line({.policy = "fixed", .done = 7}).find("100 %"), std::string::npos);
}

TEST(ProgressBar, DrawsAtMostTenTimesASecondAndClearsItsLine) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  milliseconds now(0);
  {
    ProgressBar bar(stream, 1, [&now] { return now; });
    for (; now < seconds(1); now += milliseconds(1)) bar.show("fixed", 0, 0.1);
  }
  std::fclose(stream);
  const std::string drawn(text, size);
  std::free(text);
  std::size_t drawings = 0;
  for (std::size_t at = drawn.find("fixed"); at != std::string::npos; at = drawn.find("fixed", at + 1)) ++drawings;
  EXPECT_EQ(drawings, 10U);
  EXPECT_TRUE(drawn.ends_with("\r\033[K"));
}

TEST(ProgressBar, DrawsNothingWithoutATerminal) {
  ProgressBar bar(nullptr, 1, [] { return milliseconds(0); });
  bar.show("fixed", 0, 0.5);
  bar.clear();
}

}  // namespace
}  // namespace berth::cli
