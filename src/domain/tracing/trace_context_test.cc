#include "domain/tracing/trace_context.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

constexpr const char* kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceContext, ReadsTheExampleOfTheSpecificationAndWritesItAgain) {
  const auto context = parse_traceparent(kParent);
  ASSERT_TRUE(context);
  EXPECT_EQ(hex_of(context->trace), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(hex_of(context->span), "b7ad6b7169203331");
  EXPECT_TRUE(context->is_sampled);
  EXPECT_EQ(traceparent_of(*context), kParent);
}

TEST(TraceContext, FlagsButTheLastBitAreIgnored) {
  const auto with_flags = [](const std::string& flags) {
    return parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-" + flags);
  };
  EXPECT_FALSE(with_flags("00")->is_sampled);
  EXPECT_FALSE(with_flags("fe")->is_sampled);
  EXPECT_TRUE(with_flags("ff")->is_sampled);
  EXPECT_FALSE(with_flags("0g"));
  EXPECT_FALSE(with_flags("1"));
}

TEST(TraceContext, LaterVersionsAreReadAsFarAsVersion00Goes) {
  const std::string rest = "-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_TRUE(parse_traceparent("cc" + rest));
  EXPECT_TRUE(parse_traceparent("cc" + rest + "-what-the-future-will-be-like"));
  EXPECT_FALSE(parse_traceparent("cc" + rest + ".what"));
  EXPECT_FALSE(parse_traceparent("00" + rest + "-more"));
  EXPECT_FALSE(parse_traceparent("ff" + rest));
  EXPECT_FALSE(parse_traceparent("0x" + rest));
}

TEST(TraceContext, WhatIsMalformedIsNoContext) {
  EXPECT_FALSE(parse_traceparent(""));
  EXPECT_FALSE(parse_traceparent("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"));
  EXPECT_FALSE(parse_traceparent("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
  EXPECT_FALSE(parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
  EXPECT_FALSE(parse_traceparent("00-0af7651916cd43dd8448eb211c80319cb7ad6b7169203331--01"));
  EXPECT_FALSE(parse_traceparent(std::string(kParent).substr(0, 54)));
  EXPECT_FALSE(parse_traceparent(std::string(kParent) + " "));
}

TEST(TraceContext, StateIsPassedOnWholeOrNotAtAll) {
  EXPECT_EQ(passed_tracestate("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"), "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  EXPECT_EQ(passed_tracestate(std::string(512, 'a')).size(), 512U);
  EXPECT_EQ(passed_tracestate(std::string(513, 'a')), "");
  EXPECT_EQ(passed_tracestate(std::string(31, ',')).size(), 31U);
  EXPECT_EQ(passed_tracestate(std::string(32, ',')), "");
  EXPECT_EQ(passed_tracestate("a=\xc3\xa4"), "");
  EXPECT_EQ(passed_tracestate("a=b\r\nX: y"), "");
}

TEST(TraceContext, HeadersGiveItOnceInAnyCase) {
  std::vector<HttpField> headers = {{"TraceParent", kParent}, {"tracestate", "a=1"}, {"Tracestate", "b=2"}};
  const auto context = trace_context_of(headers);
  ASSERT_TRUE(context);
  EXPECT_EQ(context->state, "a=1,b=2");
  headers.push_back({"traceparent", kParent});
  EXPECT_FALSE(trace_context_of(headers));
  EXPECT_FALSE(trace_context_of({}));
}

}  // namespace
}  // namespace berth
