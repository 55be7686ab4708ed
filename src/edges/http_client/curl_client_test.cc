#include "edges/http_client/curl_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "edges/http_client/test_scripted_server.h"

namespace berth::edges {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kStreamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

HttpCall get(std::string url) {
  HttpCall call;
  call.url = std::move(url);
  return call;
}

/// Without proxies, regardless of the test's environment.
class CurlClientTest : public ::testing::Test {
 protected:
  CurlClientTest() {
    for (const char* name : kProxyNames) ::unsetenv(name);
  }
  ~CurlClientTest() override {
    for (const char* name : kProxyNames) ::unsetenv(name);
  }

  static constexpr std::array<const char*, 6> kProxyNames = {"http_proxy", "https_proxy", "HTTPS_PROXY",
                                                             "ALL_PROXY",  "no_proxy",    "NO_PROXY"};
  const CurlClient client_;
};

TEST_F(CurlClientTest, SendsWhatIsWantedAndReturnsTheAnswer) {
  ScriptedServer server("HTTP/1.1 201 Created\r\nETag:  \"7\"\r\nX-Empty:\r\nContent-Length: 4\r\n\r\nbody");
  const auto reply = client_.send({.method = "PUT",
                                   .url = server.url("/v1/x?y=1"),
                                   .headers = {{"X-Key", "a b"}, {"X-Nothing", ""}},
                                   .body = std::string("{}\0!", 4)});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->body, "body");
  EXPECT_EQ(find_header(reply->headers, "etag"), "\"7\"");
  EXPECT_EQ(find_header(reply->headers, "X-Empty"), "");
  const std::string& request = server.request();
  EXPECT_THAT(request, StartsWith("PUT /v1/x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_THAT(request, HasSubstr("\r\nX-Key: a b\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nX-Nothing:\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Length: 4\r\n"));
  EXPECT_THAT(request, Not(HasSubstr("Content-Type")));
  EXPECT_TRUE(request.ends_with(std::string("\r\n\r\n{}\0!", 8)));
}

TEST_F(CurlClientTest, EachMethodIsSentAsItIsNamed) {
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  for (const std::string method : {"GET", "DELETE", "HEAD", "POST", "PUT"}) {
    ScriptedServer server(answer);
    const auto reply = client_.send({.method = method, .url = server.url(), .headers = {}, .body = {}});
    ASSERT_TRUE(reply) << method << reply.error().message;
    const bool has_length = method == "PUT" || method == "POST";
    EXPECT_THAT(server.request(), StartsWith(method + " / HTTP/1.1\r\n"));
    EXPECT_EQ(server.request().find("Content-Length: 0\r\n") != std::string::npos, has_length) << method;
  }
}

TEST_F(CurlClientTest, AnyStatusIsAnAnswerAndNoRedirectionIsFollowed) {
  ScriptedServer missing("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}");
  const auto not_found = client_.send(get(missing.url()));
  ASSERT_TRUE(not_found);
  EXPECT_EQ(not_found->status, 404);
  EXPECT_EQ(not_found->body, "{}");
  ScriptedServer moved("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  const auto found = client_.send(get(moved.url()));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status, 302);
  ScriptedServer goes_on(
      "HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-B: 2\r\nContent-Length: 0\r\n\r\n");
  const auto final = client_.send(get(goes_on.url()));
  ASSERT_TRUE(final);
  EXPECT_EQ(final->status, 200);
  EXPECT_EQ(final->headers, (std::vector<HttpField>{{"X-B", "2"}, {"Content-Length", "0"}}));
}

TEST_F(CurlClientTest, NoServerIsAnErrorOfItsOwn) {
  const BoundSocket nobody;  // bound but not listening: refused
  const auto refused = client_.send(get(nobody.url()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoServer);
  EXPECT_THAT(refused.error().message, StartsWith(nobody.url() + ": no server answers: "));
  const auto unknown = client_.send(get("http://no-such-host.invalid/"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNoServer);
  const auto stream = client_.read_lines(get(nobody.url()), {.take = [](std::string_view) { return true; }});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, ErrorCode::kNoServer);
}

/// The value of a header in a request as it was sent; empty without one.
std::string header_in(const std::string& request, const std::string& name) {
  const std::size_t at = request.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 4;
  return request.substr(begin, request.find("\r\n", begin) - begin);
}

TEST_F(CurlClientTest, APatientOneSendsAWriteAgainUnderOneKey) {
  const CurlClient patient(Micros::seconds(30));
  const std::string answer = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}";
  for (const std::string method : {"PUT", "POST", "DELETE"}) {
    // The connection breaks before the answer, then within it.
    ScriptedServer server(std::vector<std::string>{"", answer.substr(0, answer.size() - 1), answer});
    const auto reply = patient.send({.method = method, .url = server.url(), .headers = {}, .body = "{}"});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->status, 201);
    EXPECT_EQ(reply->body, "{}");
    const auto& requests = server.requests();
    ASSERT_EQ(requests.size(), 3U) << method;
    EXPECT_EQ(header_in(requests[0], "Idempotency-Key").size(), 32U) << requests[0];
    EXPECT_EQ(requests[1], requests[0]);
    EXPECT_EQ(requests[2], requests[0]);
  }
}

TEST_F(CurlClientTest, APatientOneKeepsTheKeyOfTheCallAndGivesReadsNone) {
  const CurlClient patient(Micros::seconds(30));
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  ScriptedServer own(std::vector<std::string>{"", answer});
  ASSERT_TRUE(patient.send({.method = "PUT", .url = own.url(), .headers = {{"idempotency-key", "mine"}}, .body = ""}));
  EXPECT_EQ(header_in(own.requests()[1], "idempotency-key"), "mine");
  EXPECT_EQ(header_in(own.requests()[1], "Idempotency-Key"), "");
  ScriptedServer read(std::vector<std::string>{"", answer});
  ASSERT_TRUE(patient.send(get(read.url())));
  EXPECT_EQ(header_in(read.requests()[1], "Idempotency-Key"), "");
}

TEST_F(CurlClientTest, PatienceEnds) {
  const BoundSocket nobody;
  for (const bool is_short_call : {false, true}) {
    const CurlClient patient(is_short_call ? Micros::seconds(600) : Micros(200'000));
    HttpCall call = get(nobody.url());
    if (is_short_call) call.timeout = Micros(200'000);
    const auto began = std::chrono::steady_clock::now();
    const auto refused = patient.send(call);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kNoServer);
    EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(200));
  }
}

TEST_F(CurlClientTest, AnImpatientOneSendsOnceAndAddsNoKey) {
  ScriptedServer server(std::vector<std::string>{"", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  EXPECT_FALSE(client_.send({.method = "PUT", .url = server.url(), .headers = {}, .body = ""}));
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(header_in(server.request(), "Idempotency-Key"), "");
}

TEST_F(CurlClientTest, AServerThatDoesNotAnswerIsTimedOut) {
  ScriptedServer silent("", AfterAnswer::kStayOpen);
  const auto reply = client_.send({.url = silent.url(), .headers = {}, .body = {}, .timeout = Micros(200'000)});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kTimedOut);
  EXPECT_EQ(reply.error().message, silent.url() + ": no answer within 0.2 s");
  ScriptedServer stuck("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", AfterAnswer::kStayOpen);
  const auto half = client_.send({.url = stuck.url(), .headers = {}, .body = {}, .timeout = Micros(200'000)});
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code, ErrorCode::kTimedOut);
}

TEST_F(CurlClientTest, BrokenAndOversizedAnswersAreUnavailable) {
  struct Case {
    std::string answer;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"", "the request failed: "},
      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "the request failed: "},
      {"SSH-2.0\r\n\r\n", "wanted an answer in HTTP/1.0 or later, found something else"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'),
       "wanted an answer of at most 1000 bytes, found more"},
      {"HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x'), "wanted an answer of at most 1000 bytes, found more"},
      {"HTTP/1.1 200 OK\r\n" + std::string(10, 'X') + ": " + std::string(70'000, 'x') + "\r\n\r\n",
       "wanted headers of at most 65536 bytes, found more"},
  };
  for (const Case& each : cases) {
    ScriptedServer server(each.answer);
    const auto reply = client_.send({.url = server.url(), .headers = {}, .body = {}, .bytes_max = 1000});
    ASSERT_FALSE(reply) << each.answer.substr(0, 60);
    EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(reply.error().message, StartsWith(server.url() + ": " + each.message)) << each.answer.substr(0, 60);
  }
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x'));
  EXPECT_TRUE(client_.send({.url = server.url(), .headers = {}, .body = {}, .bytes_max = 1000}));
}

TEST_F(CurlClientTest, BadWordsAreRefusedBeforeAnythingIsSent) {
  const BoundSocket nobody;
  const std::vector<HttpCall> calls = {
      get(""),
      get("http://"),
      get("http://a b/"),
      get("ftp://127.0.0.1/"),
      get("file:///etc/hostname"),
      get("http://127.0.0.1:99999/"),
      get(nobody.url("/\r\nX: y")),
      {.method = "GET / HTTP/1.1\r\nX:", .url = nobody.url(), .headers = {}, .body = {}},
      {.method = "", .url = nobody.url(), .headers = {}, .body = {}},
      {.url = nobody.url(), .headers = {{"X", "a\r\nY: b"}}, .body = {}},
      {.url = nobody.url(), .headers = {{"X\n", "a"}}, .body = {}},
      {.url = nobody.url(), .headers = {{"", "a"}}, .body = {}},
  };
  for (const HttpCall& call : calls) {
    const auto reply = client_.send(call);
    ASSERT_FALSE(reply) << call.url;
    EXPECT_EQ(reply.error().code, ErrorCode::kInvalidInput) << call.url << ": " << reply.error().message;
  }
}

TEST_F(CurlClientTest, ProxiesOfTheEnvironmentAreNotUsedForThisMachine) {
  ScriptedServer proxy("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy");
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  for (const std::string host : {"127.0.0.1", "localhost", "LOCALHOST", "127.1.2.3"}) {
    ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ndirect");
    const std::string port = server.url("").substr(std::string("http://127.0.0.1").size());
    const auto reply = client_.send(get(fmt::format("http://{}{}", host, port)));
    // The server listens on 127.0.0.1 alone: another loopback address is refused, but not asked of the proxy.
    if (host == "127.1.2.3") {
      EXPECT_EQ(reply.error().code, ErrorCode::kNoServer);
    } else {
      ASSERT_TRUE(reply) << host << reply.error().message;
      EXPECT_EQ(reply->body, "direct") << host;
    }
  }
  const auto other = client_.send(get("http://elsewhere.invalid/x"));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->body, "proxy");
  EXPECT_THAT(proxy.request(), StartsWith("GET http://elsewhere.invalid/x HTTP/1.1\r\n"));
}

TEST_F(CurlClientTest, AStreamIsReadByLinesUntilTheServerEndsIt) {
  ScriptedServer server(std::string(kStreamHead) + ":\n\nid: 1\r\ndata: a\n\nunfinished");
  std::vector<std::string> lines;
  const auto reply = client_.read_lines(get(server.url()), {.take = [&](std::string_view line) {
                                          lines.emplace_back(line);
                                          return true;
                                        }});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "");
  EXPECT_EQ(find_header(reply->headers, "content-type"), "text/event-stream");
  EXPECT_THAT(lines, ElementsAre(":", "", "id: 1", "data: a", ""));
}

TEST_F(CurlClientTest, AStreamEndsWhenItsReaderWants) {
  ScriptedServer server(std::string(kStreamHead) + "a\nb\nc\n", AfterAnswer::kStayOpen);
  std::vector<std::string> lines;
  const auto reply = client_.read_lines(get(server.url()), {.take = [&](std::string_view line) {
                                          lines.emplace_back(line);
                                          return lines.size() < 2;
                                        }});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(lines, ElementsAre("a", "b"));

  ScriptedServer silent(std::string(kStreamHead) + "a\n", AfterAnswer::kStayOpen);
  int asked_count = 0;
  const auto interrupted = client_.read_lines(get(silent.url()), {.take = [](std::string_view) { return true; },
                                                                  .is_stopped = [&] { return ++asked_count > 5; }});
  EXPECT_TRUE(interrupted);
}

TEST_F(CurlClientTest, ARequestEndsWhenItsCallerNoLongerWaits) {
  ScriptedServer silent("", AfterAnswer::kStayOpen);
  int asked_count = 0;
  HttpCall call = get(silent.url());
  call.is_stopped = [&] { return ++asked_count > 2; };
  const auto reply = client_.send(call);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kInterrupted);
}

TEST_F(CurlClientTest, ASilentStreamIsTimedOutAndALongLineRefused) {
  const auto take = [](std::string_view) { return true; };
  ScriptedServer silent(std::string(kStreamHead) + "a\n", AfterAnswer::kStayOpen);
  const auto timed_out = client_.read_lines(get(silent.url()), {.take = take, .silence_max = Micros(200'000)});
  ASSERT_FALSE(timed_out);
  EXPECT_EQ(timed_out.error().code, ErrorCode::kTimedOut);
  EXPECT_EQ(timed_out.error().message, silent.url() + ": nothing arrived within 0.2 s");

  ScriptedServer headless("", AfterAnswer::kStayOpen);
  const auto no_head = client_.read_lines(
      {.url = headless.url(), .headers = {}, .body = {}, .timeout = Micros(200'000)}, {.take = take});
  ASSERT_FALSE(no_head);
  EXPECT_EQ(no_head.error().code, ErrorCode::kTimedOut);

  ScriptedServer wide(std::string(kStreamHead) + std::string(2000, 'x'), AfterAnswer::kStayOpen);
  const auto too_long = client_.read_lines(get(wide.url()), {.take = take, .line_bytes_max = 1000});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(too_long.error().message, wide.url() + ": wanted lines of at most 1000 bytes, found more");
}

TEST_F(CurlClientTest, AStreamThatIsRefusedIsAnOrdinaryAnswer) {
  ScriptedServer server("HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\n{\"a\":\n\"b\"");
  int line_count = 0;
  const auto reply = client_.read_lines(get(server.url()), {.take = [&](std::string_view) {
                                          ++line_count;
                                          return true;
                                        }});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 401);
  EXPECT_EQ(reply->body, "{\"a\":\n\"b\"");
  EXPECT_EQ(line_count, 0);
}

}  // namespace
}  // namespace berth::edges
