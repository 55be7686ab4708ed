// Connections that are checked before anything of a call is sent over them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "edges/http_client/curl_stream_client.h"
#include "edges/http_client/testing/scripted_backend.h"

namespace berth::edges {
namespace {

using testing::BackendConnection;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedBackend;

constexpr const char* kGood = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood";

/// The outcome of a call, for the thread of the test.
class PeerOutcome {
 public:
  void set(int status, Result<void> outcome) {
    const std::scoped_lock lock(mutex_);
    status_ = status;
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }
  /// The status; 0: it failed with `error`.
  [[nodiscard]] int wait(Error* error = nullptr) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [this] { return outcome_.has_value(); })) std::abort();
    if (error != nullptr && !*outcome_) *error = outcome_->error();
    return *outcome_ ? status_ : 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int status_ = 0;
  std::optional<Result<void>> outcome_;
};

class PeerReader final : public HttpReplyReader {
 public:
  explicit PeerReader(PeerOutcome& to) : to_(to) {}
  void on_head(HttpReplyHead head) override { status_ = head.status; }
  [[nodiscard]] HttpReading on_bytes(std::string_view /*bytes*/) override { return HttpReading::kGoesOn; }
  void on_end(Result<void> outcome) override { to_.set(status_, std::move(outcome)); }

 private:
  PeerOutcome& to_;
  int status_ = 0;
};

/// Answers the question with what the test wants, and all else with kGood; keeps what it got.
class AskedBackend {
 public:
  explicit AskedBackend(std::string answer)
      : backend_([this, answer = std::move(answer)](BackendConnection& connection) {
          while (const auto request = connection.receive_request()) {
            keep(*request);
            if (!connection.send(request->starts_with("HEAD /who ") ? answer : kGood)) return;
          }
        }) {}

  [[nodiscard]] std::string url(const std::string& path = "/x") const { return backend_.url(path); }
  [[nodiscard]] int connection_count() const { return backend_.connection_count(); }
  [[nodiscard]] std::string received() {
    const std::scoped_lock lock(mutex_);
    return received_;
  }

 private:
  void keep(const std::string& request) {
    const std::scoped_lock lock(mutex_);
    received_ += request;
  }

  std::mutex mutex_;
  std::string received_;
  ScriptedBackend backend_;
};

class PeerCheckTest : public ::testing::Test {
 protected:
  /// Wants the header "Name: IDENTITY".
  static std::shared_ptr<const HttpPeerCheck> check_for(const std::string& identity) {
    auto check = std::make_shared<HttpPeerCheck>();
    check->identity = identity;
    check->ask = [identity](const std::string& client) {
      return HttpPeerQuestion{.path = "/who",
                              .headers = {{"Client", client}},
                              .is_right = [identity](const std::vector<HttpField>& headers) {
                                return find_header(headers, "Name") == identity;
                              }};
    };
    return check;
  }
  [[nodiscard]] int send(const std::string& url, std::shared_ptr<const HttpPeerCheck> peer, Error* error = nullptr,
                         const std::string& method = "POST") {
    PeerOutcome outcome;
    client_.start({.method = method,
                   .url = url,
                   .headers = {{"Secret", "token"}},
                   .body = method == "POST" ? "secret body" : "",
                   .peer = std::move(peer)},
                  std::make_unique<PeerReader>(outcome));
    return outcome.wait(error);
  }

  CurlStreamClient client_{{.connect_timeout = Micros(500'000)}};
};

TEST_F(PeerCheckTest, IsMadeOncePerConnection) {
  AskedBackend backend("HTTP/1.1 200 OK\r\nName: a\r\nContent-Length: 2\r\n\r\n");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(send(backend.url(), check_for("a")), 200);
  EXPECT_EQ(send(backend.url(), check_for("a"), nullptr, "GET"), 200);
  EXPECT_EQ(send(backend.url(), check_for("a"), nullptr, "DELETE"), 200);  // on a new connection
  EXPECT_EQ(backend.connection_count(), 2);
  EXPECT_THAT(backend.received(), HasSubstr("HEAD /who HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_THAT(backend.received(), HasSubstr("Client: 127.0.0.1:"));
}

TEST_F(PeerCheckTest, AnotherServerGetsNothingOfTheCall) {
  for (const char* answer :
       {"HTTP/1.1 200 OK\r\nName: b\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nName: a\r\n\r\nmore",
        "HTTP/1.1 200 OK\r\nName: a\r\nConnection: close\r\n\r\n", "garbage\r\n\r\n", "",
        "HTTP/1.0 200 OK\r\nName: a\r\n\r\n"}) {
    AskedBackend backend(answer);
    Error error;
    EXPECT_EQ(send(backend.url(), check_for("a"), &error), 0) << answer;
    EXPECT_EQ(error.code, ErrorCode::kNoServer) << error.message;
    EXPECT_THAT(backend.received(), Not(HasSubstr("ecret"))) << answer;
  }
}

TEST_F(PeerCheckTest, AnAnswerWithoutEndIsNotRead) {
  ScriptedBackend backend([](BackendConnection& connection) {
    (void)connection.receive_request();
    connection.send("HTTP/1.1 200 OK\r\nX: ");
    while (connection.send(std::string(1'000, 'x'))) continue;
  });
  Error error;
  EXPECT_EQ(send(backend.url("/x"), check_for("a"), &error), 0);
  EXPECT_EQ(error.code, ErrorCode::kNoServer);
}

TEST_F(PeerCheckTest, WhoeverDoesNotSpeakHttpIsLeftAtOnce) {
  for (const std::string& begin : {std::string("garbage"), std::string(20, '\0'), std::string("HTTP/2 200\r\n")}) {
    ScriptedBackend backend([&](BackendConnection& connection) {
      (void)connection.receive_request();
      connection.send(begin);
      (void)connection.wait_until_closed();  // it never ends its answer
    });
    CurlStreamClient client{{.connect_timeout = Micros::seconds(60)}};
    PeerOutcome outcome;
    client.start({.method = "GET", .url = backend.url("/x"), .headers = {}, .body = {}, .peer = check_for("a")},
                 std::make_unique<PeerReader>(outcome));
    Error error;
    EXPECT_EQ(outcome.wait(&error), 0) << begin;
    EXPECT_EQ(error.code, ErrorCode::kNoServer) << error.message;
  }
}

TEST_F(PeerCheckTest, ConnectionsAreUsedAgainForTheSameIdentityOnly) {
  std::atomic<int> question_count = 0;
  ScriptedBackend backend([&](BackendConnection& connection) {
    std::string name = "a";
    while (const auto request = connection.receive_request()) {
      if (!request->starts_with("HEAD /who ")) {
        connection.send(kGood);
        continue;
      }
      if (++question_count > 1) name = "b";
      connection.send(fmt::format("HTTP/1.1 200 OK\r\nName: {}\r\n\r\n", name));
    }
  });
  EXPECT_EQ(send(backend.url("/x"), check_for("a")), 200);
  EXPECT_EQ(send(backend.url("/x"), check_for("b")), 200);  // not on the connection of a
  EXPECT_EQ(backend.connection_count(), 2);
  EXPECT_EQ(question_count, 2);
  Error error;
  EXPECT_EQ(send(backend.url("/x"), check_for("a"), &error), 0);
  EXPECT_EQ(error.code, ErrorCode::kNoServer);
  // A call without a check leaves a connection that was not checked.
  EXPECT_EQ(send(backend.url("/x"), nullptr), 200);
  EXPECT_EQ(send(backend.url("/x"), check_for("b")), 200);
  EXPECT_GE(question_count, 3);
}

TEST_F(PeerCheckTest, TheListenerHasToBeTheUsers) {
  AskedBackend backend("");
  const auto check_of_user = [](std::int64_t user) {
    auto check = std::make_shared<HttpPeerCheck>();
    check->identity = fmt::format("{}", user);
    check->user = user;
    return check;
  };
  EXPECT_EQ(send(backend.url(), check_of_user(::geteuid())), 200);
  Error error;
  EXPECT_EQ(send(backend.url(), check_of_user(static_cast<std::int64_t>(::geteuid()) + 1), &error), 0);
  EXPECT_EQ(error.code, ErrorCode::kNoServer) << error.message;
  EXPECT_EQ(backend.connection_count(), 2);
}

TEST_F(PeerCheckTest, WhoeverDoesNotAnswerIsLeft) {
  ScriptedBackend silent([](BackendConnection& connection) { (void)connection.wait_until_closed(); });
  Error error;
  EXPECT_EQ(send(silent.url("/x"), check_for("a"), &error), 0);
  EXPECT_EQ(error.code, ErrorCode::kNoServer) << error.message;
  EXPECT_EQ(send("http://127.0.0.1:1/x", check_for("a"), &error), 0);
  EXPECT_EQ(error.code, ErrorCode::kNoServer) << error.message;
  EXPECT_EQ(send("http://localhost:1/x", check_for("a"), &error), 0);
  EXPECT_EQ(error.code, ErrorCode::kInvalidInput) << error.message;
}

TEST_F(PeerCheckTest, ACallCanEndBeforeItsConnectionIsMade) {
  ScriptedBackend silent([](BackendConnection& connection) { (void)connection.wait_until_closed(); });
  PeerOutcome outcome;
  {
    CurlStreamClient client{{.connect_timeout = Micros::seconds(60)}};
    client.start({.method = "GET", .url = silent.url("/x"), .headers = {}, .body = {}, .peer = check_for("a")},
                 std::make_unique<PeerReader>(outcome));
    while (silent.connection_count() == 0) std::this_thread::yield();
  }
  EXPECT_EQ(outcome.wait(), 0);
}

}  // namespace
}  // namespace berth::edges
