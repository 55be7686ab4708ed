#include "base/json/writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/json/document.h"

namespace berth::json {
namespace {

TEST(JsonWriter, PutsCommasBetweenValues) {
  JsonWriter json;
  json.open_object();
  json.key("a").integer(1);
  json.key("b").open_list().integer(1).text("x").null().truth(true).truth(false).close_list();
  json.key("c").open_object().close_object();
  json.key("d").open_list().close_list();
  json.key("e").open_list();
  json.open_object().key("f").number("12.345678").close_object();
  json.open_object().close_object();
  json.open_list().open_list().close_list().integer(2).close_list();
  json.close_list();
  json.key("g").text("");
  json.close_object();
  EXPECT_EQ(
      json.take(),
      "{\"a\":1,\"b\":[1,\"x\",null,true,false],\"c\":{},\"d\":[],\"e\":[{\"f\":12.345678},{},[[],2]],\"g\":\"\"}\n");
}

TEST(JsonWriter, AValueMayStandAlone) {
  EXPECT_EQ(JsonWriter().text("x").take(), "\"x\"\n");
  EXPECT_EQ(JsonWriter().integer(-5).take(), "-5\n");
  EXPECT_EQ(JsonWriter().open_list().close_list().take(), "[]\n");
}

TEST(JsonWriter, BeginsAnewAfterItWasTaken) {
  JsonWriter json;
  json.open_list().integer(1).close_list();
  EXPECT_EQ(json.take(), "[1]\n");
  json.open_list().integer(2).close_list();
  EXPECT_EQ(json.take(), "[2]\n");
}

TEST(JsonWriter, IntegersHaveAnyLength) {
  const auto text = [](Int128 number) { return JsonWriter().integer(number).take(); };
  EXPECT_EQ(text(0), "0\n");
  EXPECT_EQ(text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808\n");
  EXPECT_EQ(text(Int128{1} << 64U), "18446744073709551616\n");
  EXPECT_EQ(text((Int128{1} << 126U) - 1 + (Int128{1} << 126U)), "170141183460469231731687303715884105727\n");
  EXPECT_EQ(text(-(Int128{1} << 126U) - (Int128{1} << 126U)), "-170141183460469231731687303715884105728\n");
}

TEST(JsonWriter, TextsAndKeysAreEscaped) {
  JsonWriter json;
  json.open_object().key("a\"\\\n").text(std::string("\x01\t\0\x7F", 4) + "\xC3\xA9</script>").close_object();
  EXPECT_EQ(json.take(), "{\"a\\\"\\\\\\n\":\"\\u0001\\t\\u0000\x7F\xC3\xA9</script>\"}\n");
}

TEST(JsonWriter, WhatIsNotUtf8IsReplaced) {
  EXPECT_EQ(JsonWriter().text("a\xFFz").take(), "\"a\xEF\xBF\xBDz\"\n");
  EXPECT_EQ(JsonWriter().text("\xC3").take(), "\"\xEF\xBF\xBD\"\n");
  EXPECT_EQ(JsonWriter().open_object().key("\xED\xA0\x80").null().close_object().take().substr(0, 5),
            "{\"\xEF\xBF\xBD");
}

/// Everything it writes can be read again.
TEST(JsonWriter, AnyBytesGiveADocument) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  JsonWriter json;
  json.open_object().key("x").text(all).close_object();
  EXPECT_TRUE(json::parse_document(json.take(), "test").has_value());
}

}  // namespace
}  // namespace berth::json
