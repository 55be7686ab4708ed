#include "base/json/document.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/yaml/reader.h"

namespace berth::json {
namespace {

using yaml::List;
using yaml::Map;
using yaml::Node;
using yaml::Scalar;
using yaml::ScalarKind;

std::string repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

Node parsed(std::string_view text) {
  auto root = parse_document(text, "body");
  EXPECT_TRUE(root.has_value()) << root.error().message;
  return root.value_or(Node{});
}

struct GoodCase {
  std::string text;
  std::string value;
  ScalarKind kind;
};

TEST(JsonDocument, ScalarsKeepTheirTextAndKind) {
  const std::vector<GoodCase> cases = {
      {"5", "5", ScalarKind::kNumber},
      {" -0 ", "-0", ScalarKind::kNumber},
      {"0.10", "0.10", ScalarKind::kNumber},
      {"1E+2", "1E+2", ScalarKind::kNumber},
      {"1e-999", "1e-999", ScalarKind::kNumber},
      {"18446744073709551616", "18446744073709551616", ScalarKind::kNumber},
      {"0.1234567890123456789012345678901234567890", "0.1234567890123456789012345678901234567890", ScalarKind::kNumber},
      {"\"5\"", "5", ScalarKind::kText},
      {"\"\"", "", ScalarKind::kText},
      {"\"null\"", "null", ScalarKind::kText},
      {R"("\u00e9\n\"\\\/\ud83d\ude00")", "\u00e9\n\"\\/\U0001F600", ScalarKind::kText},
      {"\"\U0001F600\"", "\U0001F600", ScalarKind::kText},
      {"true", "true", ScalarKind::kTruth},
      {"false", "false", ScalarKind::kTruth},
      {"null", "null", ScalarKind::kNull},
      {"\xEF\xBB\xBF\t\r\n null\n", "null", ScalarKind::kNull},
  };
  for (const GoodCase& good : cases) {
    const Node root = parsed(good.text);
    const auto* scalar = std::get_if<Scalar>(&root.value);
    ASSERT_NE(scalar, nullptr) << good.text;
    EXPECT_EQ(*scalar, (Scalar{good.value, false, good.kind})) << good.text;
    EXPECT_EQ(root.is_null(), good.kind == ScalarKind::kNull) << good.text;
  }
}

TEST(JsonDocument, TextWithNulIsKept) {
  EXPECT_EQ(std::get<Scalar>(parsed(R"("a\u0000b")").value).text, std::string("a\0b", 3));
}

TEST(JsonDocument, EveryValueAndKeyKnowsItsPlace) {
  const Node root = parsed("\n{\"\u00e9\" : [10 ,true,\"x\" , {}, [ ]],\n \"b\":{\"c\":-1.5e3}\n,\"d\":null}");
  const auto& map = std::get<Map>(root.value);
  ASSERT_EQ(map.size(), 3U);
  EXPECT_EQ(root.place, (TextPlace{2, 1}));
  EXPECT_EQ(map[0].key, "\u00e9");
  EXPECT_EQ(map[0].place, (TextPlace{2, 2}));
  EXPECT_EQ(map[0].value.place, (TextPlace{2, 8}));
  const auto& list = std::get<List>(map[0].value.value);
  ASSERT_EQ(list.size(), 5U);
  const std::size_t columns[] = {9, 13, 18, 24, 28};
  for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i].place, (TextPlace{2, columns[i]})) << i;
  EXPECT_TRUE(std::get<Map>(list[3].value).empty());
  EXPECT_TRUE(std::get<List>(list[4].value).empty());
  EXPECT_EQ(map[1].place, (TextPlace{3, 2}));
  EXPECT_EQ(map[1].value.place, (TextPlace{3, 6}));
  EXPECT_EQ(std::get<Map>(map[1].value.value)[0].value.place, (TextPlace{3, 11}));
  EXPECT_EQ(map[2].place, (TextPlace{4, 2}));
  EXPECT_EQ(map[2].value.place, (TextPlace{4, 6}));
}

struct BadCase {
  std::string text;
  std::string message;
};

TEST(JsonDocument, WhatIsNotJsonIsRefusedWithPlaceAndPath) {
  const std::vector<BadCase> cases = {
      {"", "body:1:1: wanted JSON, found the end of the text"},
      {" \n ", "body:2:2: wanted JSON, found the end of the text"},
      {"\xEF\xBB\xBF", "body:1:1: wanted JSON, found the end of the text"},
      {"{\"a\": 1", "body:1:8: a: wanted JSON, found the end of the text"},
      {"[1,]", "body:1:4: [1]: wanted JSON, found \"]\""},
      {"[1 2]", "body:1:4: [1]: wanted JSON, found \"2\""},
      {"{\"a\":1,}", "body:1:8: a: wanted JSON, found \"}\""},
      {"{a:1}", "body:1:2: wanted JSON, found \"a\""},
      {"{'a':1}", "body:1:2: wanted JSON, found \"'\""},
      {"{\"a\" 1}", "body:1:6: a: wanted JSON, found \"1\""},
      {"{\"spec\":{\"rows\":[{},{\"x\":tru}]}}", "body:1:29: spec.rows[1].x: wanted JSON, found \"}\""},
      {"[NaN]", "body:1:2: [0]: wanted JSON, found \"N\""},
      {"[nan]", "body:1:3: [0]: wanted JSON, found \"a\""},
      {"Infinity", "body:1:1: wanted JSON, found \"I\""},
      {"-Infinity", "body:1:2: wanted JSON, found \"I\""},
      {"01", "body:1:2: wanted JSON, found \"1\""},
      {"+1", "body:1:1: wanted JSON, found \"+\""},
      {".5", "body:1:1: wanted JSON, found \".\""},
      {"5.", "body:1:3: wanted JSON, found the end of the text"},
      {"0x10", "body:1:2: wanted JSON, found \"x\""},
      {"1_000", "body:1:2: wanted JSON, found \"_\""},
      {"True", "body:1:1: wanted JSON, found \"T\""},
      {"// c\n1", "body:1:1: wanted JSON, found \"/\""},
      {"1 // c", "body:1:3: wanted JSON, found \"/\""},
      {"{} x", "body:1:4: wanted JSON, found \"x\""},
      {"{} {}", "body:1:4: wanted JSON, found \"{\""},
      {"[\"\n\"]", "body:1:3: [0]: wanted JSON, found \"\\x0a\""},
      {"[\"\\x\"]", "body:1:4: [0]: wanted JSON, found \"x\""},
      {"[\u00e9]", "body:1:2: [0]: wanted JSON, found \"\u00e9\""},
      {"\xEF\xBB\xBF\xEF\xBB\xBF"
       "1",
       "body:1:1: wanted JSON, found a second byte-order mark"},
      {"[1e999]", "body:1:2: [0]: wanted a number in the range of a double, found \"1e999\""},
      {"{\"a\":\n -1.5e400 }", "body:2:2: a: wanted a number in the range of a double, found \"-1.5e400\""},
      {"1" + repeated("0", 400),
       "body:1:1: wanted a number in the range of a double, found \"1" + repeated("0", 47) + "...\""},
      {R"(["\ud800"])", "body:1:9: [0]: wanted surrogates in pairs, found one alone"},
      {R"(["\ud800\u0041"])", "body:1:14: [0]: wanted surrogates in pairs, found one alone"},
      {R"(["\udc00"])", "body:1:8: [0]: wanted surrogates in pairs, found one alone"},
      {"\"surrogate", "body:1:11: wanted JSON, found the end of the text"},
      {"\"\xC3\xA9\xFF\"", "body:1:3: wanted text in UTF-8, found the byte 0xff"},
      {"\"\xED\xA0\x80\"", "body:1:2: wanted text in UTF-8, found the byte 0xed"},
      {"\"\xC0\xAF\"", "body:1:2: wanted text in UTF-8, found the byte 0xc0"},
      {std::string("1\0 x", 4), "body:1:2: wanted text in UTF-8, found the byte 0x00"},
      {"{\"a\":1,\"b\":2,\"a\":3}", "body:1:14: wanted each key once, found \"a\" again"},
      {"{\"s\":[{\"b\":1,\"c\":0,\"c\":1,\"\\u0062\":2}]}", "body:1:20: s[0]: wanted each key once, found \"c\" again"},
      {repeated("[", 65) + repeated("]", 65),
       "body:1:65: " + repeated("[0]", 64) + ": wanted at most 64 levels of nesting, found more"},
      {"{\"" + repeated("k", 100) + "\":x}", "body:1:105: \"" + repeated("k", 48) + "...\": wanted JSON, found \"x\""},
      {"{\"a\\nb\":x}", "body:1:9: \"a\\x0ab\": wanted JSON, found \"x\""},
  };
  for (const BadCase& bad : cases) {
    const auto root = parse_document(bad.text, "body");
    ASSERT_FALSE(root.has_value()) << bad.text;
    EXPECT_EQ(root.error().message, bad.message);
    EXPECT_EQ(root.error().code, ErrorCode::kMalformed) << bad.message;
  }
}

TEST(JsonDocument, LimitsHold) {
  EXPECT_TRUE(parse_document(repeated("[", 64) + "1" + repeated("]", 64), "body").has_value());
  const auto deep = parse_document(repeated("[", 1'000'000), "body");
  EXPECT_EQ(deep.error().code, ErrorCode::kMalformed);
  const auto many = parse_document("[" + repeated("1,", 299'998) + "1]", "body");
  EXPECT_TRUE(many.has_value());
  const auto more = parse_document("[" + repeated("1,", 299'999) + "1]", "body");
  EXPECT_EQ(more.error(),
            (Error{ErrorCode::kInvalidInput, "body:1:600000: [299999]: wanted at most 300000 values, found more"}));
  const auto large = parse_document(std::string(5'000'000, ' '), "body");
  EXPECT_EQ(large.error(), (Error{ErrorCode::kInvalidInput, "body: wanted at most 4194304 bytes, found 5000000"}));
  std::string keys = "{";
  for (int i = 0; i < 200'000; ++i) keys += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(parse_document(keys + "\"7\":0}", "body").error().message.substr(0, 5), "body:");
  EXPECT_TRUE(parse_document(keys + "\"x\":0}", "body").has_value());
}

/// The error of reading a text, or "" if nothing is wrong.
std::string message_of(const std::string& text, const std::function<void(const yaml::Value&)>& read) {
  const auto root = parse_document(text, "f");
  if (!root) return root.error().message;
  yaml::Report report("f");
  read(yaml::Value(*root, report));
  return report.has_failed() ? report.failure().message : "";
}

TEST(JsonDocument, TheReaderDoesNotMixKinds) {
  using yaml::Value;
  const auto number = [](const Value& root) { (void)root.at("x").number(yaml::number_above_zero(Decimal(9))); };
  const auto whole = [](const Value& root) { (void)root.at("x").whole({1, 9}); };
  const auto name = [](const Value& root) { (void)root.at("x").name(8); };
  const auto choice = [](const Value& root) { (void)root.at("x").choice({"a", "1"}); };
  const auto truth = [](const Value& root) { (void)root.at("x").truth(); };
  const auto keys = [](const Value& root) { root.check_keys({"y"}); };
  struct Case {
    std::string text;
    std::function<void(const Value&)> read;
    std::string message;
  };
  const std::vector<Case> cases = {
      {R"({"x":1.5})", number, ""},
      {R"({"x":5.0})", whole, ""},
      {R"({"x":"n"})", name, ""},
      {R"({"x":"a"})", choice, ""},
      {R"({"x":true})", truth, ""},
      {R"({"x":"5"})", number, "f:1:6: x: wanted a number above 0, at most 9, found \"5\""},
      {R"({"x":10})", number, "f:1:6: x: wanted a number above 0, at most 9, found 10"},
      {R"({"x":"5"})", whole, "f:1:6: x: wanted a whole number from 1 to 9, found \"5\""},
      {R"({"x":true})", whole, "f:1:6: x: wanted a whole number from 1 to 9, found true"},
      {R"({"x":5})", name, "f:1:6: x: wanted a name of 1 to 8 printable bytes, found 5"},
      {R"({"x":null})", name, "f:1:6: x: wanted a name of 1 to 8 printable bytes, found nothing"},
      {R"({"x":"a\u0000b"})", name, "f:1:6: x: wanted a name of 1 to 8 printable bytes, found \"a\\x00b\""},
      {R"({"x":1})", choice, "f:1:6: x: wanted a or 1, found 1"},
      {R"({"x":"true"})", truth, "f:1:6: x: wanted true or false, found \"true\""},
      {R"({"x":0})", truth, "f:1:6: x: wanted true or false, found 0"},
      {R"({"x":0})", keys, "f:1:2: unknown key \"x\"; did you mean y? (known: y)"},
  };
  for (const Case& each : cases) EXPECT_EQ(message_of(each.text, each.read), each.message) << each.text;
}

TEST(JsonDocument, HasOtherLimitsOnRequest) {
  EXPECT_TRUE(parse_document("[1,2]", "answer", {.text_bytes_max = 5, .value_count_max = 3}).has_value());
  EXPECT_FALSE(parse_document("[1,2]", "answer", {.text_bytes_max = 4, .value_count_max = 3}).has_value());
  EXPECT_FALSE(parse_document("[1,2]", "answer", {.text_bytes_max = 5, .value_count_max = 2}).has_value());
}

}  // namespace
}  // namespace berth::json
