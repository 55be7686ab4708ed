#include "base/json/members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace berth::json {
namespace {

using ::testing::ElementsAre;

constexpr std::array<std::string_view, 2> kKeys = {"model", "stream"};

TEST(FindMembersTest, ValuesAreFoundWithoutReadingTheOthers) {
  struct Case {
    std::string text;
    std::string model;
    std::string stream;
  };
  const std::vector<Case> cases = {
      {"{}", "", ""},
      {R"( {"model" : "a" , "stream":true } )", R"("a")", "true"},
      {R"({"messages":[{"model":"no","x":"]}\""}],"stream":false,"model":"b\"}"})", R"("b\"}")", "false"},
      {R"({"mod\u0065l":"a","x":1e5,"y":{}})", R"("a")", ""},
      {R"({"x":"\\","model":{"a":[1,2,{"b":"}"}]}})", R"({"a":[1,2,{"b":"}"}]})", ""},
  };
  for (const Case& each : cases) {
    const auto found = find_members(each.text, kKeys);
    ASSERT_TRUE(found) << each.text << found.error().message;
    EXPECT_THAT(*found, ElementsAre(each.model, each.stream)) << each.text;
  }
}

TEST(FindMembersTest, WhatIsNotAnObjectIsMalformed) {
  for (const char* text : {"",
                           " ",
                           "[]",
                           "\"model\"",
                           "{",
                           "{\"",
                           "{\"a",
                           "{\"a\\",
                           "{\"a\\\"",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\":1",
                           "{\"a\":1,",
                           "{\"a\":1,}",
                           "{\"a\":[}",
                           "{\"a\":[1}",
                           "{\"a\":{\"b\":1}",
                           "{\"a\":\"b",
                           "{\"a\":1}x",
                           "{a:1}",
                           "{\"a\" 1}",
                           "{\"a\":,\"b\":1}",
                           "{\"\\x\":1}",
                           R"({"model":"a","model":"b"})",
                           R"({"model":"a","mod\u0065l":"b"})"}) {
    const auto found = find_members(text, kKeys);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, ErrorCode::kMalformed);
  }
  EXPECT_FALSE(find_members("{\"a\":" + std::string(1'000'000, '['), kKeys));
  EXPECT_EQ(find_members(R"({"model":"a","model":"b"})", kKeys).error().message,
            "wanted a JSON object: model is repeated at byte 24");
}

}  // namespace
}  // namespace berth::json
