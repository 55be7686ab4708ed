// What is read of requests, answers and streams, and which headers pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "surface/openai_api/detail/call_fields.h"
#include "surface/openai_api/detail/event_stream.h"
#include "surface/openai_api/detail/forwarded_headers.h"

namespace berth::openai::detail {
namespace {

using ::testing::ElementsAre;

TEST(CallFieldsTest, ModelAndStreamAreRead) {
  const auto call = read_call(R"({"messages":[{"model":1}],"stream":true,"model":"a\u002fb"})");
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->model, "a/b");
  EXPECT_TRUE(call->is_stream);
  for (const char* text : {R"({"model":"a"})", R"({"model":"a","stream":false})", R"({"model":"a","stream":null})"}) {
    EXPECT_FALSE(read_call(text)->is_stream) << text;
  }
  for (const char* text :
       {"", "[]", "{}", R"({"model":1})", R"({"model":null})", R"({"model":"a)", R"({"model":"\ud800"})",
        R"({"model":"a","stream":"yes"})", R"({"model":"a","stream":1})", R"({"model":"a","model":"a"})", "\xff"}) {
    EXPECT_FALSE(read_call(text)) << text;
  }
}

TEST(CallFieldsTest, UsageIsReadWhereItIsStated) {
  EXPECT_EQ(usage_in(R"({"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}})"), (TokenUsage{3, 5}));
  EXPECT_EQ(usage_in(R"({"data":[],"usage":{"prompt_tokens":3,"total_tokens":3}})"), (TokenUsage{3, std::nullopt}));
  for (const char* text :
       {"", "x", "{}", R"({"usage":null})", R"({"usage":3})", R"({"usage":{}})", R"({"usage":{"prompt_tokens":-1}})",
        R"({"usage":{"prompt_tokens":1.5}})", R"({"usage":{"prompt_tokens":99999999999999999999}})"}) {
    EXPECT_FALSE(usage_in(text)) << text;
  }
}

TEST(EventStreamTest, AllPassesAtOnceAndTheLastUsageCounts) {
  const std::string whole =
      ": hello\n\ndata: {\"a\":1,\"usage\":null}\n\ndata: "
      "{\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\r\n\r\n"
      "data:{\"usage\" : {\"prompt_tokens\":3,\"completion_tokens\":4}}\n\ndata: {\"b\":\"[DONE]\"}\n\ndata: "
      "[DONE]\n\n";
  for (std::size_t step = 1; step <= whole.size(); ++step) {
    EventStream stream;
    std::string passed;
    for (std::size_t at = 0; at < whole.size(); at += step) {
      EXPECT_FALSE(stream.is_done());
      passed += stream.take(std::string_view(whole).substr(at, step));
      const std::size_t begin_of_done = whole.rfind("data: ");
      const std::size_t taken = std::min(at + step, whole.size());
      EXPECT_TRUE(taken > begin_of_done || passed.size() == taken) << "nothing is kept";
      EXPECT_TRUE(taken == whole.size() || passed.find("[DONE]", begin_of_done) == std::string::npos);
    }
    EXPECT_EQ(passed, whole) << step;
    EXPECT_EQ(stream.take_kept(), "");
    EXPECT_TRUE(stream.is_done());
    EXPECT_EQ(stream.ending(), "");
    EXPECT_EQ(stream.usage(), (TokenUsage{3, 4})) << step;
  }
}

TEST(EventStreamTest, WhatIsBegunIsEndedBeforeAnError) {
  struct Case {
    std::string text;
    std::string passed;
    std::string ending;
  };
  const std::vector<Case> cases = {{"", "", ""},
                                   {"data: a\n\n", "data: a\n\n", ""},
                                   {"data: a\n", "data: a\n", "\n"},
                                   {"data: a", "data: a", "\n\n"},
                                   {"data: [DONE]", "", ""},
                                   {"data: [DONE]\n", "", ""},
                                   {"data: a\n\ndata: [DO", "data: a\n\n", ""},
                                   {"data: [DONE]\nid: 1", "data: [DONE]\nid: 1", "\n\n"}};
  for (const Case& each : cases) {
    EventStream stream;
    EXPECT_EQ(stream.take(each.text), each.passed);
    EXPECT_EQ(stream.ending(), each.ending) << each.text;
    EXPECT_FALSE(stream.is_done());
    EXPECT_EQ(each.passed + stream.take_kept(), each.text);
  }
}

TEST(ForwardedHeadersTest, ThoseOfTheConnectionAndKeysDoNotPass) {
  const std::vector<HttpField> request = {{"Host", "a"},
                                          {"authorization", "Bearer tenant"},
                                          {"X-API-Key", "tenant"},
                                          {"Content-Length", "3"},
                                          {"Connection", "keep-alive, X-Own"},
                                          {"x-own", "1"},
                                          {"Keep-Alive", "5"},
                                          {"Content-Type", "application/json"},
                                          {"accept-encoding", "gzip"},
                                          {"X-Stainless-Lang", "js"}};
  EXPECT_THAT(headers_to_backend(request, "backend"),
              ElementsAre(HttpField{"Content-Type", "application/json"}, HttpField{"X-Stainless-Lang", "js"},
                          HttpField{"Authorization", "Bearer backend"}));
  EXPECT_EQ(headers_to_backend(request, std::nullopt).size(), 2U);
  const std::vector<HttpField> answer = {{"Content-Type", "application/json"},
                                         {"transfer-encoding", "chunked"},
                                         {"Content-Length", "3"},
                                         {"Date", "now"},
                                         {"x-request-id", "7"},
                                         {"X Bad", "1"},
                                         {"X-Bad", "a\x01"},
                                         {"X-Empty", ""}};
  EXPECT_THAT(headers_to_client(answer), ElementsAre(HttpField{"x-request-id", "7"}, HttpField{"X-Empty", ""}));
}

}  // namespace
}  // namespace berth::openai::detail
