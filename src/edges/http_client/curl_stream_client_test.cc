#include "edges/http_client/curl_stream_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "edges/http_client/test_scripted_server.h"
#include "edges/http_client/testing/scripted_backend.h"

namespace berth::edges {
namespace {

using testing::BackendConnection;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedBackend;
using ::testing::StartsWith;

/// What a reader was told, for the thread of the test.
class ReadSoFar {
 public:
  template <class Change>
  void change(const Change& change) {
    const std::scoped_lock lock(mutex_);
    change(*this);
    changed_.notify_all();
  }
  template <class Condition>
  [[nodiscard]] bool wait(const Condition& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return condition(*this); });
  }
  [[nodiscard]] bool has_body(const std::string& wanted) {
    return wait([&](const ReadSoFar& so_far) { return so_far.body == wanted; });
  }
  [[nodiscard]] Result<void> ended() {
    if (!wait([](const ReadSoFar& so_far) { return so_far.outcome.has_value(); })) std::abort();
    return *outcome;
  }

  HttpCallNumber number = 0;
  std::optional<HttpReplyHead> head;
  std::string body;
  std::optional<Result<void>> outcome;
  std::size_t pause_at = SIZE_MAX;  ///< bytes of the body after which it pauses, until this is raised

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class TestReader : public HttpReplyReader {
 public:
  explicit TestReader(ReadSoFar& so_far) : so_far_(so_far) {}
  void on_start(HttpCallNumber number) override {
    so_far_.change([&](ReadSoFar& all) { all.number = number; });
  }
  void on_head(HttpReplyHead head) override {
    so_far_.change([&](ReadSoFar& all) { all.head = std::move(head); });
  }
  [[nodiscard]] HttpReading on_bytes(std::string_view bytes) override {
    bool is_paused = false;
    so_far_.change([&](ReadSoFar& all) {
      all.body += bytes;
      is_paused = all.body.size() >= all.pause_at;
    });
    return is_paused ? HttpReading::kPaused : HttpReading::kGoesOn;
  }
  void on_end(Result<void> outcome) override {
    so_far_.change([&](ReadSoFar& all) { all.outcome = std::move(outcome); });
  }

 private:
  ReadSoFar& so_far_;
};

HttpCall post(const std::string& url, std::string body = "{}") {
  return {.method = "POST", .url = url, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

constexpr const char* kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n";

class CurlStreamClientTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<void> send(HttpCall call, ReadSoFar& so_far) {
    client_.start(std::move(call), std::make_unique<TestReader>(so_far));
    return so_far.ended();
  }

  CurlStreamClient client_{{.connect_timeout = Micros::seconds(10), .silence_max = Micros(300'000)}};
};

TEST_F(CurlStreamClientTest, TheHeadComesFirstAndThenEachPartAsItArrives) {
  ReadSoFar so_far;
  std::string request;
  ScriptedBackend backend([&](BackendConnection& connection) {
    request = connection.receive_request().value_or("");
    connection.send("HTTP/1.1 100 Continue\r\nX-B: c\r\n\r\n");
    connection.send(kChunkedHead);
    EXPECT_TRUE(so_far.wait([](const ReadSoFar& all) { return all.head.has_value(); }));
    std::string body;
    for (int i = 0; i < 20; ++i) {
      const std::string part = fmt::format("part {} ", i);
      connection.send_chunk(part);
      body += part;
      ASSERT_TRUE(so_far.has_body(body));
    }
    connection.send("0\r\nX-Trailer: a\r\n\r\n");
  });
  const auto ended = send(post(backend.url("/v1/x"), std::string("{\0}", 3)), so_far);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(so_far.head->status, 200);
  EXPECT_EQ(so_far.head->headers, (std::vector<HttpField>{{"Transfer-Encoding", "chunked"}, {"X-A", "b"}}));
  EXPECT_THAT(request, StartsWith("POST /v1/x HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Length: 3\r\n"));
  EXPECT_THAT(request, Not(HasSubstr("Accept")));
  EXPECT_THAT(request, Not(HasSubstr("Expect")));
  EXPECT_TRUE(request.ends_with(std::string("\r\n\r\n{\0}", 7)));
}

TEST_F(CurlStreamClientTest, ConnectionsAreUsedAgain) {
  ScriptedBackend backend([&](BackendConnection& connection) {
    while (connection.receive_request()) connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}");
  });
  for (int i = 0; i < 10; ++i) {
    ReadSoFar so_far;
    ASSERT_TRUE(send(post(backend.url()), so_far));
    EXPECT_EQ(so_far.head->status, 404);
    EXPECT_EQ(so_far.body, "{}");
  }
  ReadSoFar get;
  ASSERT_TRUE(send({.url = backend.url(), .headers = {}, .body = {}}, get));
  EXPECT_EQ(backend.connection_count(), 1);
}

TEST_F(CurlStreamClientTest, WhileNothingHappensTheThreadWaits) {
  ScriptedBackend backend([&](BackendConnection& connection) {
    while (connection.receive_request()) connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  });
  ReadSoFar so_far;
  ASSERT_TRUE(send(post(backend.url()), so_far));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.1);
}

TEST_F(CurlStreamClientTest, NothingIsSentTwiceIfAKeptConnectionBreaks) {
  std::atomic<int> request_count = 0;
  ScriptedBackend backend([&](BackendConnection& connection) {
    for (int i = 0; i < 2 && connection.receive_request(); ++i) {
      ++request_count;
      if (i == 0) connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  for (const std::size_t body_bytes : {2U, 100'000U}) {
    request_count = 0;
    ReadSoFar first;
    ASSERT_TRUE(send(post(backend.url()), first));
    ReadSoFar second;
    const auto ended = send(post(backend.url(), std::string(body_bytes, 'x')), second);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(request_count, 2);
    EXPECT_FALSE(second.head);
  }
}

TEST_F(CurlStreamClientTest, BrokenAnswersAreErrors) {
  struct Case {
    std::string answer;
    bool has_head;
    std::string body;
  };
  const std::vector<Case> cases = {
      {"", false, ""},
      {"SSH-2.0\r\n\r\n", false, ""},
      {"HTTP/1.1 200 OK\r\nContent-Le", false, ""},
      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true, "abc"},
      {std::string(kChunkedHead) + "3\r\nabc\r\n", true, "abc"},
      {std::string(kChunkedHead) + "3\r\nabc\r\nnot a length\r\n", true, "abc"},
      {"HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n", false, ""},
      {"HTTP/1.1 101 Switching Protocols\r\n\r\nabc", false, ""},
      {"HTTP/2 200\r\nContent-Length: 3\r\n\r\nabc", false, ""},
      {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", false, ""},
  };
  for (const Case& each : cases) {
    ScriptedServer server(each.answer);
    ReadSoFar so_far;
    const auto ended = send(post(server.url()), so_far);
    ASSERT_FALSE(ended) << each.answer.substr(0, 60);
    EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(ended.error().message, StartsWith(server.url()));
    EXPECT_EQ(so_far.head.has_value(), each.has_head) << each.answer.substr(0, 60);
    EXPECT_EQ(so_far.body, each.body);
  }
}

TEST_F(CurlStreamClientTest, NoServerAndBadCallsAreErrorsOfTheirOwn) {
  const BoundSocket nobody;
  ReadSoFar refused;
  EXPECT_EQ(send(post(nobody.url()), refused).error().code, ErrorCode::kNoServer);
  EXPECT_NE(refused.number, 0U);
  const std::vector<HttpCall> bad = {post("http://"),
                                     post("ftp://127.0.0.1/"),
                                     post("http://a\r\n"),
                                     {.method = "a b", .url = nobody.url(), .headers = {}, .body = {}},
                                     {.url = nobody.url(), .headers = {{"X", "a\r\n"}}, .body = {}}};
  for (const HttpCall& call : bad) {
    ReadSoFar so_far;
    const auto ended = send(call, so_far);
    ASSERT_FALSE(ended) << call.url;
    EXPECT_TRUE(ended.error().code == ErrorCode::kInvalidInput || call.url.starts_with("ftp")) << ended.error().message;
  }
}

TEST_F(CurlStreamClientTest, ACancelledCallClosesItsConnection) {
  std::optional<std::chrono::milliseconds> closed;
  for (const bool has_begun : {false, true}) {
    ReadSoFar so_far;
    {
      ScriptedBackend backend([&](BackendConnection& connection) {
        EXPECT_TRUE(connection.receive_request());
        if (has_begun) {
          connection.send(kChunkedHead);
          connection.send_chunk("abc");
          EXPECT_TRUE(so_far.has_body("abc"));
        }
        client_.cancel(so_far.number);
        closed = connection.wait_until_closed();
      });
      EXPECT_EQ(send(post(backend.url()), so_far).error().code, ErrorCode::kInterrupted);
    }
    ASSERT_TRUE(closed);
    EXPECT_LT(closed->count(), 500);
    client_.cancel(so_far.number);
    client_.resume(so_far.number);
  }
}

TEST_F(CurlStreamClientTest, APausedCallSlowsTheServerDownAndGoesOn) {
  constexpr std::size_t kBytes = 40'000'000;
  std::atomic<std::size_t> sent = 0;
  ReadSoFar so_far;
  so_far.pause_at = 100'000;
  ScriptedBackend backend([&](BackendConnection& connection) {
    EXPECT_TRUE(connection.receive_request());
    connection.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", kBytes));
    const std::string part(100'000, 'x');
    while (sent < kBytes && connection.send(part)) sent += part.size();
  });
  client_.start(post(backend.url()), std::make_unique<TestReader>(so_far));
  ASSERT_TRUE(so_far.wait([](const ReadSoFar& all) { return all.body.size() >= all.pause_at; }));
  const std::size_t read = so_far.body.size();
  std::this_thread::sleep_for(std::chrono::milliseconds(700));  // longer than the silence allowed
  EXPECT_LT(sent, kBytes);
  EXPECT_EQ(so_far.body.size(), read);
  so_far.change([](ReadSoFar& all) { all.pause_at = SIZE_MAX; });
  client_.resume(so_far.number);
  ASSERT_TRUE(so_far.ended());
  EXPECT_EQ(so_far.body.size(), kBytes);
}

TEST_F(CurlStreamClientTest, SilenceTimesOut) {
  ScriptedServer stuck("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", AfterAnswer::kStayOpen);
  ReadSoFar within;
  EXPECT_EQ(send(post(stuck.url()), within).error().message, stuck.url() + ": nothing arrived within 0.3 s");
  ScriptedServer silent("", AfterAnswer::kStayOpen);
  HttpCall call = post(silent.url());
  call.timeout = Micros(200'000);
  ReadSoFar before;
  const auto ended = send(call, before);
  EXPECT_EQ(ended.error().code, ErrorCode::kTimedOut);
  EXPECT_EQ(ended.error().message, silent.url() + ": nothing arrived within 0.2 s");
}

TEST_F(CurlStreamClientTest, ManyCallsRunAtATime) {
  constexpr std::size_t kCount = 64;
  ScriptedBackend backend([&](BackendConnection& connection) {
    while (const auto request = connection.receive_request()) {
      connection.send(kChunkedHead);
      for (int i = 0; i < 50; ++i) connection.send_chunk(request->substr(request->size() - 4));
      connection.send_chunk("");
    }
  });
  std::vector<ReadSoFar> all(kCount);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) {
      all[i].change([](ReadSoFar& each) {
        each.body.clear();
        each.outcome.reset();
      });
      client_.start(post(backend.url(), fmt::format("{:04}", i)), std::make_unique<TestReader>(all[i]));
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_TRUE(all[i].ended());
      std::string wanted;
      for (int part = 0; part < 50; ++part) wanted += fmt::format("{:04}", i);
      EXPECT_EQ(all[i].body, wanted);
    }
  }
  EXPECT_LE(backend.connection_count(), static_cast<int>(kCount));
}

TEST_F(CurlStreamClientTest, ACallOverABrokenConnectionDoesNotHarmTheNext) {
  constexpr const char* kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
  ScriptedBackend breaks([&](BackendConnection& connection) {
    // libcurl may open another connection and close it without a request.
    if (!connection.receive_request()) return;
    connection.send(kAnswer);
    (void)connection.receive_request();  // and the connection ends
  });
  ScriptedBackend good([&](BackendConnection& connection) {
    while (connection.receive_request()) connection.send(kAnswer);
  });
  for (int round = 0; round < 3; ++round) {
    ReadSoFar first;
    EXPECT_TRUE(send(post(breaks.url()), first));
    ReadSoFar broken;
    EXPECT_EQ(send(post(breaks.url()), broken).error().code, ErrorCode::kUnavailable);
    ReadSoFar next;
    const auto ended = send(post(good.url()), next);
    EXPECT_TRUE(ended) << ended.error().message;
  }
}

TEST_F(CurlStreamClientTest, AHeadHasNoBodyAndTargetsAreSentAsTheyAre) {
  std::string request;
  ScriptedBackend backend([&](BackendConnection& connection) {
    while (auto received = connection.receive_request()) {
      request = *std::move(received);
      const bool is_head = request.starts_with("HEAD ");
      connection.send(is_head ? "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
                              : "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
    }
  });
  for (const std::string method : {"GET", "HEAD", "POST", "HEAD", "GET", "DELETE"}) {
    ReadSoFar so_far;
    HttpCall call = post(backend.url("/a/../b//%2f?c=%C3%A4"));
    call.method = method;
    if (method != "POST") call.body.clear();
    ASSERT_TRUE(send(std::move(call), so_far)) << method;
    EXPECT_THAT(request, StartsWith(method + " /a/../b//%2f?c=%C3%A4 HTTP/1.1\r\n"));
    EXPECT_EQ(so_far.body, method == "HEAD" ? "" : "a");
  }
}

TEST(CurlStreamClientEndTest, CallsEndWithTheClient) {
  ScriptedServer silent("", AfterAnswer::kStayOpen);
  ReadSoFar so_far;
  {
    CurlStreamClient client;
    client.start(post(silent.url()), std::make_unique<TestReader>(so_far));
    ASSERT_TRUE(so_far.wait([](const ReadSoFar& all) { return all.number != 0; }));
  }
  EXPECT_EQ(so_far.ended().error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace berth::edges
