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
  EXPECT_EQ(progress_line({.part = "static-best",
                           .part_index = 2,
                           .part_count = 6,
                           .done = 0.5,
                           .elapsed = seconds(72),
                           .left = seconds(130)}),
            "static-best  3/6  [############............]  50 %  1:12, about 2:10 left");
  EXPECT_EQ(progress_line({.part = "fixed", .done = std::nan("")}).substr(18, 26), "[........................]");
  EXPECT_NE(progress_line({.part = "fixed", .done = 7}).find("100 %"), std::string::npos);
  EXPECT_LE(progress_line({.part = "static-best with 12 GPUs  ",
                           .part_index = 12,
                           .part_count = 13,
                           .done = 1,
                           .elapsed = seconds(3599),
                           .left = seconds(3599)})
                .size(),
            79U);
}

TEST(ProgressText, IsALineOfWords) {
  EXPECT_EQ(progress_text({.part = "static-best with 3 GPUs   ",
                           .part_index = 2,
                           .part_count = 6,
                           .done = 0.5,
                           .elapsed = seconds(72),
                           .left = seconds(5)}),
            "berth: static-best with 3 GPUs, 3 of 6: 50 %; 1:12 so far, about 0:05 left");
  EXPECT_EQ(progress_text({.part = "plan"}), "berth: plan, 1 of 1: 0 %; 0:00 so far");
}

/// What `draw` leaves on a stream.
template <class Draw>
std::string drawn_by(bool is_terminal, Draw&& draw) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  draw(ProgressOutput{.stream = stream, .is_terminal = is_terminal});
  std::fclose(stream);
  std::string drawn(text, size);
  std::free(text);
  return drawn;
}

TEST(ProgressBar, DrawsAtMostTenTimesASecondAndClearsItsLine) {
  milliseconds now(0);
  const std::string drawn = drawn_by(true, [&](ProgressOutput output) {
    ProgressBar bar(output, 1, [&now] { return now; });
    for (; now < seconds(1); now += milliseconds(1)) bar.show("fixed", 0, 0.1);
  });
  std::size_t drawings = 0;
  for (std::size_t at = drawn.find("fixed"); at != std::string::npos; at = drawn.find("fixed", at + 1)) ++drawings;
  EXPECT_EQ(drawings, 10U);
  EXPECT_TRUE(drawn.ends_with("\r\033[K"));
}

TEST(ProgressBar, WritesALineEachTenSecondsWithoutATerminal) {
  milliseconds now(5'000);
  const std::string drawn = drawn_by(false, [&](ProgressOutput output) {
    ProgressBar bar(output, {1.0, 3.0}, [&now] { return now; });
    for (int second = 0; second <= 20; ++second) {
      if (second == 3) bar.note("a found row");
      if (second == 10) bar.note("another");
      bar.show(second < 10 ? "a" : "b", second < 10 ? 0 : 1, second % 10 / 10.0);
      now += seconds(1);
    }
  });
  EXPECT_EQ(drawn,
            "a found row\nanother\nberth: b, 2 of 2: 0 %; 0:10 so far, about 0:30 left\n"
            "berth: b, 2 of 2: 0 %; 0:20 so far, about 1:00 left\n");
}

TEST(ProgressBar, ShortWorkIsSilentWithoutATerminal) {
  milliseconds now(0);
  EXPECT_EQ(drawn_by(false,
                     [&](ProgressOutput output) {
                       ProgressBar bar(output, 1, [&now] { return now; });
                       bar.note("a found row");
                       for (; now < seconds(10); now += milliseconds(100)) bar.show("a", 0, 0.5);
                     }),
            "");
}

TEST(ProgressBar, ResultsStandAboveTheLineOfATerminal) {
  milliseconds now(0);
  const std::string drawn = drawn_by(true, [&](ProgressOutput output) {
    ProgressBar bar(output, 2, [&now] { return now; });
    bar.show("a", 0, 0.5);
    bar.note("a found row");
    now = seconds(4);
    bar.show("b", 1, 0);
  });
  EXPECT_EQ(drawn,
            "\r\033[Ka            1/2  [############............]  50 %  0:00\r\033[Ka found row\n"
            "\r\033[Kb            2/2  [........................]   0 %  0:04, about 0:04 left\r\033[K");
}

TEST(ProgressBar, DrawsNothingWithoutAStream) {
  ProgressBar bar({}, 1, [] { return milliseconds(0); });
  bar.show("fixed", 0, 0.5);
  bar.note("x");
  bar.clear();
}

}  // namespace
}  // namespace berth::cli
