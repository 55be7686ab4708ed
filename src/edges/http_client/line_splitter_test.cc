#include "edges/http_client/detail/line_splitter.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::edges::detail {
namespace {

using State = LineSplitter::State;

TEST(LineSplitter, PiecesOfAnySizeGiveTheSameLines) {
  const std::string text = "one\r\n\ntwo\rx\nthree\n\r\nrest";
  const std::vector<std::string> wanted = {"one", "", "two\rx", "three", ""};
  for (std::size_t size = 1; size <= text.size(); ++size) {
    LineSplitter splitter(100);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += size) {
      const auto take = [&](std::string_view line) {
        lines.emplace_back(line);
        return true;
      };
      EXPECT_EQ(splitter.add(std::string_view(text).substr(at, size), take), State::kGoesOn);
    }
    EXPECT_EQ(lines, wanted) << size;
  }
}

TEST(LineSplitter, StopsWhereTheTakerWantsAndAtLinesThatAreTooLong) {
  int count = 0;
  const auto take_two = [&](std::string_view) { return ++count < 2; };
  EXPECT_EQ(LineSplitter(10).add("a\nb\nc\n", take_two), State::kStopped);
  EXPECT_EQ(count, 2);
  const auto take = [](std::string_view) { return true; };
  EXPECT_EQ(LineSplitter(3).add("abc\nabc", take), State::kGoesOn);
  EXPECT_EQ(LineSplitter(3).add("abc\nabcd", take), State::kTooLong);
}

}  // namespace
}  // namespace berth::edges::detail
