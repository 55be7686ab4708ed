// Answers that clients do not read, through a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "edges/http_server/test_server.h"

namespace berth::edges {
namespace {

using ::testing::HasSubstr;

std::string ask_for(const std::string& what, const std::string& method = "GET") {
  return method + " /" + what + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

class LargeAnswersTest : public RunningServerTest {
 protected:
  /// A client whose answer has begun, and which reads no more.
  [[nodiscard]] RawClient begun(const std::string& what, const std::string& method = "GET") const {
    RawClient client = connect();
    EXPECT_TRUE(client.send(ask_for(what, method)));
    EXPECT_TRUE(client.read_until("\r\n"));
    return client;
  }
  /// Whether a condition holds before a deadline.
  static bool soon(const std::function<bool()>& holds) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  bool is_answered(const std::string& what) { return connect().ask(ask_for(what)).status == 200; }
};

TEST_F(LargeAnswersTest, ThoseThatAreNotReadLeaveNoRoomForMore) {
  start({.large_answer_bytes_max = TestHandler::kHugeBytes + 1});
  {
    RawClient slow = connect();
    ASSERT_TRUE(slow.send(ask_for("huge")));
    ASSERT_TRUE(slow.read_until("\r\n\r\n"));
    const RawAnswer refused = connect().ask(ask_for("huge"));
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.body,
              "refused 503: wanted at most 40000001 bytes of large answers that their clients have not "
              "read: try again");
    EXPECT_EQ(connect().ask(ask_for("large")).status, 503);
    EXPECT_TRUE(is_answered("ok")) << "is not large";
    EXPECT_TRUE(is_answered("parts")) << "holds one part";
  }
  EXPECT_TRUE(soon([&] { return is_answered("huge"); })) << "the client has gone";
  EXPECT_TRUE(soon([&] { return is_answered("huge"); })) << "it was read";
}

TEST_F(LargeAnswersTest, OneThatIsLargerThanAllTogetherMayBeIsGivenAlone) {
  start({.large_answer_bytes_max = 1'000'000});
  RawClient client = connect();
  const RawAnswer answer = client.ask(ask_for("huge"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.size(), TestHandler::kHugeBytes);
}

TEST_F(LargeAnswersTest, WhatMayHaveChangedSomethingIsAnswered) {
  start({.large_answer_bytes_max = 1'000'000});
  const RawClient slow = begun("huge", "DELETE");
  EXPECT_EQ(connect().ask(ask_for("huge", "DELETE")).status, 200);
  EXPECT_EQ(connect().ask(ask_for("huge")).status, 503);
}

TEST_F(LargeAnswersTest, ABodyInPartsIsSentWhole) {
  start();
  std::string whole;
  for (std::size_t i = 0; i < TestHandler::kPartCount; ++i) whole += PartsOfLetters::part(i);
  RawClient client = connect();
  const RawAnswer answer = client.ask(ask_for("parts"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Content-Length: 40000000\r\n"));
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/plain\r\n"));
  EXPECT_THAT(answer.head, HasSubstr("X-Parts: yes\r\n"));
  EXPECT_TRUE(answer.body == whole);
  EXPECT_EQ(handler_.parts.asked_count, TestHandler::kPartCount);
  ASSERT_TRUE(client.send(ask_for("parts", "HEAD")));
  EXPECT_THAT(client.read_answer(false).head, HasSubstr("Content-Length: 40000000\r\n"));
  EXPECT_EQ(client.ask(ask_for("ok")).status, 200) << "the connection serves on";
  EXPECT_EQ(handler_.parts.asked_count, TestHandler::kPartCount) << "none for HEAD";
}

TEST_F(LargeAnswersTest, PartsAreNotMadeForAClientThatDoesNotReadOrHasGone) {
  start();
  {
    const RawClient slow = begun("parts");
    std::size_t asked = 0;
    EXPECT_TRUE(
        soon([&] { return std::exchange(asked, handler_.parts.asked_count.load()) == handler_.parts.asked_count; }));
    EXPECT_LT(asked, TestHandler::kPartCount);
    EXPECT_TRUE(is_answered("ok"));
    EXPECT_EQ(handler_.parts.open_count, 1);
  }
  EXPECT_TRUE(soon([&] { return handler_.parts.open_count == 0; }));
  EXPECT_LT(handler_.parts.asked_count, TestHandler::kPartCount);
}

TEST_F(LargeAnswersTest, ABodyOfWhichAPartIsMissingEndsItsConnection) {
  start();
  for (const char* what : {"missing-part", "throwing-part"}) {
    RawClient client = begun(what);
    EXPECT_TRUE(client.is_ended_by_server()) << what;
    EXPECT_TRUE(soon([&] { return handler_.parts.open_count == 0; })) << what;
  }
  EXPECT_TRUE(is_answered("ok"));
}

TEST_F(LargeAnswersTest, TheServerStopsWhileAnswersAreNotRead) {
  start();
  const RawClient parts = begun("parts");
  const RawClient whole = begun("huge");
  server_->stop();
  EXPECT_EQ(handler_.parts.open_count, 0);
}

}  // namespace
}  // namespace berth::edges
