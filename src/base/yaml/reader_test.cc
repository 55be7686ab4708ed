#include "base/yaml/reader.h"

#include <gtest/gtest.h>

#include <functional>

namespace berth::yaml {
namespace {

/// The error of reading a text, or "" if nothing is wrong.
std::string message_of(const std::string& text, const std::function<void(const Value&)>& read) {
  const auto root = parse_document(text, "f");
  if (!root) return root.error().message;
  Report report("f");
  read(Value(*root, report));
  return report.has_failed() ? report.failure().message : "";
}

TEST(Reader, ReadsEachKind) {
  const std::string text =
      "{a: [1.5, 2], n: Ann, w: \"7\", u: 18446744073709551615, c: two, none: ~, t: true, f: false}";
  const std::string message = message_of(text, [](const Value& root) {
    root.check_keys({"a", "n", "w", "u", "c", "none", "t", "f", "absent"});
    EXPECT_EQ(root.at("a").items("numbers")[0].number(number_above_zero(Decimal(9))), Decimal(3, 2));
    EXPECT_EQ(root.at("n").name(), "Ann");
    EXPECT_EQ(root.at("w").whole({1, 7}), 7);
    EXPECT_EQ(root.at("u").whole_unsigned(), UINT64_MAX);
    EXPECT_EQ(root.at("c").choice({"one", "two"}), 1U);
    EXPECT_TRUE(root.at("none").is_written());
    EXPECT_FALSE(root.at("none").is_present());
    EXPECT_FALSE(root.at("absent").is_written());
    EXPECT_TRUE(root.at("t").truth());
    EXPECT_FALSE(root.at("f").truth());
    EXPECT_EQ(root.keys().size(), 8U);
  });
  EXPECT_EQ(message, "");
}

struct BadRead {
  std::string text;
  std::function<void(const Value&)> read;
  std::string message;
};

TEST(Reader, RefusesWithPlacePathWantedAndFound) {
  const auto deep = [](const Value& root) {
    (void)root.at("s").items("a list")[0].at("x").number(number_above_zero(Decimal(5)));
  };
  const auto whole = [](const Value& root) { (void)root.at("x").whole({1, 9}); };
  const auto whole_unsigned = [](const Value& root) { (void)root.at("x").whole_unsigned(); };
  const auto name = [](const Value& root) { (void)root.at("x").name(8); };
  const auto list = [](const Value& root) { (void)root.at("x").items("at least one thing", false); };
  const auto choice = [](const Value& root) { (void)root.at("x").choice({"a", "b", "c"}); };
  const auto truth = [](const Value& root) { (void)root.at("x").truth(); };
  const auto keys = [](const Value& root) { root.check_keys({"latency_ms", "name"}); };
  const std::vector<BadRead> cases = {
      {"s:\n - {x: abc}", deep, "f:2:8: s[0].x: wanted a number above 0, at most 5, found \"abc\""},
      {"s:\n - {x: 0}", deep, "f:2:8: s[0].x: wanted a number above 0, at most 5, found \"0\""},
      {"s:\n - {x: 1e9}", deep, "f:2:8: s[0].x: wanted a number above 0, at most 5, found \"1e9\""},
      {"s:\n - {x: }", deep, "f:2:8: s[0].x: wanted a number above 0, at most 5, found nothing"},
      {"s:\n - {y: 1}", deep, "f:2:4: s[0].x: wanted a number above 0, at most 5, found nothing"},
      {"s:\n - {x: [1]}", deep, "f:2:8: s[0].x: wanted a number above 0, at most 5, found a list"},
      {"x: -1", whole_unsigned, "f:1:4: x: wanted a whole number from 0 to 18446744073709551615, found \"-1\""},
      {"x: 1.5", whole, "f:1:4: x: wanted a whole number from 1 to 9, found \"1.5\""},
      {"x: 10", whole, "f:1:4: x: wanted a whole number from 1 to 9, found \"10\""},
      {"x: 0x9", whole, "f:1:4: x: wanted a whole number from 1 to 9, found \"0x9\""},
      {"x: {}", whole, "f:1:4: x: wanted a whole number from 1 to 9, found a map"},
      {"x: ''", name, "f:1:4: x: wanted a name of 1 to 8 printable bytes, found \"\""},
      {"x: '  '", name, "f:1:4: x: wanted a name of 1 to 8 printable bytes, found \"  \""},
      {"x: 123456789", name, "f:1:4: x: wanted a name of 1 to 8 printable bytes, found \"123456789\""},
      {"x: \"a\\x1b\"", name, "f:1:4: x: wanted a name of 1 to 8 printable bytes, found \"a\\x1b\""},
      {"x: \"\\u0085\"", name, "f:1:4: x: wanted a name of 1 to 8 printable bytes, found \"\\xc2\\x85\""},
      {"x: []", list, "f:1:4: x: wanted at least one thing, found an empty list"},
      {"x: 1", list, "f:1:4: x: wanted at least one thing, found \"1\""},
      {"y: 1", list, "f:1:1: x: wanted at least one thing, found nothing"},
      {"x: d", choice, "f:1:4: x: wanted a, b or c, found \"d\""},
      {"x: True", truth, "f:1:4: x: wanted true or false, found \"True\""},
      {"{name: 1, latncy_ms: 2}", keys,
       "f:1:11: unknown key \"latncy_ms\"; did you mean latency_ms? (known: latency_ms, name)"},
      {"{zzzzzzzz: 2}", keys, "f:1:2: unknown key \"zzzzzzzz\" (known: latency_ms, name)"},
      {"[1]", keys, "f:1:1: wanted a map, found a list"},
  };
  for (const BadRead& bad : cases) EXPECT_EQ(message_of(bad.text, bad.read), bad.message);
}

/// The parts of the failure of reading `{a: {b: [x]}}`.
Failure parts_of(const std::function<void(const Value&)>& read) {
  const auto root = parse_document("{a: {b: [x]}}", "f");
  Report report("f");
  read(Value(*root, report));
  EXPECT_TRUE(report.has_failed());
  return report.has_failed() ? report.parts() : Failure{};
}

TEST(Reader, AFailureHasParts) {
  const auto item = [](const Value& root) { return root.at("a").at("b").items("a list")[0]; };
  const Failure refused = parts_of([&](const Value& root) { (void)item(root).whole({1, 9}); });
  EXPECT_EQ(refused.place, (TextPlace{1, 10}));
  EXPECT_EQ(refused.path, "a.b[0]");
  EXPECT_EQ(refused.field(), "a.b[0]");
  EXPECT_EQ(refused.wanted, "a whole number from 1 to 9");
  EXPECT_EQ(refused.found, "\"x\"");
  EXPECT_EQ(refused.message, "wanted a whole number from 1 to 9, found \"x\"");

  const Failure unknown = parts_of([&](const Value& root) { root.at("a").check_keys({"c"}); });
  EXPECT_EQ(unknown.place, (TextPlace{1, 6}));
  EXPECT_EQ(unknown.path, "a");
  EXPECT_EQ(unknown.field(), "a.b");
  EXPECT_EQ(unknown.wanted, "one of the keys c");
  EXPECT_EQ(unknown.found, "\"b\"");
  EXPECT_EQ(parts_of([&](const Value& root) { root.check_keys({"c"}); }).field(), "a");

  const Failure message = parts_of([&](const Value& root) { item(root).fail("wanted a, b or c, found d, found e"); });
  EXPECT_EQ(message.wanted, "a, b or c");
  EXPECT_EQ(message.found, "d, found e");
  const Failure other = parts_of([&](const Value& root) { item(root).fail("GPU 0: a and b overlap"); });
  EXPECT_EQ(other.wanted + other.found, "");
  EXPECT_EQ(other.message, "GPU 0: a and b overlap");

  const Error error{ErrorCode::kNotFound, "x.csv:1:2: wanted a row, found none"};
  const Failure elsewhere = parts_of([&](const Value& root) { item(root).pass_on(error); });
  EXPECT_TRUE(elsewhere.has_own_place);
  EXPECT_EQ(elsewhere.field(), "a.b[0]");
  EXPECT_EQ(elsewhere.code, ErrorCode::kNotFound);
  EXPECT_EQ(elsewhere.wanted, "");
}

TEST(Reader, KeepsEachWarningOnceWithItsPath) {
  const auto root = parse_document("{a: [1.50, {}], b: x}", "f");
  ASSERT_TRUE(root);
  Report report("f");
  const Value value(*root, report);
  const auto items = value.at("a").items("a list");
  items[0].warn("p.csv: strange");
  value.at("b").warn("p.csv: strange");
  value.at("b").warn("b: strange");
  ASSERT_EQ(report.warnings().size(), 2U);
  EXPECT_EQ(report.warnings()[0].path, "a[0]");
  EXPECT_EQ(report.warnings()[1].text, "b: strange");
  EXPECT_FALSE(report.has_failed());
  EXPECT_EQ(items[0].written(), "1.50");
  EXPECT_EQ(items[1].written(), "");
  EXPECT_EQ(value.at("none").written(), "");
}

TEST(Reader, KeepsTheFirstFailure) {
  const std::string message = message_of("{a: x, b: y}", [](const Value& root) {
    EXPECT_EQ(root.at("a").whole({3, 9}), 3);
    (void)root.at("b").whole({3, 9});
  });
  EXPECT_EQ(message, "f:1:5: a: wanted a whole number from 3 to 9, found \"x\"");
}

}  // namespace
}  // namespace berth::yaml
