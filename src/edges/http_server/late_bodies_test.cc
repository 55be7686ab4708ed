// Answers whose body is written while it is sent, and clients that leave, through a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "edges/http_server/test_server.h"

namespace berth::edges {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kAskBody = "GET /start HTTP/1.1\r\nHost: a\r\n\r\n";

/// Counts calls; any thread.
class CallCount {
 public:
  [[nodiscard]] std::function<void()> counting() {
    return [this] {
      const std::scoped_lock lock(mutex_);
      ++count_;
      changed_.notify_all();
    };
  }
  [[nodiscard]] int count() const {
    const std::scoped_lock lock(mutex_);
    return count_;
  }
  [[nodiscard]] bool reaches(int count, std::chrono::milliseconds within = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, within, [&] { return count_ >= count; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

class LateBodiesTest : public RunningServerTest {
 protected:
  void start(const HttpServerOptions& options = {}) {
    handler_.start = [this](std::unique_ptr<HttpLateReply> reply) {
      if (is_watched_) reply->on_gone(gone_.counting());
      const std::scoped_lock lock(mutex_);
      replies_.push_back(std::move(reply));
      changed_.notify_all();
    };
    RunningServerTest::start(options);
  }

  /// The reply to the next request.
  [[nodiscard]] std::unique_ptr<HttpLateReply> take() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return !replies_.empty(); });
    if (replies_.empty()) return nullptr;
    auto reply = std::move(replies_.front());
    replies_.erase(replies_.begin());
    return reply;
  }

  /// A client's request, and what its answer is written with.
  struct Begun {
    RawClient client;
    std::unique_ptr<HttpBodyWriter> writer;
  };
  [[nodiscard]] Begun begin(HttpBodyHead head = {}, const char* ask = kAskBody) {
    RawClient client = connect();
    EXPECT_TRUE(client.send(ask));
    const auto reply = take();
    auto writer = reply == nullptr ? nullptr : reply->begin(std::move(head), room_.counting());
    return {std::move(client), std::move(writer)};
  }

  /// Whether one more client is served within a second.
  [[nodiscard]] bool is_room_soon() const {
    for (int i = 0; i < 100; ++i) {
      if (connect().ask(kAskOther).status == 200) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<HttpLateReply>> replies_;
  bool is_watched_ = true;
  CallCount gone_;
  CallCount room_;
};

TEST_F(LateBodiesTest, PartsAreSentAtOnceAndTheConnectionServesOn) {
  start();
  auto [client, writer] = begin({.status = 207,
                                 .content_type = "text/event-stream",
                                 .headers = {{"X-Key", "a"}},
                                 .bytes = std::nullopt,
                                 .first = "data: 1\n\n"});
  const auto head = client.read_until("\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_THAT(*head, StartsWith("HTTP/1.1 207 "));
  EXPECT_THAT(*head, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(*head, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(*head, HasSubstr("X-Key: a\r\n"));
  EXPECT_EQ(client.read_until("\n\n\r\n"), "9\r\ndata: 1\n\n\r\n");
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(writer->write("part"), HttpBodyFlow::kGoesOn);
    ASSERT_EQ(client.read_until("part\r\n"), "4\r\npart\r\n");
  }
  EXPECT_EQ(writer->write(""), HttpBodyFlow::kGoesOn);
  writer->end();
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "0\r\n\r\n");
  writer.reset();
  EXPECT_EQ(client.ask(kAskOther).status, 200);
  EXPECT_EQ(gone_.count(), 0);
}

TEST_F(LateBodiesTest, ABodyThatIsNotEndedHasNoLastChunk) {
  start({.connection_count_max = 4});
  RawClient older = connect();
  ASSERT_EQ(older.ask(kAskOther).status, 200);
  for (int i = 0; i < 8; ++i) {
    auto [client, writer] = begin();
    writer->write("some");
    writer.reset();
    const auto part = client.read_until("some\r\n");
    ASSERT_TRUE(part);
    EXPECT_TRUE(client.is_closed_by_server()) << i;
    EXPECT_TRUE(is_room_soon()) << i;
  }
  EXPECT_EQ(gone_.count(), 0);
  EXPECT_EQ(older.ask(kAskOther).status, 200);
}

TEST_F(LateBodiesTest, ABodyOfKnownLengthHasIt) {
  start();
  auto [client, writer] = begin({.bytes = 8, .first = "half"});
  writer->write("full");
  writer->end();
  EXPECT_EQ(client.read_answer().body, "halffull");
  EXPECT_EQ(client.ask(kAskOther).status, 200);
  auto [other, short_writer] = begin({.bytes = 8, .first = "half"});
  short_writer->end();
  EXPECT_TRUE(other.read_until("half"));
  EXPECT_TRUE(other.is_closed_by_server());
}

TEST_F(LateBodiesTest, AClientThatDoesNotReadFillsTheBodyAndMakesRoomWhenItReads) {
  start();
  auto [client, writer] = begin();
  const std::string part(10'000, 'x');
  std::size_t count = 1;
  while (writer->write(part) == HttpBodyFlow::kGoesOn && count < 10'000) ++count;
  ASSERT_LT(count, 10'000U) << "megabytes wait for a client that does not read";
  EXPECT_EQ(writer->write(part), HttpBodyFlow::kFull);
  EXPECT_EQ(room_.count(), 0);
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(client.read_until(std::string(1000, 'x')));
  EXPECT_TRUE(room_.reaches(1));
  std::size_t bytes = 0;
  writer->write("end");
  writer->end();
  while (const auto rest = client.read_until("\r\n")) {
    bytes += rest->size();
    if (*rest == "0\r\n") break;
  }
  EXPECT_GT(bytes, 0U);
  EXPECT_EQ(gone_.count(), 0);
}

TEST_F(LateBodiesTest, AClientThatLeavesIsNoticedWhileItWaits) {
  start({.connection_count_max = 2});
  RawClient older = connect();
  ASSERT_EQ(older.ask(kAskOther).status, 200);
  std::optional<RawClient> client(connect());
  ASSERT_TRUE(client->send(kAskBody));
  const auto reply = take();
  EXPECT_FALSE(gone_.reaches(1, std::chrono::milliseconds(150)));
  client.reset();
  EXPECT_TRUE(gone_.reaches(1, std::chrono::milliseconds(1000)));
  reply->send({200, "text/plain", {}, "too late"});
  EXPECT_TRUE(is_room_soon()) << "its connection is free";
  EXPECT_EQ(gone_.count(), 1);
}

TEST_F(LateBodiesTest, AClientThatLeavesIsNoticedWithinABody) {
  start();
  for (const bool is_full : {false, true}) {
    const int before = gone_.count();
    auto [client, writer] = begin();
    EXPECT_EQ(writer->write("some"), HttpBodyFlow::kGoesOn);
    ASSERT_TRUE(client.read_until("some\r\n"));
    const std::string part(100'000, 'x');
    while (is_full && writer->write(part) != HttpBodyFlow::kFull) {
    }
    {
      const RawClient closed = std::move(client);
    }
    EXPECT_TRUE(gone_.reaches(before + 1, std::chrono::milliseconds(1000)));
    EXPECT_EQ(writer->write("more"), HttpBodyFlow::kGone);
    writer->end();
  }
  EXPECT_EQ(gone_.count(), 2);
}

TEST_F(LateBodiesTest, AWatchedClientThatEndsItsSideHasLeft) {
  start();
  auto [client, writer] = begin({.first = "some"});
  EXPECT_TRUE(client.read_until("some\r\n"));
  client.end_sending();
  EXPECT_TRUE(gone_.reaches(1, std::chrono::milliseconds(1000)));
  EXPECT_TRUE(client.is_closed_by_server()) << "without the last chunk";
}

TEST_F(LateBodiesTest, AClientThatIsNotWatchedMayEndItsSide) {
  is_watched_ = false;
  start();
  auto [client, writer] = begin({.first = "some"});
  EXPECT_TRUE(client.read_until("some\r\n"));
  client.end_sending();
  EXPECT_TRUE(client.is_silent(300));
  EXPECT_EQ(writer->write("more"), HttpBodyFlow::kGoesOn);
  EXPECT_TRUE(client.read_until("more\r\n"));
  writer->end();
  EXPECT_TRUE(client.read_until("0\r\n\r\n"));
}

TEST_F(LateBodiesTest, AClientMayBeWatchedLater) {
  is_watched_ = false;
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(kAskBody));
  const auto reply = take();
  const auto writer = reply->begin({}, {});
  reply->on_gone(gone_.counting());
  client.end_sending();
  EXPECT_TRUE(gone_.reaches(1, std::chrono::milliseconds(1000)));
  CallCount again;
  reply->on_gone(again.counting());
  EXPECT_EQ(again.count(), 1) << "it has left already";
}

TEST_F(LateBodiesTest, TheStopEndsBodiesAndIsReported) {
  for (const unsigned thread_count : {1U, 3U}) {
    const int before = gone_.count();
    start({.thread_count = thread_count});
    auto [begun, writer] = begin({.first = "some"});
    RawClient waiting = connect();
    ASSERT_TRUE(waiting.send(kAskBody));
    const auto reply = take();
    server_->stop();
    EXPECT_EQ(gone_.count(), before + 2);
    EXPECT_EQ(writer->write("more"), HttpBodyFlow::kGone);
    EXPECT_EQ(reply->begin({}, {})->write("more"), HttpBodyFlow::kGone);
    server_.reset();
    EXPECT_EQ(writer->write("more"), HttpBodyFlow::kGone);
  }
}

TEST_F(LateBodiesTest, HeadersThatCannotBeSentAreARefusal) {
  start();
  auto [client, writer] = begin({.headers = {{"X", "a\r\nSet: b"}}, .first = "some"});
  EXPECT_EQ(client.read_answer().body, "refused 500: the handler's answer has a header that cannot be sent");
  EXPECT_TRUE(gone_.reaches(1));
  EXPECT_EQ(writer->write("more"), HttpBodyFlow::kGone);
  EXPECT_EQ(client.ask(kAskOther).status, 200);
}

TEST_F(LateBodiesTest, HeadHasNoBody) {
  start();
  auto [client, writer] = begin({.first = "some"}, "HEAD /start HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(client.read_until("\r\n\r\n"));
  EXPECT_TRUE(gone_.reaches(1));
  EXPECT_TRUE(client.is_closed_by_server()) << "and no chunk";
}

TEST_F(LateBodiesTest, PartsOfAllSizesArriveInOrder) {
  start();
  auto [client, writer] = begin();
  std::string sent;
  std::string received;
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::string part((i * 37) % 20'000 + 1, static_cast<char>('a' + i % 26));
    writer->write(part);
    sent += part;
    // It reads in bursts, so that sometimes much is on the way.
    while (i % 8 == 7 && received.size() < sent.size()) {
      const auto length = client.read_until("\r\n");
      ASSERT_TRUE(length);
      if (length->starts_with("HTTP/") || length->find(':') != std::string::npos || length->size() == 2) continue;
      const auto chunk = client.read_until("\r\n");
      ASSERT_TRUE(chunk);
      ASSERT_EQ(std::stoul(*length, nullptr, 16), chunk->size() - 2);
      received += chunk->substr(0, chunk->size() - 2);
    }
  }
  EXPECT_TRUE(received == sent);
  writer->end();
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "0\r\n\r\n");
}

TEST_F(LateBodiesTest, ClientsOfOtherVersionsGetTheBodyAsTheyExpectIt) {
  start();
  for (const char* ask :
       {"GET /start HTTP/1.0\r\n\r\n", "GET /start HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"}) {
    auto [client, writer] = begin({}, ask);
    writer->write("one");
    ASSERT_TRUE(client.read_until("one"));
    writer->write("two");
    const auto second = client.read_until("two");
    const bool is_old = std::string_view(ask).find("HTTP/1.0") != std::string_view::npos;
    EXPECT_EQ(second, is_old ? "two" : "\r\n3\r\ntwo");
    writer->end();
    EXPECT_TRUE(client.is_ended_by_server());
  }
}

TEST_F(LateBodiesTest, ManyBodiesAreWrittenByOneThread) {
  constexpr std::size_t kCount = 32;
  constexpr int kPartCount = 500;
  start({.thread_count = 2});
  std::vector<Begun> all;
  for (std::size_t i = 0; i < kCount; ++i) all.push_back(begin());
  std::thread writing([&] {
    for (int part = 0; part < kPartCount; ++part) {
      for (Begun& each : all) EXPECT_EQ(each.writer->write(fmt::format("<{}>", part)), HttpBodyFlow::kGoesOn);
    }
    for (Begun& each : all) each.writer->end();
  });
  for (Begun& each : all) {
    for (int part = 0; part < kPartCount; ++part) ASSERT_TRUE(each.client.read_until(fmt::format("<{}>", part)));
    EXPECT_THAT(each.client.read_until("0\r\n\r\n").value_or(""), HasSubstr("0\r\n\r\n"));
  }
  writing.join();
}

}  // namespace
}  // namespace berth::edges
