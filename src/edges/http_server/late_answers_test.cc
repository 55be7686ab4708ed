// Deferred answers, through a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "edges/http_server/test_server.h"

namespace berth::edges {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr const char* kAskStart = "GET /start HTTP/1.1\r\nHost: a\r\n\r\n";

std::string ask_later(std::size_t number) { return fmt::format("GET /later/{} HTTP/1.1\r\nHost: a\r\n\r\n", number); }

std::string answer_of(std::size_t number) { return fmt::format("GET [later][{}]: ", number); }

class LateAnswersTest : public RunningServerTest {
 protected:
  /// Clients that wait for their answers, each for that of its index.
  [[nodiscard]] std::vector<RawClient> waiting_clients(std::size_t count) const {
    std::vector<RawClient> clients = several(count, [this] { return connect(); });
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(clients[i].send(ask_later(i)));
    return clients;
  }
};

TEST_F(LateAnswersTest, AnAnswerGoesOutWhenItIsGivenAndOthersDoNotWaitForIt) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send("PUT /later?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"));
  auto waiting = handler_.later.take();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(connect().ask(kAskOther).status, 200) << "the only thread is free";
  EXPECT_TRUE(client.is_silent(50));
  waiting[0].response.status = 201;
  waiting[0].send();
  const RawAnswer answer = client.read_answer();
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.body, "PUT [later] x=1: body");
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/plain\r\n"));
  EXPECT_THAT(answer.head, HasSubstr("X-Peer: 127.0.0.1:"));
  waiting[0].reply->send({500, "", {}, "second"});
  EXPECT_EQ(client.ask(kAskOther).status, 200) << "only the first answer counts, and the connection serves on";
}

TEST_F(LateAnswersTest, ManyWaitAndAreAnsweredInAnyOrder) {
  constexpr std::size_t kCount = 256;
  std::mt19937 random(1);
  for (const unsigned thread_count : {3U, 4U}) {
    start({.thread_count = thread_count});
    std::vector<RawClient> clients = several(kCount, [this] { return connect(); });
    for (int round = 0; round < 5; ++round) {
      for (std::size_t i = 0; i < kCount; ++i) ASSERT_TRUE(clients[i].send(ask_later(i)));
      auto waiting = handler_.later.take(kCount);
      ASSERT_EQ(waiting.size(), kCount) << thread_count << " threads, round " << round;
      std::ranges::shuffle(waiting, random);
      std::thread answering([&] {
        for (WaitingReplies::Waiting& each : waiting) each.send();
      });
      for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(clients[i].read_answer().body, answer_of(i));
      answering.join();
    }
    server_->stop();
  }
}

TEST_F(LateAnswersTest, AnAnswerMayBeGivenBeforeTheStartReturns) {
  start();
  handler_.start = [](std::unique_ptr<HttpLateReply> reply) { reply->send({200, "text/plain", {}, "at once"}); };
  RawClient client = connect();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client.ask(kAskStart).body, "at once");
  handler_.start = [](std::unique_ptr<HttpLateReply> reply) {
    std::thread([&] { reply->send({200, "text/plain", {}, "by another thread"}); }).join();
  };
  EXPECT_EQ(client.ask(kAskStart).body, "by another thread");
}

TEST_F(LateAnswersTest, NoAnswerIsLostBetweenTheStartAndTheSuspension) {
  start({.thread_count = 2});
  const AnsweringThread answering(handler_.later);  // sometimes an answer comes between the two
  std::vector<RawClient> clients = several(4, [this] { return connect(); });
  for (std::size_t round = 0; round < 2000; ++round) {
    for (RawClient& client : clients) ASSERT_TRUE(client.send(ask_later(round)));
    for (RawClient& client : clients) ASSERT_EQ(client.read_answer().body, answer_of(round));
  }
}

TEST_F(LateAnswersTest, AReplyThatIsDestroyedUnsentIsARefusal) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(ask_later(1)));
  EXPECT_EQ(handler_.later.take().size(), 1U) << "and they are destroyed";
  const RawAnswer late = client.read_answer();
  EXPECT_EQ(late.status, 500);
  EXPECT_EQ(late.body, "refused 500: the handler gave no answer");
  handler_.start = [](const std::unique_ptr<HttpLateReply>&) {};
  EXPECT_EQ(client.ask(kAskStart).body, "refused 500: the handler gave no answer");
  EXPECT_EQ(client.ask(kAskOther).status, 200);
}

TEST_F(LateAnswersTest, AFailureOfTheStartOrAnAnswerThatCannotBeSentIsARefusal) {
  start();
  RawClient client = connect();
  std::unique_ptr<HttpLateReply> kept;
  handler_.start = [&](std::unique_ptr<HttpLateReply> reply) {
    kept = std::move(reply);
    throw std::runtime_error("on purpose");
  };
  EXPECT_EQ(client.ask(kAskStart).body, "refused 500: the handler failed: on purpose");
  kept->send({200, "text/plain", {}, "too late"});
  handler_.start = nullptr;
  EXPECT_EQ(client.ask(kAskStart).status, 500);
  ASSERT_TRUE(client.send(ask_later(1)));
  handler_.later.take().at(0).reply->send({200, "text/plain", {{"X", "a\r\nSet: b"}}, ""});
  EXPECT_EQ(client.read_answer().body, "refused 500: the handler's answer has a header that cannot be sent");
  EXPECT_EQ(client.ask(kAskOther).status, 200);
}

TEST_F(LateAnswersTest, PipelinedRequestsAreAnsweredInOrder) {
  constexpr std::size_t kCount = 20;
  start({.thread_count = 2});
  std::string all;
  for (std::size_t i = 0; i < kCount; ++i) all += ask_later(i) + kAskOther;
  RawClient client = connect();
  ASSERT_TRUE(client.send(all));
  for (std::size_t i = 0; i < kCount; ++i) {
    auto waiting = handler_.later.take();
    ASSERT_EQ(waiting.size(), 1U) << "the next request is handled after this one's answer";
    waiting[0].send();
    EXPECT_EQ(client.read_answer().body, answer_of(i));
    EXPECT_EQ(client.read_answer().body, "GET [ok]: ");
  }
}

TEST_F(LateAnswersTest, MoreRequestsArriveWhileOneWaits) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(ask_later(1)));
  auto waiting = handler_.later.take();
  ASSERT_TRUE(client.send(ask_later(2)));
  ASSERT_TRUE(client.send(kAskOther));
  EXPECT_TRUE(client.is_silent(50));
  waiting.at(0).send();
  handler_.later.take().at(0).send();
  EXPECT_EQ(client.read_answer().body, answer_of(1));
  EXPECT_EQ(client.read_answer().body, answer_of(2));
  EXPECT_EQ(client.read_answer().body, "GET [ok]: ");
}

TEST_F(LateAnswersTest, HeadIsGetWithoutItsBody) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send("HEAD /later/1 HTTP/1.1\r\nHost: a\r\n\r\n"));
  handler_.later.take().at(0).send();
  const RawAnswer head = client.read_answer(false);
  EXPECT_EQ(head.status, 200);
  EXPECT_THAT(head.head, HasSubstr(fmt::format("Content-Length: {}\r\n", answer_of(1).size())));
  EXPECT_EQ(client.ask(kAskOther).body, "GET [ok]: ") << "nothing was left over";
}

TEST_F(LateAnswersTest, BodiesMayBeLarge) {
  start({.thread_count = 2});
  const std::string body(1'000'000, 'b');
  std::vector<RawClient> clients = several(8, [this] { return connect(); });
  for (const RawClient& client : clients) {
    ASSERT_TRUE(client.send(fmt::format("PUT /later HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.size())));
    ASSERT_TRUE(client.send(body));
  }
  auto waiting = handler_.later.take(clients.size());
  ASSERT_EQ(waiting.size(), clients.size());
  for (WaitingReplies::Waiting& each : waiting) {
    each.response.body += std::string(3'000'000, 'x');
    each.send();
  }
  for (RawClient& client : clients) {
    EXPECT_EQ(client.read_answer().body, "PUT [later]: " + body + std::string(3'000'000, 'x'));
  }
}

TEST_F(LateAnswersTest, OldClientsGetTheAnswerAndTheConnectionEnds) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send("GET /later/1 HTTP/1.0\r\n\r\n"));
  handler_.later.take().at(0).send();
  EXPECT_EQ(client.read_answer().body, answer_of(1));
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(LateAnswersTest, AClientThatOnlyEndsItsSideGetsTheAnswer) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(ask_later(1)));
  client.end_sending();
  handler_.later.take().at(0).send();
  EXPECT_EQ(client.read_answer().body, answer_of(1));
}

TEST_F(LateAnswersTest, AClientThatHasGoneMakesRoomWhenItsAnswerIsGiven) {
  start({.connection_count_max = 4});
  RawClient older = connect();  // it stays, and has nothing to say
  ASSERT_EQ(older.ask(kAskOther).status, 200);
  std::vector<WaitingReplies::Waiting> waiting;
  {
    const std::vector<RawClient> clients = waiting_clients(3);
    waiting = handler_.later.take(3);
    ASSERT_EQ(waiting.size(), 3U);
  }
  waiting[0].send();
  waiting[1].reply->send({200, "text/plain", {}, std::string(3'000'000, 'x')});
  waiting.clear();
  // The server sees the closed connections soon, not at once.
  std::vector<RawClient> clients;
  const auto deadline = Clock::now() + std::chrono::seconds(5);
  while (clients.size() < 3 && Clock::now() < deadline) {
    RawClient client = connect();
    if (client.ask(kAskOther).status == 200) {
      clients.push_back(std::move(client));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  EXPECT_EQ(clients.size(), 3U);
  EXPECT_EQ(older.ask(kAskOther).status, 200);
}

TEST_F(LateAnswersTest, AClientThatWaitsIsNotTimedOut) {
  start({.idle_timeout = Micros::seconds(1)});
  RawClient client = connect();
  ASSERT_TRUE(client.send(ask_later(1)));
  auto waiting = handler_.later.take();
  EXPECT_TRUE(client.is_silent(2500));
  waiting.at(0).send();
  EXPECT_EQ(client.read_answer().body, answer_of(1));
  EXPECT_EQ(client.ask(kAskOther).status, 200);
  EXPECT_TRUE(client.is_closed_by_server()) << "but it is when it has its answer";
}

TEST_F(LateAnswersTest, StreamsAndLateAnswersShareAServer) {
  start({.comment_interval = Micros(1000)});
  RawClient stream = connect();
  ASSERT_TRUE(stream.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n"));
  std::vector<RawClient> clients = waiting_clients(20);
  auto waiting = handler_.later.take(20);
  ASSERT_EQ(waiting.size(), 20U);
  handler_.log.append("data: 1\n\n");
  server_->wake_streams();
  EXPECT_TRUE(stream.read_until("data: 1\n\n"));
  for (WaitingReplies::Waiting& each : waiting) each.send();
  for (std::size_t i = 0; i < clients.size(); ++i) EXPECT_EQ(clients[i].read_answer().body, answer_of(i));
}

TEST_F(LateAnswersTest, TheStopEndsWaitingRequestsAndRepliesMayOutliveTheServer) {
  for (const unsigned thread_count : {1U, 3U}) {
    start({.thread_count = thread_count});
    std::vector<RawClient> clients = waiting_clients(100);
    auto waiting = handler_.later.take(100);
    ASSERT_EQ(waiting.size(), 100U);
    const auto begin = Clock::now();
    server_->stop();
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10)) << "it waited for an answer or a client";
    for (RawClient& client : clients) EXPECT_TRUE(client.is_closed_by_server());
    for (std::size_t i = 0; i < 30; ++i) waiting[i].send();
    waiting.resize(60);
    server_.reset();
    for (std::size_t i = 30; i < 50; ++i) waiting[i].send();
  }
}

TEST_F(LateAnswersTest, TheStopMayComeWhileRequestsArriveAndAnswersAreGiven) {
  for (int round = 0; round < 20; ++round) {
    start({.thread_count = 2});
    const AnsweringThread answering(handler_.later);
    std::vector<RawClient> clients = several(16, [this] { return connect(); });
    std::thread asking([&] {
      while (std::ranges::all_of(clients, [](const RawClient& each) { return each.send(ask_later(1)); })) {
        for (RawClient& client : clients) {
          if (client.read_answer().status != 200) return;
        }
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    server_->stop();
    asking.join();
  }
}

}  // namespace
}  // namespace berth::edges
