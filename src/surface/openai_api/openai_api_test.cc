// The routes of OpenAI's API through a running server, with backends that follow a script.
#include "surface/openai_api/openai_api.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "edges/http_client/curl_client.h"
#include "edges/http_client/curl_stream_client.h"
#include "edges/http_client/testing/scripted_backend.h"
#include "edges/http_server/http_server.h"

namespace berth::openai {
namespace {

using edges::testing::BackendConnection;
using edges::testing::ScriptedBackend;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kEventsHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr const char* kAsk = R"({"model":"m","messages":[]})";
constexpr const char* kAskStream = R"({"model":"m","messages":[],"stream":true})";

std::string json_answer(const std::string& body, const std::string& headers = "") {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{}", headers,
                     body.size(), body);
}

class OpenAiApiTest : public ::testing::Test {
 protected:
  void start(ScriptedBackend::Serve serve, std::int64_t in_flight_max = 64) {
    backend_ = std::make_unique<ScriptedBackend>(std::move(serve));
    start_at(backend_->url("/base"), in_flight_max);
  }
  void start_at(const std::string& url, std::int64_t in_flight_max = 64) {
    OpenAiOptions options;
    options.backends.push_back({{.name = "local",
                                 .url = url,
                                 .models = {"m", "org/large"},
                                 .key_file = std::nullopt,
                                 .in_flight_max = in_flight_max},
                                "backend-key"});
    options.keys = serving::TenantKeys(tenants_);
    options.created_seconds = 1'700'000'000;
    options.on_end = [this](const ProxiedRequest& request) {
      const std::scoped_lock lock(mutex_);
      ended_.push_back(request);
      changed_.notify_all();
    };
    api_ = std::make_unique<OpenAiApi>(std::move(options), client_);
    auto started = edges::start_http_server({}, *api_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  void TearDown() override {
    if (server_ != nullptr) server_->stop();
    api_.reset();
    backend_.reset();  // its threads use what the test has
  }

  [[nodiscard]] std::string url(const std::string& path) const {
    return fmt::format("http://127.0.0.1:{}{}", server_->port(), path);
  }
  [[nodiscard]] HttpReply send(const std::string& method, const std::string& path, const std::string& body = "",
                               std::vector<HttpField> headers = {}) const {
    const auto reply = sender_.send({.method = method, .url = url(path), .headers = std::move(headers), .body = body});
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *reply : HttpReply();
  }
  [[nodiscard]] HttpReply ask(const std::string& body = kAsk) const {
    return send("POST", "/v1/chat/completions", body);
  }

  [[nodiscard]] ProxiedRequest take_ended() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return !ended_.empty(); });
    if (ended_.empty()) return {};
    const ProxiedRequest first = ended_.front();
    ended_.erase(ended_.begin());
    return first;
  }

  edges::CurlClient sender_;
  edges::CurlStreamClient client_{{.connect_timeout = Micros::seconds(5), .silence_max = Micros::seconds(5)}};
  std::vector<serving::ConfiguredTenant> tenants_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ProxiedRequest> ended_;
  std::unique_ptr<ScriptedBackend> backend_;
  std::unique_ptr<OpenAiApi> api_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(OpenAiApiTest, AnAnswerPassesUnchangedAndItsUsageIsCounted) {
  const std::string body = "{\"x\": \"\\u00e4\",\n \"usage\":{\"prompt_tokens\":3,\"completion_tokens\":5}}\n";
  std::string seen;
  start([&](BackendConnection& connection) {
    while (const auto request = connection.receive_request()) {
      seen = *request;
      connection.send(json_answer(body, "x-request-id: 7\r\nConnection: keep-alive\r\n"));
    }
  });
  const std::string asked = R"({ "model":"m" , "messages":[{"content":"ü"}] })";
  const auto reply = send("POST", "/v1/chat/completions", asked,
                          {{"Authorization", "Bearer tenant"}, {"Content-Type", "application/json"}, {"X-Own", "1"}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, body);
  EXPECT_EQ(find_header(reply.headers, "Content-Type"), "application/json");
  EXPECT_EQ(find_header(reply.headers, "x-request-id"), "7");
  EXPECT_THAT(seen, StartsWith("POST /base/v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(seen, EndsWith("\r\n\r\n" + asked));
  EXPECT_THAT(seen, HasSubstr("\r\nAuthorization: Bearer backend-key\r\n"));
  EXPECT_THAT(seen, HasSubstr("\r\nX-Own: 1\r\n"));
  EXPECT_THAT(seen, Not(HasSubstr("tenant")));
  const ProxiedRequest ended = take_ended();
  EXPECT_EQ(ended.outcome, ProxiedOutcome::kAnswered);
  EXPECT_EQ(ended.usage, (TokenUsage{3, 5}));
  for (const char* path : {"/v1/completions", "/v1/embeddings"}) {
    EXPECT_EQ(send("POST", path, asked).status, 200);
    EXPECT_THAT(seen, StartsWith(fmt::format("POST /base{} HTTP/1.1\r\n", path)));
  }
}

TEST_F(OpenAiApiTest, AnyStatusOfTheBackendPasses) {
  start([](BackendConnection& connection) {
    while (connection.receive_request()) {
      connection.send(
          "HTTP/1.1 429 Slow\r\nretry-after-ms: 20\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno");
    }
  });
  const auto reply = ask(kAskStream);
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.body, "no");
  EXPECT_EQ(find_header(reply.headers, "retry-after-ms"), "20");
}

TEST_F(OpenAiApiTest, EachPartOfAStreamPassesAtOnce) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t read_count = 0;
  start([&](BackendConnection& connection) {
    if (!connection.receive_request()) return;
    connection.send(kEventsHead);
    for (std::size_t i = 0; i < 50; ++i) {
      connection.send_chunk(fmt::format("data: {}\n\n", i));
      std::unique_lock lock(mutex);
      if (!changed.wait_for(lock, std::chrono::seconds(10), [&] { return read_count > i; })) return;
    }
    connection.send_chunk("data: {\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n");
    connection.send_chunk("");
  });
  HttpCall call{.method = "POST", .url = url("/v1/chat/completions"), .headers = {}, .body = kAskStream};
  std::vector<std::string> lines;
  const auto reply = sender_.read_lines(call, {.take = [&](std::string_view line) {
                                          lines.emplace_back(line);
                                          const std::scoped_lock lock(mutex);
                                          if (line.starts_with("data:")) ++read_count;
                                          changed.notify_all();
                                          return true;
                                        }});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(find_header(reply->headers, "Content-Type"), "text/event-stream; charset=utf-8");
  ASSERT_EQ(lines.size(), 104U);
  EXPECT_EQ(lines[102], "data: [DONE]");
  EXPECT_EQ(take_ended().usage, (TokenUsage{1, 2}));
}

TEST_F(OpenAiApiTest, ABackendThatBreaksBeforeItsFirstByteIs502) {
  for (const std::string answer :
       {"", "SSH-2.0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"a\"", "HTTP/1.1 200 OK\r\nContent-Le"}) {
    start([&](BackendConnection& connection) {
      if (connection.receive_request()) connection.send(answer);
    });
    const auto reply = ask();
    EXPECT_EQ(reply.status, 502) << answer;
    EXPECT_THAT(reply.body, StartsWith("{\"error\":{\"message\":\"backend local: "));
    EXPECT_THAT(reply.body, HasSubstr("\"type\":\"server_error\",\"param\":null,\"code\":\"backend_broken\"}}"));
    EXPECT_EQ(backend_->connection_count(), 1) << "nothing is sent twice";
    EXPECT_EQ(take_ended().outcome, ProxiedOutcome::kFailed);
    TearDown();
  }
  start([](BackendConnection& connection) {
    if (connection.receive_request()) connection.send(kEventsHead);
  });
  EXPECT_EQ(ask(kAskStream).status, 502) << "a head is not a byte of the body";
  TearDown();
  start_at("http://127.0.0.1:1");
  const auto refused = ask();
  EXPECT_EQ(refused.status, 502);
  EXPECT_THAT(refused.body, HasSubstr("\"code\":\"backend_unavailable\""));
}

TEST_F(OpenAiApiTest, AStreamThatBreaksEndsWithAnErrorAndNeverWithDone) {
  const std::string first = "data: {\"a\":1}\n\n";
  struct Case {
    std::string sent;
    std::string passed;
  };
  const std::vector<Case> cases = {{first, first},
                                   {first + "data: {\"b\"", first + "data: {\"b\"\n\n"},
                                   {first + "data: [DONE]", first},
                                   {first + "data: [DONE]\n", first}};
  for (const bool is_reset : {false, true}) {
    for (const Case& each : cases) {
      start([&](BackendConnection& connection) {
        if (!connection.receive_request()) return;
        connection.send(kEventsHead);
        connection.send_chunk(each.sent);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (is_reset) connection.reset();
      });
      const auto reply = ask(kAskStream);
      EXPECT_EQ(reply.status, 200);
      EXPECT_THAT(reply.body, StartsWith(each.passed + "data: {\"error\":{\"message\":\"backend local: "));
      EXPECT_THAT(reply.body, EndsWith("\"code\":\"backend_broken\"}}\n\n"));
      EXPECT_THAT(reply.body, Not(HasSubstr("[DONE]")));
      EXPECT_EQ(take_ended().outcome, ProxiedOutcome::kFailed);
      TearDown();
    }
  }
  start([](BackendConnection& connection) {
    if (!connection.receive_request()) return;
    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
  });
  EXPECT_THAT(ask(kAskStream).body, StartsWith("data: 1\n\ndata: {\"error\":")) << "without length and [DONE]";
}

TEST_F(OpenAiApiTest, AClientThatLeavesClosesTheConnectionToTheBackend) {
  for (const bool has_begun : {false, true}) {
    std::optional<std::chrono::milliseconds> closed;
    std::atomic<bool> is_closed = false;
    start([&](BackendConnection& connection) {
      if (!connection.receive_request()) return;
      if (has_begun) {
        connection.send(kEventsHead);
        connection.send_chunk("data: 1\n\n");
      }
      closed = connection.wait_until_closed();
      is_closed = true;
    });
    HttpCall call{.method = "POST", .url = url("/v1/completions"), .headers = {}, .body = kAskStream};
    const auto began = std::chrono::steady_clock::now();
    (void)sender_.read_lines(
        call,
        {.take = [&](std::string_view) { return false; },
         .is_stopped = [&] { return std::chrono::steady_clock::now() - began > std::chrono::milliseconds(100); }});
    EXPECT_EQ(take_ended().outcome, ProxiedOutcome::kCancelled);
    for (int i = 0; i < 2000 && !is_closed; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(is_closed && closed) << "the backend waited for 10 s";
    TearDown();
  }
}

TEST_F(OpenAiApiTest, MoreThanTheBackendTakesIs429) {
  std::atomic<bool> may_answer = false;
  std::atomic<int> waiting = 0;
  start(
      [&](BackendConnection& connection) {
        while (connection.receive_request()) {
          ++waiting;
          while (!may_answer) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          connection.send(json_answer("{}"));
        }
      },
      2);
  std::vector<std::thread> asking;
  for (int i = 0; i < 2; ++i) asking.emplace_back([&] { EXPECT_EQ(ask().status, 200); });
  while (waiting < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto full = ask();
  EXPECT_EQ(full.status, 429);
  EXPECT_EQ(find_header(full.headers, "retry-after-ms"), "500");
  EXPECT_EQ(find_header(full.headers, "Retry-After"), "1");
  EXPECT_THAT(full.body, HasSubstr("\"type\":\"rate_limit_error\""));
  may_answer = true;
  for (std::thread& each : asking) each.join();
  EXPECT_EQ(ask().status, 200);
}

TEST_F(OpenAiApiTest, ModelsAreListedAndShown) {
  start_at("http://127.0.0.1:1");
  EXPECT_EQ(send("GET", "/v1/models").body,
            "{\"object\":\"list\",\"data\":[{\"id\":\"m\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":"
            "\"local\"},"
            "{\"id\":\"org/large\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"local\"}]}\n");
  for (const char* path : {"/v1/models/org/large", "/v1/models/org%2Flarge"}) {
    EXPECT_THAT(send("GET", path).body, StartsWith("{\"id\":\"org/large\","));
  }
  const auto unknown = send("GET", "/v1/models/x");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(unknown.body, HasSubstr("\"code\":\"model_not_found\""));
}

TEST_F(OpenAiApiTest, BadRequestsAreRefusedInTheShapeOfTheApi) {
  start_at("http://127.0.0.1:1");
  struct Case {
    std::string method;
    std::string path;
    std::string body;
    int status;
  };
  const std::vector<Case> cases = {{"POST", "/v1/chat/completions", "", 400},
                                   {"POST", "/v1/chat/completions", "not json", 400},
                                   {"POST", "/v1/chat/completions", "{\"messages\":[]}", 400},
                                   {"POST", "/v1/chat/completions", "{\"model\":7}", 400},
                                   {"POST", "/v1/chat/completions", "{\"model\":\"x\"}", 404},
                                   {"POST", "/v1/chat/completions", "{\"model\":\"m\",\"model\":\"x\"}", 400},
                                   {"GET", "/v1/chat/completions", "", 405},
                                   {"DELETE", "/v1/models/m", "", 405},
                                   {"POST", "/v1/responses", "{\"model\":\"m\"}", 404},
                                   {"GET", "/v1", "", 404}};
  for (const Case& each : cases) {
    const auto reply = send(each.method, each.path, each.body);
    EXPECT_EQ(reply.status, each.status) << each.path << each.body;
    EXPECT_THAT(reply.body, StartsWith("{\"error\":{\"message\":\"")) << each.path;
    EXPECT_THAT(reply.body, HasSubstr("\"type\":\"invalid_request_error\""));
  }
}

TEST_F(OpenAiApiTest, WithTenantsAKeyIsNeeded) {
  tenants_ = {{.name = "zoo", .key_sha256 = "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683"}};
  start_at("http://127.0.0.1:1");  // of "key"
  EXPECT_EQ(send("GET", "/v1/models").status, 401);
  EXPECT_EQ(send("GET", "/v1/models", "", {{"Authorization", "Bearer wrong"}}).status, 401);
  EXPECT_EQ(send("GET", "/v1/models", "", {{"Authorization", "Bearer key"}}).status, 200);
}

TEST_F(OpenAiApiTest, LargeAnswersPassAndSlowClientsSlowTheBackend) {
  const std::string large(40'000'000, 'x');
  std::atomic<bool> is_sent = false;
  start([&](BackendConnection& connection) {
    if (!connection.receive_request()) return;
    connection.send(json_answer(large));
    is_sent = true;
  });
  HttpCall call{.method = "POST", .url = url("/v1/embeddings"), .headers = {}, .body = kAsk};
  call.bytes_max = 100'000'000;
  const auto reply = sender_.send(call);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(reply->body == large);
  EXPECT_TRUE(is_sent);
}

TEST_F(OpenAiApiTest, ClosingEndsWhatIsUnderWay) {
  std::atomic<int> waiting = 0;
  start([&](BackendConnection& connection) {
    if (!connection.receive_request()) return;
    if (waiting++ == 0) {
      connection.send(kEventsHead);
      connection.send_chunk("data: 1\n\n");
    }
    (void)connection.wait_until_closed();
  });
  std::thread streaming([&] {
    const auto reply = ask(kAskStream);
    EXPECT_THAT(reply.body, StartsWith("data: 1\n\ndata: {\"error\":{\"message\":\"the server is about to end\""));
  });
  while (waiting < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::thread asking([&] { EXPECT_EQ(ask().status, 503); });
  while (waiting < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  api_->refuse_new();
  EXPECT_EQ(ask().status, 503);
  EXPECT_EQ(api_->open_count(), 2U);
  api_->close();
  streaming.join();
  asking.join();
  EXPECT_EQ(api_->open_count(), 0U);
}

TEST(BackendKeyTest, IsOneLine) {
  EXPECT_EQ(*backend_key("sk-1\r\n", "f"), "sk-1");
  for (const char* text : {"", "\n", "a b", "a\nb", "\xc3\xa4"}) EXPECT_FALSE(backend_key(text, "f")) << text;
}

}  // namespace
}  // namespace berth::openai
