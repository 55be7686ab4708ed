#include "base/core/text.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Text, ErrorsSayWhere) {
  const Error error = error_at("a.csv", {.line = 3, .column = 7}, "wanted x");
  EXPECT_EQ(error.message, "a.csv:3:7: wanted x");
  EXPECT_EQ(error.code, ErrorCode::kInvalidInput);
}

TEST(Text, QuotesWhatIsNotPrintable) {
  EXPECT_EQ(in_quotes("plain"), "\"plain\"");
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes(std::string_view("a\0b\x1b\n\x7f", 6)), "\"a\\x00b\\x1b\\x0a\\x7f\"");
  EXPECT_EQ(in_quotes("gr\xC3\xBC\xC3\x9F"), "\"gr\xC3\xBC\xC3\x9F\"");
  EXPECT_EQ(in_quotes("\xFFz"), "\"?z\"");
}

TEST(Text, QuotesCutLongText) {
  const std::string just_fits(48, 'x');
  EXPECT_EQ(in_quotes(just_fits), "\"" + just_fits + "\"");
  EXPECT_EQ(in_quotes(just_fits + "y"), "\"" + just_fits + "...\"");
  // Truncation inside a sequence must not leave half of it.
  EXPECT_EQ(find_bad_utf8(in_quotes(std::string(47, 'x') + "\xC3\xBC")), std::string::npos);
}

std::vector<std::string> lines_of(std::string_view text) {
  LineReader reader(text);
  std::vector<std::string> lines;
  while (reader.next()) lines.emplace_back(reader.line());
  return lines;
}

TEST(Text, HintsAtTheNearestWord) {
  constexpr std::string_view kKnown[] = {"latency_ms", "tenant", "name"};
  EXPECT_EQ(spelling_hint("latency", kKnown), "; did you mean latency_ms?");
  EXPECT_EQ(spelling_hint("nmae", kKnown), "; did you mean name?");
  EXPECT_EQ(spelling_hint("window", kKnown), "");
  EXPECT_EQ(spelling_hint(std::string(100, 'n'), kKnown), "");
}

TEST(LineReader, WalksOverLines) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("a"), Lines{"a"});
  EXPECT_EQ(lines_of("a\n"), Lines{"a"});
  EXPECT_EQ(lines_of("\n"), Lines{""});
  EXPECT_EQ(lines_of("a\r\nb\n\nc"), (Lines{"a", "b", "", "c"}));
  EXPECT_EQ(lines_of("\xEF\xBB\xBF"
                     "a\nb"),
            (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("a\rb\n"), Lines{"a\rb"});
}

TEST(LineReader, KnowsWhatIsLeft) {
  LineReader reader("a\nb\n \t\r\n\n");
  EXPECT_EQ(reader.number(), 0U);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.number(), 1U);
  EXPECT_FALSE(reader.is_rest_blank());
  ASSERT_TRUE(reader.next());
  EXPECT_TRUE(reader.is_rest_blank());
  EXPECT_TRUE(is_blank(" \t"));
  EXPECT_FALSE(is_blank(" x"));
}

struct RowCase {
  std::string_view row;
  std::vector<std::pair<std::string_view, std::size_t>> fields;
};

TEST(SplitRow, GivesFieldsWithTheirColumns) {
  const std::vector<RowCase> cases = {
      {"", {{"", 1}}},
      {"a", {{"a", 1}}},
      {"a,b", {{"a", 1}, {"b", 3}}},
      {"a, b ,c", {{"a", 1}, {"b", 4}, {"c", 7}}},
      {",", {{"", 1}, {"", 2}}},
      {"\"a,b\",c", {{"a,b", 2}, {"c", 7}}},
      {" \"x\" ,y", {{"x", 3}, {"y", 7}}},
      {"\"\"", {{"", 2}}},
  };
  for (const RowCase& each : cases) {
    const auto fields = split_row(each.row, 4);
    ASSERT_TRUE(fields.has_value()) << each.row;
    ASSERT_EQ(fields->size(), each.fields.size()) << each.row;
    for (std::size_t i = 0; i < fields->size(); ++i) {
      EXPECT_EQ((*fields)[i].text, each.fields[i].first) << each.row;
      EXPECT_EQ((*fields)[i].column, each.fields[i].second) << each.row;
    }
  }
}

TEST(SplitRow, SaysWhatIsWrong) {
  struct FaultCase {
    std::string_view row;
    std::size_t column;
    std::string_view message;
  };
  const std::vector<FaultCase> cases = {
      {"a,b,c", 1, "wanted at most 2 fields, found more"},
      {"a,\"b", 3, "wanted a closing quote, found the end of the line"},
      {"\"a\"b,c", 4, R"(wanted a comma after the closing quote, found "b")"},
      {"\"a\" \tb ,c", 6, R"(wanted a comma after the closing quote, found "b")"},
      {"a,\"b\"\"c\"", 6, R"(wanted a comma after the closing quote, found ""c"")"},
  };
  for (const FaultCase& each : cases) {
    const auto fields = split_row(each.row, 2);
    ASSERT_FALSE(fields.has_value()) << each.row;
    EXPECT_EQ(fields.error().column, each.column) << each.row;
    EXPECT_EQ(fields.error().message, each.message) << each.row;
  }
}

TEST(Utf8, FindsTheFirstBadByte) {
  const std::vector<std::pair<std::string_view, std::size_t>> cases = {
      {"", std::string::npos},
      {"ascii", std::string::npos},
      {"\xC3\xBC", std::string::npos},
      {"\xE2\x82\xAC", std::string::npos},
      {"\xF0\x9F\x98\x80", std::string::npos},
      {"\xF4\x8F\xBF\xBF", std::string::npos},
      {std::string_view("a\0", 2), 1},
      {"a\x80", 1},
      {"\xC0\x80", 0},          // overlong
      {"\xC1\xBF", 0},          // overlong
      {"\xE0\x80\x80", 0},      // overlong
      {"\xF0\x80\x80\x80", 0},  // overlong
      {"\xED\xA0\x80", 0},      // a surrogate
      {"\xF4\x90\x80\x80", 0},  // above U+10FFFF
      {"\xF5\x80\x80\x80", 0},
      {"ab\xE2\x82", 2},  // cut
      {"\xE2\x28\xA1", 0},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(find_bad_utf8(text), wanted) << in_quotes(text);
}

TEST(ParseCount, ReadsDigitsUpToALimit) {
  EXPECT_EQ(parse_count("0", 10), 0);
  EXPECT_EQ(parse_count("10", 10), 10);
  EXPECT_EQ(parse_count("000", 10), 0);
  EXPECT_EQ(parse_count("9223372036854775807", INT64_MAX), INT64_MAX);
  for (const std::string_view text :
       {"", "11", "-1", "+1", "1.0", " 1", "9223372036854775808", "99999999999999999999", "a"}) {
    const auto result = parse_count(text, 10);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().message, "wanted a whole number from 0 to 10, found \"" + std::string(text) + "\"");
  }
}

}  // namespace
}  // namespace berth
