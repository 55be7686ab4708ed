// Clients that do not send a whole request, through a running server.
#include <gtest/gtest.h>

#include <vector>

#include "edges/http_server/test_server.h"

namespace berth::edges {
namespace {

class WaitingConnectionsTest : public RunningServerTest {};

TEST_F(WaitingConnectionsTest, AreClosedAfterTheTimeForARequest) {
  start({.request_timeout = Micros(400'000)});
  RawClient silent = connect();
  RawClient in_head = connect();
  RawClient in_body = connect();
  RawClient after_answer = connect();
  EXPECT_TRUE(in_head.send("GET /ok HTTP/1.1\r\nHost: "));
  EXPECT_TRUE(in_body.send("PUT /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx"));
  EXPECT_EQ(after_answer.ask(kAskOther).status, 200);
  // A byte now and then does not help, although the library counts from the last one.
  bool is_open = true;
  for (int i = 0; i < 200 && is_open; ++i) {
    is_open = in_head.send("a") && in_head.is_silent(50);
  }
  EXPECT_FALSE(is_open);
  EXPECT_TRUE(silent.is_ended_by_server());
  EXPECT_TRUE(in_body.is_ended_by_server());
  EXPECT_TRUE(after_answer.is_ended_by_server());
  EXPECT_EQ(connect().ask(kAskOther).status, 200);
}

TEST_F(WaitingConnectionsTest, AreNotThoseThatWaitForTheirAnswers) {
  start({.request_timeout = Micros(300'000)});
  RawClient client = connect();
  ASSERT_TRUE(client.send("GET /later/1 HTTP/1.1\r\nHost: a\r\n\r\n"));
  auto waiting = handler_.later.take();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_TRUE(client.is_silent(1'200));
  waiting[0].reply->send({200, "", {}, "late"});
  EXPECT_EQ(client.read_answer().body, "late");
}

TEST_F(WaitingConnectionsTest, MakeRoomForNewOnes) {
  start({.connection_count_max = 16, .request_timeout = Micros::seconds(60)});
  // More than the server has room for, one after the other: each new one closes the oldest that has sent nothing.
  std::vector<RawClient> silent = several(60, [this] { return connect(); });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(connect().ask(kAskOther).status, 200);
  EXPECT_TRUE(silent[0].is_ended_by_server());
}

}  // namespace
}  // namespace berth::edges
