#include "base/json/compare.h"

#include <gtest/gtest.h>

#include "base/json/document.h"

namespace berth::json {
namespace {

TEST(JsonCompare, ReadsNumbersAsDoubles) {
  const auto is_same = [](const char* a, const char* b) {
    return is_same_to_doubles(parse_document(a, "a").value(), parse_document(b, "b").value());
  };
  EXPECT_TRUE(is_same("[1,2.50]", "[1.0,2.5]"));
  EXPECT_TRUE(is_same("0.1", "0.1000000000000000000000001"));
  EXPECT_TRUE(is_same(R"({"a":1,"b":null})", R"({"b":null,"a":1})"));
  EXPECT_TRUE(is_same("-0", "0"));
  EXPECT_FALSE(is_same("9007199254740993", "9007199254740992"));
  EXPECT_FALSE(is_same("18446744073709551615", "18446744073709551614"));
  EXPECT_FALSE(is_same("0.1", "0.1000000000000001"));
  EXPECT_FALSE(is_same(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(is_same(R"({"a":1,"b":2})", R"({"a":1,"c":2})"));
  EXPECT_FALSE(is_same("[1]", "[1,1]"));
  EXPECT_FALSE(is_same("[1]", R"(["1"])"));
  EXPECT_FALSE(is_same("[]", "{}"));
  EXPECT_FALSE(is_same("true", "false"));
}

}  // namespace
}  // namespace berth::json
