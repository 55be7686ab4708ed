#include "base/json_lines/flat_object.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::json {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string shown(const FlatMember& member) {
  switch (member.kind) {
    case FlatKind::kText:
      return fmt::format("{}=text {}", member.key, member.text);
    case FlatKind::kInteger:
      return fmt::format("{}=integer {}", member.key, member.number);
    case FlatKind::kTruth:
      return fmt::format("{}=truth {}", member.key, member.number);
    case FlatKind::kFraction:
      return fmt::format("{}=fraction", member.key);
    case FlatKind::kOther:
      return fmt::format("{}={}", member.key, member.text);
  }
  return "?";
}

/// The members as texts, or the error as the only text.
std::vector<std::string> read_by(FlatObjectReader& reader, std::string_view line) {
  const auto members = reader.read(line);
  if (!members) return {"error: " + members.error().message};
  std::vector<std::string> texts;
  for (const FlatMember& member : *members) texts.push_back(shown(member));
  return texts;
}

std::vector<std::string> read(std::string_view line) {
  FlatObjectReader reader;
  return read_by(reader, line);
}

/// The value read from the line {"x":VALUE}.
std::string read_value(const std::string& value) {
  const auto members = read(R"({"x":)" + value + "}");
  return members.size() == 1 ? members[0] : "several";
}

TEST(FlatObject, HasMembersOfAllKindsInTheirOrder) {
  EXPECT_THAT(read(R"({"z":"x y","b":5,"c":true,"d":false,"e":null,"f":[],"g":{"h":1},"a":""})"),
              ElementsAre("z=text x y", "b=integer 5", "c=truth 1", "d=truth 0", "e=null", "f=a list", "g=an object",
                          "a=text "));
  EXPECT_THAT(read("{}"), IsEmpty());
  EXPECT_THAT(read(" \t\r\n{ \"a\" : 1 , \"b\" : 2 }\r"), ElementsAre("a=integer 1", "b=integer 2"));
}

TEST(FlatObject, IntegersAreThoseWrittenAsOneWithin64Bits) {
  EXPECT_EQ(read_value("0"), "x=integer 0");
  EXPECT_EQ(read_value("-0"), "x=integer 0");
  EXPECT_EQ(read_value("-1"), "x=integer -1");
  EXPECT_EQ(read_value("9007199254740993"), "x=integer 9007199254740993");  // no double has it
  EXPECT_EQ(read_value("9223372036854775807"), "x=integer 9223372036854775807");
  EXPECT_EQ(read_value("-9223372036854775808"), "x=integer -9223372036854775808");
  EXPECT_EQ(read_value("9223372036854775808"), "x=an integer of more than 63 bits");
  EXPECT_EQ(read_value("18446744073709551615"), "x=an integer of more than 63 bits");
}

TEST(FlatObject, NumbersWithAPointOrAnExponentAreFractions) {
  for (const char* number : {"1.0", "-0.0", "0.5", "1e3", "1E3", "1e+3", "10e-1", "1e-400", "1.7976931348623157e308"}) {
    EXPECT_EQ(read_value(number), "x=fraction") << number;
  }
}

TEST(FlatObject, LargerNumbersAreRefused) {
  const std::string digits(400, '9');
  for (const std::string& number : {std::string("18446744073709551616"), std::string("-9223372036854775809"),
                                    std::string("1e309"), std::string("-1e400"), digits, digits + ".0"}) {
    EXPECT_THAT(read_value(number),
                StartsWith("error: x: wanted a JSON number of at most 64 bits, found \"" + number.substr(0, 10)))
        << number;
  }
}

TEST(FlatObject, EscapesAreUndoneInKeysAndTexts) {
  EXPECT_THAT(read(R"({"\u0061\n":"\"\\\/\b\f\n\r\t\u00e9\u20AC\ud83d\ude00"})"),
              ElementsAre("a\n=text \"\\/\b\f\n\r\t\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  EXPECT_THAT(read("{\"\xC3\xA9\":\"\x7F\xF4\x8F\xBF\xBF\"}"), ElementsAre("\xC3\xA9=text \x7F\xF4\x8F\xBF\xBF"));
  const std::string with_zero("a\0b=text \0", 10);
  EXPECT_THAT(read(R"({"a\u0000b":"\u0000"})"), ElementsAre(with_zero));
}

TEST(FlatObject, RepeatedKeysAreKept) {
  EXPECT_THAT(read(R"({"a":1,"b":2,"a":3,"\u0061":4})"),
              ElementsAre("a=integer 1", "b=integer 2", "a=integer 3", "a=integer 4"));
}

struct BadLine {
  std::string line;
  const char* what;
};

TEST(FlatObject, WhatIsNotJsonIsMalformed) {
  const std::vector<BadLine> lines = {
      {"", "nothing"},
      {" \t", "blank"},
      {"{", "no end"},
      {R"({"a":1)", "no end"},
      {R"({"a":1}})", "trailing bracket"},
      {R"({"a":1} x)", "trailing text"},
      {R"({"a":1}{"b":2})", "two objects"},
      {R"({"a":1}null)", "trailing value"},
      {std::string("{\"a\":1}\0", 8), "trailing zero byte"},
      {R"({"a":1,})", "comma before the end"},
      {R"({,"a":1})", "comma before the first"},
      {R"({"a":1 "b":2})", "no comma"},
      {R"({"a" 1})", "no colon"},
      {R"({"a":})", "no value"},
      {R"({a:1})", "key without quotes"},
      {R"({'a':1})", "single quotes"},
      {R"({1:1})", "key that is no text"},
      {R"({"a":01})", "leading zero"},
      {R"({"a":+1})", "plus sign"},
      {R"({"a":-})", "only a sign"},
      {R"({"a":.5})", "no digit before the point"},
      {R"({"a":1.})", "no digit behind the point"},
      {R"({"a":1e})", "no exponent"},
      {R"({"a":0x10})", "hexadecimal"},
      {R"({"a":1_000})", "separator"},
      {R"({"a":NaN})", "no number"},
      {R"({"a":Infinity})", "no number"},
      {R"({"a":True})", "capital letter"},
      {R"({"a":tru})", "half a word"},
      {R"({"a":"b)", "no closing quote"},
      {R"({"a":"\x41"})", "unknown escape"},
      {R"({"a":"\u12"})", "short escape"},
      {R"({"a":"\u12g4"})", "no digit"},
      {"{\"a\":\"\t\"}", "control byte in a text"},
      {std::string("{\"a\":\"\0\"}", 9), "zero byte in a text"},
      {"{\"a\n\":1}", "control byte in a key"},
      {R"({"a":"\ud800"})", "lone high surrogate"},
      {R"({"a":"\ud800x"})", "lone high surrogate before a letter"},
      {R"({"a":"\ud800\u0041"})", "high surrogate before a letter"},
      {R"({"a":"\ud800\ud800"})", "two high surrogates"},
      {R"({"a":"\udc00"})", "lone low surrogate"},
      {R"({"\udfff":1})", "lone low surrogate in a key"},
      {"{\"a\":\"\x80\"}", "continuation byte alone"},
      {"{\"a\":\"\xC3\"}", "half a letter"},
      {"{\"a\":\"\xC0\xAF\"}", "longer than needed"},
      {"{\"a\":\"\xED\xA0\x80\"}", "surrogate as UTF-8"},
      {"{\"a\":\"\xF4\x90\x80\x80\"}", "beyond Unicode"},
      {"{\"a\":\"\xFF\"}", "no UTF-8"},
      {"\xFF{}", "no UTF-8 outside of texts"},
      {"\xEF\xBB\xBF{\"a\":1}", "a byte-order mark, which belongs to the file"},
      {"/*c*/{\"a\":1}", "comment"},
      {"{\"a\":" + std::string(64, '[') + std::string(64, ']') + "}", "too deep"},
      {"{\"a\":[1,2}", "wrong bracket in a list"},
      {R"({"a":{"b":1,}})", "comma before the end of an inner object"},
      {R"({"a":[01]})", "leading zero in a list"},
  };
  FlatObjectReader reader;
  for (const BadLine& bad : lines) {
    const auto members = reader.read(bad.line);
    ASSERT_FALSE(members.has_value()) << bad.what << ": " << bad.line;
    EXPECT_EQ(members.error().code, ErrorCode::kMalformed) << bad.what;
    EXPECT_THAT(members.error().message, AnyOf(StartsWith("wanted a JSON object, found "),
                                               StartsWith("a: wanted a JSON number of at most 64 bits, found ")))
        << bad.what;
  }
  EXPECT_THAT(read_by(reader, R"({"a":1})"), ElementsAre("a=integer 1"));
}

TEST(FlatObject, OtherValuesAreNoObjects) {
  FlatObjectReader reader;
  for (const char* line : {"[]", R"([{"a":1}])", "5", R"("a")", "true", "null", "1.5"}) {
    const auto members = reader.read(line);
    ASSERT_FALSE(members.has_value()) << line;
    EXPECT_EQ(members.error().code, ErrorCode::kInvalidInput) << line;
  }
  EXPECT_EQ(reader.read("[1, 2]").error().message, "wanted a JSON object, found \"[1, 2]\"");
}

TEST(FlatObject, NestedValuesMayBeDeepWithinTheLimit) {
  EXPECT_EQ(read_value(std::string(60, '[') + std::string(60, ']')), "x=a list");
}

TEST(FlatObject, LinesMayHave65536Bytes) {
  const std::string frame = R"({"a":""})";
  const std::string text(FlatObjectReader::kLineBytesMax - frame.size(), 'x');
  EXPECT_THAT(read("{\"a\":\"" + text + "\"}"), ElementsAre("a=text " + text));
  EXPECT_THAT(read("{\"a\":\"" + text + "x\"}"), ElementsAre("error: wanted at most 65536 bytes, found 65537"));
  EXPECT_THAT(read(std::string(1'000'000, ' ')), ElementsAre("error: wanted at most 65536 bytes, found 1000000"));
}

TEST(FlatObject, AReaderKeepsNothingOfTheLineBefore) {
  FlatObjectReader reader;
  EXPECT_THAT(read_by(reader, R"({"a":12345,"b":6})"), ElementsAre("a=integer 12345", "b=integer 6"));
  // The bytes left in the buffer by the previous line would complete it.
  EXPECT_THAT(read_by(reader, R"({"a":12345,"b":6)"), ElementsAre(StartsWith("error: wanted a JSON object")));
  EXPECT_THAT(read_by(reader, R"({"c":1})"), ElementsAre("c=integer 1"));
  EXPECT_THAT(read_by(reader, R"({"a":"xxxx"})"), ElementsAre("a=text xxxx"));
  EXPECT_THAT(read_by(reader, R"({"a":"xx)"), ElementsAre(StartsWith("error: wanted a JSON object")));
  FlatObjectReader other = std::move(reader);
  EXPECT_THAT(read_by(other, "{}"), IsEmpty());
  EXPECT_THAT(read_by(other, R"({"d":2})"), ElementsAre("d=integer 2"));
}

}  // namespace
}  // namespace berth::json
