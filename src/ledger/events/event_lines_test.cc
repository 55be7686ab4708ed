#include "ledger/events/event_lines.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string line_of(std::string_view id) { return fmt::format(R"({{"type":"void","id":"{}","of":"x{}"}})", id, id); }

/// "number@position id of" of each line, then the error, if there is one. Checks each line's own fields.
std::vector<std::string> read_lines(std::string_view text) {
  std::vector<std::string> found;
  EventLines lines(text, "events.jsonl");
  while (true) {
    const Result<bool> has_line = lines.next();
    if (!has_line) {
      found.push_back(has_line.error().message);
      EXPECT_EQ(lines.next(), has_line) << "there is nothing behind an error";
      return found;
    }
    if (!*has_line) {
      EXPECT_EQ(lines.next(), has_line) << "there is nothing behind the end";
      return found;
    }
    const EventLine& line = lines.line();
    EXPECT_EQ(text.substr(line.position, line.text.size()), line.text);
    EXPECT_EQ(line_at(text, line.position), line.text);
    found.push_back(
        fmt::format("{}@{} {} {}", line.number, line.position, line.event.id, std::get<VoidEvent>(line.event.what).of));
  }
}

TEST(EventLines, ReadsLineByLineWithNumbersAndPositions) {
  const std::string a = line_of("a");
  const std::string b = line_of("bb");
  const auto both = ElementsAre("1@0 a xa", fmt::format("2@{} bb xbb", a.size() + 1));
  EXPECT_THAT(read_lines(a + "\n" + b + "\n"), both);
  EXPECT_THAT(read_lines(a + "\n" + b), both);  // the last line needs no end
  EXPECT_THAT(read_lines(a + "\r\n" + b + "\r\n"), ElementsAre("1@0 a xa", fmt::format("2@{} bb xbb", a.size() + 2)));
  EXPECT_THAT(read_lines(a + "\r\n" + b), ElementsAre("1@0 a xa", fmt::format("2@{} bb xbb", a.size() + 2)));
  EXPECT_THAT(read_lines(a + "\n" + b + "\r"), both);
  EXPECT_THAT(read_lines(" " + a + "\t\n"), ElementsAre("1@0 a xa"));
}

TEST(EventLines, AFileMayBeEmpty) {
  EXPECT_THAT(read_lines(""), IsEmpty());
  EXPECT_THAT(read_lines("\xEF\xBB\xBF"), IsEmpty());
  EXPECT_THAT(read_lines("\n"), IsEmpty());
  EXPECT_THAT(read_lines("\xEF\xBB\xBF \t\r\n\n  "), IsEmpty());
}

TEST(EventLines, AByteOrderMarkIsLeftOutOnceAndAtTheFrontOnly) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_THAT(read_lines(mark + line_of("a") + "\n" + line_of("b")), ElementsAre("1@3 a xa", "2@38 b xb"));
  const auto is_refused_in = [](int line) {
    return ::testing::StartsWith(fmt::format("events.jsonl:{}: wanted a JSON object, found \"", line));
  };
  EXPECT_THAT(read_lines(mark + mark + line_of("a")), ElementsAre(is_refused_in(1)));
  EXPECT_THAT(read_lines(line_of("a") + "\n" + mark + line_of("b")), ElementsAre("1@0 a xa", is_refused_in(2)));
}

TEST(EventLines, BlankLinesAreLeftOutAtTheEndAlone) {
  const std::string a = line_of("a");
  for (const std::string end : {"\n\n", "\n\n\n", "\n \t\n\n", "\r\n\r\n \r\n", "\n   "}) {
    EXPECT_THAT(read_lines(a + end), ElementsAre("1@0 a xa"));
  }
  const auto is_refused_in = [](int line) {
    return ::testing::StartsWith(fmt::format("events.jsonl:{}: wanted a JSON object, found \"", line));
  };
  EXPECT_THAT(read_lines("\n" + a), ElementsAre(is_refused_in(1)));
  EXPECT_THAT(read_lines(a + "\n\n" + line_of("b")), ElementsAre("1@0 a xa", is_refused_in(2)));
  EXPECT_THAT(read_lines(a + "\n \t\r\n\n" + line_of("b") + "\n"), ElementsAre("1@0 a xa", is_refused_in(2)));
}

TEST(EventLines, AnErrorNamesFileLineAndKey) {
  const std::string bad = R"({"type":"void","id":"b","of":5})";
  EXPECT_THAT(read_lines(line_of("a") + "\n" + line_of("b") + "\n" + bad + "\n" + line_of("c")),
              ElementsAre("1@0 a xa", "2@35 b xb", "events.jsonl:3: of: wanted a text of at most 128 bytes, found 5"));
  EventLines lines("{", "dir/a file");
  const auto error = lines.next();
  ASSERT_FALSE(error.has_value());
  EXPECT_EQ(error.error().code, ErrorCode::kMalformed);
  EXPECT_THAT(error.error().message, ::testing::StartsWith("dir/a file:1: wanted a JSON object, found \"{\" ("));
  // 4,096 bytes are counted without the end of the line and the mark.
  const std::string longest = line_of("a") + std::string(EventReader::kLineBytesMax - line_of("a").size(), ' ');
  EXPECT_THAT(read_lines("\xEF\xBB\xBF" + longest + "\r\n" + longest + "\r\n"), ElementsAre("1@3 a xa", "2@4101 a xa"));
  EXPECT_THAT(read_lines(longest + " \n"), ElementsAre("events.jsonl:1: wanted at most 4096 bytes, found 4097"));
}

TEST(EventLines, KnowsTheLineAhead) {
  const std::string text = line_of("a") + "\n" + line_of("b") + "\n{\n";
  EventLines lines(text, "f");
  ASSERT_EQ(lines.next(), true);
  EXPECT_EQ(lines.line().event.id, "a");
  ASSERT_NE(lines.ahead(), nullptr);
  EXPECT_EQ(lines.ahead()->event.id, "b");
  EXPECT_EQ(lines.ahead()->number, 2U);
  ASSERT_EQ(lines.next(), true);
  EXPECT_EQ(lines.line().event.id, "b");
  EXPECT_EQ(lines.ahead(), nullptr);  // malformed
  EXPECT_FALSE(lines.next().has_value());
}

TEST(EventLines, LineAtEndsWhereTheLineDoes) {
  EXPECT_EQ(line_at("ab\ncd\r\nef", 0), "ab");
  EXPECT_EQ(line_at("ab\ncd\r\nef", 3), "cd");
  EXPECT_EQ(line_at("ab\ncd\r\nef", 7), "ef");
  EXPECT_EQ(line_at("ab\n", 3), "");
  EXPECT_EQ(line_at("\r\n", 0), "");
}

}  // namespace
}  // namespace berth::ledger
