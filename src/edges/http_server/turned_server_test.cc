// A server that a thread of its user turns.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "edges/http_server/http_server.h"
#include "edges/http_server/test_handler.h"
#include "edges/http_server/test_raw_client.h"
#include "edges/http_server/test_server.h"

namespace berth::edges {
namespace {

constexpr int kWaitMaxMs = 20;  // until the thread sees that it is to end

class TurnedServerTest : public ::testing::Test {
 protected:
  ~TurnedServerTest() override { stop(); }

  void start(const HttpServerOptions& options = {}) {
    auto started = start_turned_http_server(options, handler_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
    thread_ = std::thread([this] { turn(); });
  }
  void stop() {
    is_ended_ = true;
    if (thread_.joinable()) thread_.join();
    if (server_ != nullptr) server_->stop();
  }
  [[nodiscard]] RawClient connect() const { return RawClient(server_->port()); }

  TestHandler handler_;

 private:
  void turn() {
    while (!is_ended_) {
      const auto next = server_->turn();
      const int wait_ms =
          next ? static_cast<int>(std::min<std::int64_t>(next->count() / 1000, kWaitMaxMs)) : kWaitMaxMs;
      pollfd waited{.fd = server_->descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&waited, 1, wait_ms);
    }
  }

  std::atomic<bool> is_ended_ = false;
  std::unique_ptr<TurnedHttpServer> server_;
  std::thread thread_;
};

TEST_F(TurnedServerTest, AnswersAtOnceAndLater) {
  start();
  RawClient client = connect();
  EXPECT_EQ(client.ask(kAskOther).body, "GET [ok]: ");
  EXPECT_EQ(client.ask("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n" + std::string(40'000, 'b')).body,
            "PUT [x]: " + std::string(40'000, 'b'));
  ASSERT_TRUE(client.send("GET /later/1 HTTP/1.1\r\nHost: a\r\n\r\n"));
  auto waiting = handler_.later.take();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(connect().ask(kAskOther).status, 200) << "others are served meanwhile";
  waiting[0].reply->send({200, "", {}, "late"});
  EXPECT_EQ(client.read_answer().body, "late");
}

// The thread of libmicrohttpd has a limit on connections, see http_server.cc.
TEST_F(TurnedServerTest, HasNoLimitOfAThread) {
  constexpr unsigned kCount = 300;
  start({.connection_count_max = kCount});
  std::vector<RawClient> clients = several(kCount, [this] { return connect(); });
  for (const std::size_t count : {std::size_t{128}, std::size_t{256}, std::size_t{kCount}}) {
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(clients[i].send(kAskOther));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(clients[i].read_answer().status, 200) << i << " of " << count;
  }
  EXPECT_EQ(connect().ask(kAskOther).body, "refused 503: wanted at most 300 connections at a time");
}

TEST_F(TurnedServerTest, ClosesIdleConnections) {
  start({.idle_timeout = Micros::seconds(1)});
  RawClient idle = connect();
  EXPECT_EQ(idle.ask(kAskOther).status, 200);
  EXPECT_TRUE(idle.is_closed_by_server());
}

TEST_F(TurnedServerTest, EndsWithRequestsThatWait) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send("GET /later/1 HTTP/1.1\r\nHost: a\r\n\r\n"));
  auto waiting = handler_.later.take();
  ASSERT_EQ(waiting.size(), 1U);
  stop();
  EXPECT_TRUE(client.is_ended_by_server());
  waiting[0].reply->send({200, "", {}, "too late"});
}

}  // namespace
}  // namespace berth::edges
