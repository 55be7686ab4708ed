#include "base/json/writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/json/document.h"

namespace berth::json {
namespace {

TEST(JsonWriter, PutsCommasBetweenValues) {
  Writer json;
  json.open_object().member("a", 1);
  json.open_list("b").value(1).value("x").value(nullptr).value(true).value(false).close_list();
  json.open_object("c").close_object();
  json.open_list("d").close_list();
  json.open_list("e");
  json.open_object().key("f").written("12.345678").close_object();
  json.open_object().close_object();
  json.open_list().open_list().close_list().value(2).close_list();
  json.close_list();
  json.member("g", "");
  json.close_object();
  EXPECT_EQ(
      json.take(),
      "{\"a\":1,\"b\":[1,\"x\",null,true,false],\"c\":{},\"d\":[],\"e\":[{\"f\":12.345678},{},[[],2]],\"g\":\"\"}");
}

TEST(JsonWriter, IndentsItems) {
  Writer json(2);
  json.open_object().member("a", 1).open_list("b").close_list().open_object("c").close_object();
  json.list("d", std::vector<int>{1, 2}).close_object();
  EXPECT_EQ(json.take(), "{\n  \"a\": 1,\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    1,\n    2\n  ]\n}");
}

TEST(JsonWriter, AValueMayBeAlone) {
  EXPECT_EQ(text_of("x"), "\"x\"");
  EXPECT_EQ(text_of(-5), "-5");
  EXPECT_EQ(Writer().open_list().close_list().take_line(), "[]\n");
}

TEST(JsonWriter, BeginsAgainAfterItWasTaken) {
  Writer json;
  json.open_list().value(1).close_list();
  EXPECT_EQ(json.take_line(), "[1]\n");
  json.open_list().value(2).close_list();
  EXPECT_EQ(json.take_line(), "[2]\n");
}

TEST(JsonWriter, IntegersHaveAnyLength) {
  EXPECT_EQ(text_of(0), "0");
  EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text_of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(text_of(static_cast<signed char>(-1)), "-1");
  EXPECT_EQ(text_of(Int128{1} << 64U), "18446744073709551616");
  EXPECT_EQ(text_of((Int128{1} << 126U) - 1 + (Int128{1} << 126U)), "170141183460469231731687303715884105727");
  EXPECT_EQ(text_of(-(Int128{1} << 126U) - (Int128{1} << 126U)), "-170141183460469231731687303715884105728");
}

TEST(JsonWriter, DecimalsHaveAllTheirDigits) {
  EXPECT_EQ(text_of(Decimal(1, 10)), "0.1");
  EXPECT_EQ(text_of(Decimal::parse("123456789012345678901234567890.5").value()), "123456789012345678901234567890.5");
  EXPECT_EQ(text_of(Decimal(1, 3)), "0.3333333333333333");
}

TEST(JsonWriter, DoublesAreReadAsTheSame) {
  EXPECT_EQ(text_of(1.0), "1.0");
  EXPECT_EQ(text_of(1e20), "1e+20");
  EXPECT_EQ(text_of(-0.0), "-0.0");
  EXPECT_EQ(text_of(0.1F), "0.10000000149011612");
  EXPECT_EQ(text_of(std::nan("")), "null");
  EXPECT_EQ(text_of(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonWriter, WhatIsAbsentIsNull) {
  EXPECT_EQ(text_of(std::optional<int>()), "null");
  EXPECT_EQ(text_of(std::optional(7)), "7");
  EXPECT_EQ(text_of(std::optional<std::string>("x")), "\"x\"");
}

TEST(JsonWriter, TextsAndKeysAreEscaped) {
  Writer json;
  json.open_object().member("a\"\\\n", std::string("\x01\t\0\x7F", 4) + "\xC3\xA9</script>").close_object();
  EXPECT_EQ(json.take(), "{\"a\\\"\\\\\\n\":\"\\u0001\\t\\u0000\x7F\xC3\xA9</script>\"}");
}

TEST(JsonWriter, WhatIsNotUtf8IsReplaced) {
  EXPECT_EQ(text_of("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(text_of("\xC3"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(Writer().open_object().member("\xED\xA0\x80", nullptr).close_object().take().substr(0, 5),
            "{\"\xEF\xBF\xBD");
}

/// Everything it writes can be read again.
TEST(JsonWriter, AnyBytesGiveADocument) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  Writer json;
  json.open_object().member("x", all).close_object();
  EXPECT_TRUE(parse_document(json.take(), "test").has_value());
}

}  // namespace
}  // namespace berth::json
