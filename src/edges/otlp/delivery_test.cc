#include "edges/otlp/delivery.h"

#include <gmock/gmock.h>

namespace berth::edges {
namespace {

using ::testing::HasSubstr;

Delivery judged(int status, const std::string& body = "", std::vector<HttpField> headers = {}) {
  return judge(HttpReply{.status = status, .headers = std::move(headers), .body = body}, 5, "rejectedSpans");
}

TEST(Delivery, WhatTheCollectorTookIsTaken) {
  const Delivery delivery = judged(200, "{}");
  EXPECT_FALSE(delivery.may_repeat);
  EXPECT_EQ(delivery.refused, 0);
  EXPECT_FALSE(delivery.trouble);
}

TEST(Delivery, APartialSuccessIsFinal) {
  const Delivery delivery = judged(200, R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}})");
  EXPECT_FALSE(delivery.may_repeat);
  EXPECT_EQ(delivery.refused, 2);
  EXPECT_THAT(*delivery.trouble, HasSubstr("refused 2 of 5 items: \"too old\""));
  EXPECT_EQ(judged(200, R"({"partialSuccess":{"rejectedSpans":"99"}})").refused, 5);
}

TEST(Delivery, OnlySomeStatusesAreForLater) {
  for (const int status : {429, 502, 503, 504}) {
    EXPECT_TRUE(judged(status).may_repeat) << status;
    EXPECT_EQ(judged(status).refused, 0);
  }
  for (const int status : {301, 400, 401, 404, 413, 415, 500, 501}) {
    EXPECT_FALSE(judged(status).may_repeat) << status;
    EXPECT_EQ(judged(status).refused, 5);
    EXPECT_TRUE(judged(status).trouble);
  }
}

TEST(Delivery, TheCollectorSaysWhen) {
  EXPECT_EQ(judged(503, "", {{"retry-after", "7"}}).retry_after, Micros::seconds(7));
  EXPECT_EQ(judged(503, "", {{"Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"}}).retry_after, std::nullopt);
  EXPECT_EQ(judged(503, "", {{"Retry-After", "99999"}}).retry_after, std::nullopt);
}

TEST(Delivery, WithoutAnAnswerItIsTriedAgainUnlessTheCallIsWrong) {
  EXPECT_TRUE(judge(fail(ErrorCode::kNoServer, "refused"), 5, "").may_repeat);
  EXPECT_TRUE(judge(fail(ErrorCode::kTimedOut, "late"), 5, "").may_repeat);
  EXPECT_FALSE(judge(fail(ErrorCode::kInvalidInput, "a header"), 5, "").may_repeat);
  EXPECT_EQ(judge(fail(ErrorCode::kInvalidInput, "a header"), 5, "").refused, 5);
}

TEST(Delivery, PausesGrowAndAreDrawn) {
  Rng rng(1);
  for (int tries = 1; tries < 100; ++tries) {
    const Micros pause = pause_after(tries, rng);
    const std::int64_t full = std::min<std::int64_t>(30, std::int64_t{1} << std::min(tries - 1, 10));
    EXPECT_GE(pause, Micros(full * 500'000));
    EXPECT_LT(pause, Micros::seconds(full));
  }
}

}  // namespace
}  // namespace berth::edges
