// Streams of events, through a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "edges/http_server/test_server.h"

namespace berth::edges {
namespace {

using ::testing::HasSubstr;

constexpr const char* kAsk = "GET /events HTTP/1.1\r\nHost: a\r\n\r\n";

class StreamsTest : public RunningServerTest {
 protected:
  /// A client whose stream is open: it has read the headers.
  [[nodiscard]] RawClient open_stream() const {
    RawClient client = connect();
    EXPECT_TRUE(client.send(kAsk));
    EXPECT_THAT(client.read_until("\r\n\r\n").value_or(""), HasSubstr("Content-Type: text/event-stream\r\n"));
    return client;
  }
  void publish(const std::string& event) {
    handler_.log.append(event + "\n\n");
    server_->wake_streams();
  }
};

TEST_F(StreamsTest, HeadersComeAtOnceAndEventsWhenTheyArePublished) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(kAsk));
  const std::string head = client.read_until("\r\n\r\n").value_or("");
  EXPECT_THAT(head, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(head, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(head, HasSubstr("X-Stream: yes\r\n"));
  EXPECT_TRUE(client.is_silent(50));
  publish("data: 1");
  EXPECT_THAT(client.read_until("\n\n").value_or(""), HasSubstr("data: 1\n\n"));
  publish("data: 2");
  EXPECT_THAT(client.read_until("\n\n").value_or(""), HasSubstr("data: 2\n\n"));
}

TEST_F(StreamsTest, ManyStreamsOnOneThreadLeaveRoomForRequests) {
  start();
  std::vector<RawClient> clients = several(64, [this] { return open_stream(); });
  EXPECT_EQ(connect().ask(kAskOther).status, 200);
  for (int event = 0; event < 10; ++event) {
    publish(fmt::format("data: {}", event));
    for (RawClient& client : clients) {
      EXPECT_THAT(client.read_until("\n\n").value_or(""), HasSubstr(fmt::format("data: {}\n\n", event)));
    }
  }
}

TEST_F(StreamsTest, NoWakeUpIsLost) {
  start({.thread_count = 2});
  std::vector<RawClient> clients = several(4, [this] { return open_stream(); });
  constexpr int kEventCount = 2000;
  std::thread producer([&] {
    for (int i = 0; i < kEventCount; ++i) publish(fmt::format("data: {}", i));
  });
  for (RawClient& client : clients) {
    EXPECT_TRUE(client.read_until(fmt::format("data: {}\n\n", kEventCount - 1)));
  }
  producer.join();
  // One at a time: each event must arrive although nothing follows it.
  for (int i = 0; i < 200; ++i) {
    publish(fmt::format("data: single {}", i));
    EXPECT_TRUE(clients[0].read_until(fmt::format("data: single {}\n\n", i)));
  }
}

TEST_F(StreamsTest, AWakeUpWhileTheSourceIsAskedIsNotLost) {
  start({.comment_interval = Micros::seconds(3600)});
  handler_.wake = [this] { server_->wake_streams(); };
  RawClient client = connect();
  ASSERT_TRUE(client.send("GET /raced-events HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_TRUE(client.read_until("data: raced\n\n"));
}

TEST_F(StreamsTest, ALongPieceArrivesWhole) {
  start();
  RawClient client = open_stream();
  const std::string data(500'000, 'd');
  publish("data: " + data + "!");
  const std::string received = client.read_until("!\n\n").value_or("");
  // The "d" of "data" and of sizes of chunks come on top.
  EXPECT_GT(std::ranges::count(received, 'd'), 500'000);
}

TEST_F(StreamsTest, StreamsGetCommentsWhenTheyAreDue) {
  start({.comment_interval = Micros(50'000)});
  std::vector<RawClient> clients = several(3, [this] { return open_stream(); });
  for (int round = 0; round < 3; ++round) {
    for (RawClient& client : clients) EXPECT_TRUE(client.read_until("\r\n:\n\n")) << round;
  }
  server_->stop();
  start({.comment_interval = Micros::seconds(3600)});
  RawClient quiet = open_stream();
  EXPECT_TRUE(quiet.is_silent(100));
}

TEST_F(StreamsTest, AClientThatHasGoneMakesRoomForAnother) {
  start({.connection_count_max = 4});
  RawClient older = connect();  // it stays, and has nothing to say
  ASSERT_EQ(older.ask(kAskOther).status, 200);
  {
    const std::vector<RawClient> clients = several(3, [this] { return open_stream(); });
  }
  // No event comes, and no comment is due.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  int status = 0;
  while (status != 200 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    RawClient client = connect();
    client.send(kAskOther);
    status = client.read_answer().status;
  }
  EXPECT_EQ(status, 200);
}

TEST_F(StreamsTest, EventsDoNotPutOffComments) {
  start({.comment_interval = Micros(300'000)});
  RawClient client = open_stream();
  std::atomic<bool> is_over = false;
  std::thread producer([&] {
    while (!is_over) {
      publish("data: busy");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  for (int round = 0; round < 2; ++round) EXPECT_TRUE(client.read_until("\n:\n\n")) << round;
  is_over = true;
  producer.join();
}

TEST_F(StreamsTest, ASlowReaderHoldsUpNeitherOthersNorTheProducer) {
  start();
  const RawClient slow = open_stream();
  RawClient fast = open_stream();
  const std::string data(100'000, 'd');
  for (int i = 0; i < 200; ++i) publish(fmt::format("data: {} {}", data, i));
  EXPECT_TRUE(fast.read_until(" 199\n\n"));
  EXPECT_EQ(connect().ask(kAskOther).status, 200);
}

TEST_F(StreamsTest, AReaderThatTakesNothingIsDroppedAfterTheIdleTimeout) {
  start({.idle_timeout = Micros::seconds(1), .comment_interval = Micros(10'000)});
  constexpr std::size_t kHugeBytes = 20'000'000;  // more than the system buffers
  RawClient stuck = open_stream();
  handler_.log.append("data: " + std::string(kHugeBytes, 'd') + "!\n\n");
  server_->wake_streams();
  EXPECT_TRUE(handler_.log.wait_until_unused());
  EXPECT_FALSE(stuck.read_until("!\n\n"));
}

TEST_F(StreamsTest, SourcesOfClientsThatLeftAreDestroyed) {
  start({.comment_interval = Micros(10'000)});
  {
    std::vector<RawClient> clients = several(10, [this] { return open_stream(); });
  }
  EXPECT_TRUE(handler_.log.wait_until_unused());
}

TEST_F(StreamsTest, ASourceEndsItsStreamAndTheConnectionServesOn) {
  start();
  RawClient client = open_stream();
  publish("data: 1");
  EXPECT_TRUE(client.read_until("data: 1\n\n\r\n"));
  handler_.log.end();
  server_->wake_streams();
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "0\r\n\r\n");
  EXPECT_EQ(client.ask(kAskOther).status, 200);
  RawClient broken = connect();
  ASSERT_TRUE(broken.send("GET /broken-events HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_TRUE(broken.read_until("0\r\n\r\n")) << "a source that throws ends its stream";
}

TEST_F(StreamsTest, AStreamForAnOldClientEndsWithItsConnection) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send("GET /events HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(client.read_until("\r\n\r\n"));
  publish("data: 1");
  EXPECT_EQ(client.read_until("\n\n"), "data: 1\n\n");
  handler_.log.end();
  server_->wake_streams();
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(StreamsTest, ConnectionsOfClientsThatLeftAreFreed) {
  start({.connection_count_max = 4, .comment_interval = Micros(20'000)});
  for (int round = 0; round < 3; ++round) {
    std::vector<RawClient> clients;
    while (clients.size() < 4) {
      RawClient client = connect();
      if (client.send(kAsk) && client.read_until("\r\n\r\n").value_or("").starts_with("HTTP/1.1 200")) {
        clients.push_back(std::move(client));
      }
    }
  }
}

TEST_F(StreamsTest, TheStopEndsStreamsAndRequestsUnderWay) {
  for (const unsigned thread_count : {1U, 3U}) {
    start({.thread_count = thread_count});
    std::vector<RawClient> clients = several(20, [this] { return open_stream(); });
    RawClient half = connect();
    ASSERT_TRUE(half.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"));
    const auto begin = std::chrono::steady_clock::now();
    server_->stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << "it waited for a client";
    for (RawClient& client : clients) {
      static_cast<void>(client.read_until("0\r\n\r\n"));
      EXPECT_TRUE(client.is_closed_by_server());
    }
    EXPECT_TRUE(half.is_closed_by_server());
    server_->wake_streams();  // of no effect now, and harmless
  }
}

TEST_F(StreamsTest, TheStopMayComeWhileEventsArePublishedAndStreamsOpened) {
  for (int round = 0; round < 10; ++round) {
    start({.comment_interval = Micros(1000), .thread_count = 2});
    const std::uint16_t port = server_->port();
    std::atomic<bool> is_over = false;
    std::thread producer([&] {
      while (!is_over) server_->wake_streams();
    });
    std::thread client([&] {
      while (!is_over) {
        RawClient each(port);
        if (each.send(kAsk)) static_cast<void>(each.read_until("\r\n\r\n"));
      }
    });
    RawClient stream = open_stream();
    static_cast<void>(stream.read_until(":\n\n"));
    server_->stop();
    is_over = true;
    producer.join();
    client.join();
  }
}

}  // namespace
}  // namespace berth::edges
