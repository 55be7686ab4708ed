#include "base/yaml/document.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::yaml {
namespace {

std::string repeated(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

const Scalar& scalar(const Node& node) { return std::get<Scalar>(node.value); }
const Map& map(const Node& node) { return std::get<Map>(node.value); }
const List& list(const Node& node) { return std::get<List>(node.value); }

TEST(Document, KeepsOrderPlacesAndQuotes) {
  const auto root = parse_document("b: 1\na: [x, \"null\", null]\n", "f");
  ASSERT_TRUE(root.has_value()) << root.error().message;
  const Map& entries = map(*root);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].key, "b");
  EXPECT_EQ(entries[1].place.line, 2U);
  EXPECT_EQ(entries[1].place.column, 1U);
  const List& items = list(entries[1].value);
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[1].place.column, 8U);
  EXPECT_EQ(scalar(items[1]), (Scalar{"null", false}));
  EXPECT_FALSE(items[1].is_null());
  EXPECT_TRUE(items[2].is_null());
}

TEST(Document, MarkCarriageReturnsAndCommentsAreFine) {
  const auto root = parse_document("\xEF\xBB\xBF# c\r\na: 1\r\nb: 2\r\n", "f");
  ASSERT_TRUE(root.has_value()) << root.error().message;
  EXPECT_EQ(scalar(map(*root)[1].value).text, "2");
  EXPECT_EQ(map(*root)[1].place.line, 3U);
}

TEST(Document, AliasesExpandAndKeepTheAnchorsPlace) {
  const auto root = parse_document("a: &x {k: v}\nb: *x\nc: &x 2\nd: *x\n", "f");
  ASSERT_TRUE(root.has_value()) << root.error().message;
  EXPECT_EQ(map(map(*root)[1].value)[0].key, "k");
  EXPECT_EQ(map(*root)[1].value.place.line, 1U);
  EXPECT_EQ(scalar(map(*root)[3].value).text, "2");
}

TEST(Document, CoreTagsAreAcceptedAndStringsAreNotNull) {
  const auto root = parse_document("{a: !!str null, b: !!int 3, c: !!map {}, d: ! null}", "f");
  ASSERT_TRUE(root.has_value()) << root.error().message;
  EXPECT_FALSE(map(*root)[0].value.is_null());
  EXPECT_FALSE(map(*root)[3].value.is_null());
}

struct BadDocument {
  std::string text;
  std::string message;
};

TEST(Document, MalformedTextSaysWhereAndWhat) {
  const std::vector<BadDocument> cases = {
      {"", "f:1:1: wanted a document, found nothing"},
      {"# only a comment\n", "f:1:1: wanted a document, found nothing"},
      {"---\n...\n", "f:2:1: wanted a document, found nothing"},
      {"a: 1\n---\nb: 2\n", "f:2:1: wanted one document, found a second one"},
      {"a: 1\nb: 2\na: 3\n", "f:3:1: wanted each key once, found \"a\" again"},
      {"a: 1\n\"a\": 3\n", "f:2:1: wanted each key once, found \"a\" again"},
      {"[a]: 1\n", "f:1:1: wanted a word as a key, found a list or a map"},
      {"a: {<<: {b: 1}}\n", "f:1:5: merge keys (<<) are not supported: wanted the keys written out"},
      {"a: !mine 1\n", "f:1:4: wanted no tags but YAML's own, found \"!mine\""},
      {"a: !!binary 1\n", "f:1:4: wanted no tags but YAML's own, found \"tag:yaml.org,2002:binary\""},
      {"a: *x\n", "f:1:4: wanted an anchor &x that ends before this alias, found none"},
      {"a: &x [*x]\n", "f:1:8: wanted an anchor &x that ends before this alias, found none"},
      {"a: 1\n\xc3\xa9\xff: 2\n", "f:2:2: wanted text in UTF-8, found the byte 0xff"},
      {std::string("a: \0", 4), "f:1:4: wanted text in UTF-8, found the byte 0x00"},
      {"a: \x01\n", "f:1:4: malformed YAML: control characters are not allowed"},
      {"a: [1, 2\nb: 3\n", "f:2:2: malformed YAML: while parsing a flow sequence, did not find expected ',' or ']'"},
      {"a: 1\n b: 2\n", "f:2:3: malformed YAML: mapping values are not allowed in this context"},
      {"a: \"x\n", "f:2:1: malformed YAML: while scanning a quoted scalar, found unexpected end of stream"},
      {"\ta: 1\n",
       "f:1:1: malformed YAML: while scanning for the next token, found character that cannot start any token"},
      {repeated("[", 33) + repeated("]", 33), "f:1:33: wanted at most 32 levels of nesting, found more"},
  };
  for (const BadDocument& bad : cases) {
    const auto root = parse_document(bad.text, "f");
    ASSERT_FALSE(root.has_value()) << bad.message;
    EXPECT_EQ(root.error().message, bad.message);
  }
}

TEST(Document, ThirtyTwoLevelsAreAccepted) {
  EXPECT_TRUE(parse_document(repeated("[", 32) + repeated("]", 32), "f").has_value());
}

// Documents whose expansion would take far more than milliseconds or megabytes; the test's time limit checks it.
TEST(Document, BombsAreRefused) {
  std::string aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    aliases += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
               repeated("*a" + std::to_string(i - 1) + ", ", 10) + "]\n";
  }
  const std::string long_text = "a: &a " + repeated("x", 1'000'000) + "\nb: [" + repeated("*a, ", 10'000) + "]\n";
  const std::vector<BadDocument> cases = {
      {aliases, "f:5:5: wanted at most 200000 values, aliases expanded, found more"},
      {long_text, "f:2:61: wanted at most 16777216 bytes of text, aliases expanded, found more"},
      {repeated("[", 400'000), "f:1:33: wanted at most 32 levels of nesting, found more"},
      {repeated("{", 400'000), "f:1:33: wanted at most 32 levels of nesting, found more"},
      {repeated("- ", 200'000), "f:1:65: wanted at most 32 levels of nesting, found more"},
      {repeated("? ", 200'000), "f:1:65: wanted at most 32 levels of nesting, found more"},
      {"a: &a " + repeated("[", 20) + repeated("]", 20) + "\nb: " + repeated("[", 20) + "*a" + repeated("]", 20),
       "f:2:24: wanted at most 32 levels of nesting, found more"},
      {"[" + repeated("1,", 300'000) + "]", "f:1:400000: wanted at most 200000 values, aliases expanded, found more"},
      {repeated("x", 5'000'000), "f: wanted at most 4194304 bytes, found 5000000"},
  };
  for (const BadDocument& bad : cases) {
    const auto root = parse_document(bad.text, "f");
    ASSERT_FALSE(root.has_value()) << bad.message;
    EXPECT_EQ(root.error().message, bad.message);
  }
}

TEST(Documents, AreSeparatedByDashesAndKeepTheirPlaces) {
  const auto roots = parse_documents("# first\na: &x 1\n---\n---\nb: 2\n...\n---\n{\"c\": 3}\n", "f");
  ASSERT_TRUE(roots.has_value()) << roots.error().message;
  ASSERT_EQ(roots->size(), 3U);  // without the empty one
  EXPECT_EQ(map((*roots)[1])[0].key, "b");
  EXPECT_EQ(map((*roots)[1])[0].place.line, 5U);
  EXPECT_EQ(map((*roots)[2])[0].place.line, 8U);
}

TEST(Documents, AreRefusedWithTheirPlace) {
  const auto repeated_key = parse_documents("a: 1\n---\nb: 1\nb: 2\n", "f");
  ASSERT_FALSE(repeated_key.has_value());
  EXPECT_EQ(repeated_key.error().message, "f:4:1: wanted each key once, found \"b\" again");
  const auto alias = parse_documents("a: &x 1\n---\nb: *x\n", "f");
  ASSERT_FALSE(alias.has_value());
  EXPECT_TRUE(alias.error().message.starts_with("f:3:4: wanted an anchor")) << alias.error().message;
  EXPECT_FALSE(parse_documents("---\n# nothing\n---\n", "f").has_value());
  EXPECT_FALSE(parse_documents("", "f").has_value());
}

}  // namespace
}  // namespace berth::yaml
