#include "edges/http_server/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "edges/http_server/test_server.h"

namespace berth::edges {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kEnd = " HTTP/1.1\r\nHost: a\r\n\r\n";

std::string put(const std::string& path, const std::string& body) {
  return fmt::format("PUT {} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}", path, body.size(), body);
}

class HttpServerTest : public RunningServerTest {};

TEST_F(HttpServerTest, RequestsArriveDecodedAndAnswersGoBackOnOneConnection) {
  start();
  RawClient client = connect();
  const RawAnswer got = client.ask("GET /v1/a%2Fb/?x=1&y=%20+&x HTTP/1.1\r\nHost: a\r\nX-KEY:  k1\r\n\r\n");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "GET [v1][a/b][] x=1 y=   x= key=k1: ");
  EXPECT_THAT(got.head, HasSubstr("Content-Type: text/plain\r\n"));
  EXPECT_THAT(got.head, HasSubstr("X-Peer: 127.0.0.1:"));
  EXPECT_THAT(got.head, HasSubstr("Date: "));
  EXPECT_EQ(client.ask(put("/v1/x", "some\nbody")).body, "PUT [v1][x]: some\nbody");
  EXPECT_EQ(client.ask(put("/v1/x", "")).body, "PUT [v1][x]: ");
  EXPECT_EQ(client.ask(std::string("DELETE /v1/x") + kEnd).body, "DELETE [v1][x]: ");
  EXPECT_EQ(client.ask(std::string("GET /") + kEnd).body, "GET : ");
  EXPECT_EQ(client.ask(std::string("GET /empty") + kEnd).status, 204);
  EXPECT_EQ(client.ask(std::string("GET /large") + kEnd).body.size(), 3'000'000U);
  EXPECT_EQ(client.ask(std::string("PROPFIND /x") + kEnd).body, "PROPFIND [x]: ");
}

TEST_F(HttpServerTest, HeadIsGetWithoutItsBody) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(std::string("HEAD /v1/x") + kEnd));
  const RawAnswer head = client.read_answer(false);
  EXPECT_EQ(head.status, 200);
  EXPECT_THAT(head.head, HasSubstr(fmt::format("Content-Length: {}\r\n", std::string("GET [v1][x]: ").size())));
  EXPECT_EQ(client.ask(std::string("GET /v1/x") + kEnd).body, "GET [v1][x]: ") << "nothing was left over";
  ASSERT_TRUE(client.send(std::string("HEAD /events") + kEnd));
  EXPECT_THAT(client.read_answer(false).head, HasSubstr("text/event-stream"));
  EXPECT_TRUE(client.is_closed_by_server()) << "and nothing was sent before";
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  start();
  RawClient client = connect();
  std::string all;
  for (int i = 0; i < 20; ++i) all += put(fmt::format("/p{}", i), std::string(static_cast<std::size_t>(i), 'b'));
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(client.read_answer().body,
              fmt::format("PUT [p{}]: {}", i, std::string(static_cast<std::size_t>(i), 'b')));
  }
}

TEST_F(HttpServerTest, BytesThatArriveOneByOneAndChunksMakeTheSameRequest) {
  start();
  RawClient client = connect();
  const std::string chunked =
      "PUT /c?a=%41 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nX-Trailer: t\r\n\r\n";
  for (const char byte : chunked) ASSERT_TRUE(client.send({&byte, 1}));
  EXPECT_EQ(client.read_answer().body, "PUT [c] a=A: abc0123456789");
  EXPECT_EQ(client.ask(chunked).body, "PUT [c] a=A: abc0123456789");
}

TEST_F(HttpServerTest, ExpectedContinueIsSentBeforeTheBodyAndNotForOneThatIsTooLarge) {
  start({.body_bytes_max = 100});
  RawClient client = connect();
  ASSERT_TRUE(client.send("PUT /e HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.ask("abc").body, "PUT [e]: abc");
  ASSERT_TRUE(client.send("PUT /e HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(client.read_answer().status, 413);
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(HttpServerTest, OldClientsGetAnAnswerAndTheConnectionEnds) {
  start();
  RawClient client = connect();
  const RawAnswer answer = client.ask("GET /x HTTP/1.0\r\n\r\n");
  EXPECT_EQ(answer.body, "GET [x]: ");
  EXPECT_TRUE(client.is_closed_by_server());
  RawClient closing = connect();
  EXPECT_EQ(closing.ask("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status, 200);
  EXPECT_TRUE(closing.is_closed_by_server());
}

TEST_F(HttpServerTest, LargeBodiesAreRefusedAndTheirSenderCanReadIt) {
  start({.body_bytes_max = 1000});
  RawClient client = connect();
  EXPECT_EQ(client.ask(put("/x", std::string(1000, 'b'))).status, 200);
  const RawAnswer refused = client.ask(put("/x", std::string(1001, 'b')));
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.body, "refused 413: wanted a body of at most 1000 bytes");
  EXPECT_THAT(refused.head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(refused.head, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(refused.head, HasSubstr("\r\nDate: "));
  EXPECT_TRUE(client.is_closed_by_server());
  EXPECT_EQ(connect().ask(put("/x", std::string(16'000, 'b'))).status, 413);

  // A chunked body has no length in advance.
  const std::string head = "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunk = "3E8\r\n" + std::string(1000, 'b') + "\r\n";
  RawClient in_chunks = connect();
  EXPECT_EQ(in_chunks.ask(head + chunk + "0\r\n\r\n").status, 200);
  EXPECT_EQ(in_chunks.ask(head + chunk + chunk + "0\r\n\r\n").status, 413);
  EXPECT_EQ(in_chunks.ask(put("/x", "b")).status, 200) << "the connection is still in order";
  ASSERT_TRUE(in_chunks.send(head));
  for (int i = 0; i < 17 && in_chunks.send(chunk); ++i) {
  }
  EXPECT_TRUE(in_chunks.is_closed_by_server()) << "an endless body is not read for ever";

  for (const char* length : {"1001", "99999999"}) {
    RawClient waiting = connect();
    EXPECT_EQ(waiting.ask(fmt::format("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", length)).status, 413)
        << "before its body";
    EXPECT_TRUE(waiting.is_closed_by_server());
    EXPECT_TRUE(waiting.send("the beginning of its body")) << "what still comes does no harm";
  }
  RawClient of_head = connect();
  ASSERT_TRUE(of_head.send("HEAD /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"));
  EXPECT_EQ(of_head.read_answer(false).status, 413);
  EXPECT_TRUE(of_head.is_closed_by_server());
}

struct RefusedCase {
  std::string request;
  int status = 0;
  std::string body;
};

TEST_F(HttpServerTest, TheHandlerMayAllowLargerBodies) {
  start({.body_bytes_max = 1000, .large_body_count_max = 1});
  RawClient client = connect();
  const std::string large(90'000, 'b');
  EXPECT_EQ(client.ask(put("/bulk", large)).body, "PUT [bulk]: " + large);
  EXPECT_EQ(connect().ask(put("/x", std::string(2000, 'b'))).status, 413) << "of another path";
  EXPECT_EQ(connect().ask(put("/bulk", std::string(150'000, 'b'))).body,
            "refused 413: wanted a body of at most 100000 bytes");
  RawClient second = connect();
  const std::string head = "PUT /bulk HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunk = "3E8\r\n" + std::string(1000, 'b') + "\r\n";
  EXPECT_EQ(second.ask(head + chunk + chunk + "0\r\n\r\n").status, 200);

  // One that is under way has the only place.
  ASSERT_TRUE(second.send(head + chunk + chunk));
  const auto is_refused = [&] { return client.ask(put("/bulk", std::string(2000, 'b'))).status == 503; };
  bool was_refused = false;
  for (int attempt = 0; attempt < 1000 && !was_refused; ++attempt) was_refused = is_refused();
  EXPECT_TRUE(was_refused);
  EXPECT_EQ(client.ask(put("/bulk", std::string(1000, 'b'))).status, 200) << "is not large";
  EXPECT_EQ(second.ask("0\r\n\r\n").status, 200);
  EXPECT_EQ(client.ask(put("/bulk", large)).status, 200);
}

TEST_F(HttpServerTest, MalformedRequestsAreRefusedInTheHandlersShape) {
  start();
  const std::vector<RefusedCase> cases = {
      {std::string("GET /%zz") + kEnd, 400, "refused 400: wanted two hexadecimal digits"},
      {std::string("GET /%ff") + kEnd, 400, "refused 400: wanted UTF-8"},
      {std::string("GET /%00") + kEnd, 400, "refused 400: wanted UTF-8"},
      {std::string("GET /a?b=%f") + kEnd, 400, "refused 400: wanted two hexadecimal digits"},
      {std::string("GET /a?=b") + kEnd, 400, "refused 400: wanted a name in the query"},
      {std::string("GET /a b") + kEnd, 400, "refused 400: wanted a target without spaces"},
      {std::string("GET a") + kEnd, 400, "refused 400: wanted a target that begins with /"},
      {std::string("OPTIONS *") + kEnd, 400, "refused 400: wanted a target that begins with /"},
      {std::string("CONNECT a:443") + kEnd, 400, "refused 400: wanted a target that begins with /"},
      {std::string("G(T /") + kEnd, 400, "refused 400: wanted a method, found \"G(T\""},
      {"GET / HTTP/1.1\r\n\r\n", 400, "refused 400: wanted a Host, found none"},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "refused 400: wanted one Host, found 2"},
      {"GET / HTTP/1.1\r\nHost: a\r\nA B: c\r\n\r\n", 400, "refused 400: wanted the name of a header"},
      {"GET / HTTP/1.1\r\nHost: a\r\nX-A : c\r\n\r\n", 400, "refused 400: wanted the name of a header"},
      {"GET / HTTP/1.1\r\nHost: a\r\nX-A: b\x01\r\n\r\n", 400, "refused 400: wanted a value of X-A"},
      {"GET /" + std::string(9'000, 'a') + kEnd, 414, "refused 414: wanted a target of at most 8192 bytes"},
      {"GET / HTTP/1.1\r\nHost: a\r\nX-A: " + std::string(20'000, 'a') + "\r\n\r\n", 431,
       "refused 431: wanted headers of at most 16384 bytes"},
  };
  for (const RefusedCase& each : cases) {
    RawClient client = connect();
    const RawAnswer answer = client.ask(each.request);
    EXPECT_EQ(answer.status, each.status) << each.request;
    EXPECT_THAT(answer.body, StartsWith(each.body)) << each.request;
    EXPECT_EQ(client.ask(std::string("GET /ok") + kEnd).status, 200) << "the connection stays: " << each.request;
  }
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 100; ++i) many += fmt::format("X-{}: 1\r\n", i);
  EXPECT_EQ(connect().ask(many + "\r\n").body, "refused 431: wanted at most 100 headers");
}

TEST_F(HttpServerTest, ARequestWithoutACertainEndIsRefusedAndItsConnectionClosed) {
  start();
  const std::string start_line = "PUT /x HTTP/1.1\r\nHost: a\r\n";
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::vector<RefusedCase> cases = {
      {start_line + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc" + hidden, 400,
       "refused 400: wanted one Content-Length, found 2"},
      {start_line + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden, 400,
       "refused 400: wanted Content-Length or Transfer-Encoding, found both"},
      {start_line + "Transfer-Encoding: gzip\r\n\r\nabc" + hidden, 400,
       "refused 400: wanted the Transfer-Encoding chunked, found \"gzip\""},
      {start_line + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + hidden, 400,
       "refused 400: wanted the Transfer-Encoding chunked"},
      {"PUT /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden, 400,
       "refused 400: wanted no Transfer-Encoding in HTTP/1.0"},
  };
  for (const RefusedCase& each : cases) {
    RawClient client = connect();
    const RawAnswer answer = client.ask(each.request);
    EXPECT_EQ(answer.status, each.status) << each.request;
    EXPECT_THAT(answer.body, StartsWith(each.body)) << each.request;
    EXPECT_TRUE(client.is_closed_by_server()) << each.request;
  }
}

TEST_F(HttpServerTest, BytesThatAreNotTakenAreRefusedAndTheConnectionClosed) {
  start();
  const auto with_nul = [](std::string text) {
    std::ranges::replace(text, '@', '\0');
    return text;
  };
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string line = "GET /x HTTP/1.1\r\nHost: a\r\n";
  for (const std::string& text : {std::string("GET /x@y HTTP/1.1\r\nHost: a\r\n\r\n"),
                                  std::string("GET /x@ HTTP/1.1\r\nHost: a\r\n\r\n"),
                                  std::string("GET /x?a=@b&c=d HTTP/1.1\r\nHost: a\r\n\r\n"),
                                  std::string("GE@T /x HTTP/1.1\r\nHost: a\r\n\r\n"),
                                  std::string("GET@ /x HTTP/1.1\r\nHost: a\r\n\r\n"),
                                  std::string("GET @/x HTTP/1.1\r\nHost: a\r\n\r\n"),
                                  std::string("GET /x HTTP/1.1\r\nHost: a@\r\n\r\n"),
                                  line + "X: b@c\r\n\r\n",
                                  line + "X: @\r\n\r\n",
                                  line + "X: b\r\nY: @c\r\nZ: d\r\n\r\n",
                                  line + "X@: b\r\n\r\n",
                                  line + "X@Y: b\r\n\r\n",
                                  line + "X: b\n@c: d\r\n\r\n",
                                  line + "@X: b\r\n\r\n",
                                  line + "@\r\n\r\n",
                                  line + "X: b\r\n@\r\n",
                                  line + "X: b\r\n @c\r\n\r\n",
                                  line + "X: b\r\n c\r\n\r\n",
                                  line + "X: b\r\n\tc\r\n d\r\nY: e\r\n\r\n",
                                  line + "Content-Length: 3@\r\n\r\nabc",
                                  "PUT" + line.substr(3) + "X: @\r\nContent-Length: 3\r\n\r\nabc"}) {
    RawClient client = connect();
    const RawAnswer answer = client.ask(with_nul(text) + hidden);
    EXPECT_EQ(answer.status, 400) << text;
    EXPECT_TRUE(client.is_closed_by_server()) << text;
  }
  RawClient client = connect();
  for (const char* text :
       {"GET   /x HTTP/1.1\r\nHost: a\r\nX:\r\nY: \t b \r\nZ:c\r\n\r\n", "GET /x?a=b&c HTTP/1.1\nHost: a\n\n",
        "\r\nGET / HTTP/1.1\nHost:a\r\n\n", "GET / HTTP/1.1\r\nHost: a\nX: b\n\r\n"}) {
    EXPECT_NE(client.ask(text).body.find("GET"), std::string::npos) << text;
  }
  EXPECT_EQ(client.ask("GET / HTTP/1.0\r\n\r\n").status, 200);
}

TEST_F(HttpServerTest, AMalformedLengthIsRefusedOnce) {
  start();
  const std::string line = "PUT /x HTTP/1.1\r\nHost: a\r\n";
  // It has sent a part of its headers, of the same kind.
  RawClient slow = connect();
  ASSERT_TRUE(slow.send(line + "Content-Length: 3\r\n"));
  const std::vector<RefusedCase> cases = {
      {line + "Content-Length: abc\r\n\r\n", 400, "refused 400: wanted a Content-Length in digits, found \"abc\""},
      {line + "Content-Length: -1\r\nX: y\r\n\r\n", 400,
       "refused 400: wanted a Content-Length in digits, found \"-1\""},
      {line + "Content-Length: 1,1\r\n\r\na", 400, "refused 400: wanted a Content-Length in digits, found \"1,1\""},
      {line + "Content-Length:\r\n\r\n", 400, "refused 400: wanted a Content-Length in digits, found \"\""},
      {line + "Content-Length: 99999999999999999999\r\n\r\n", 413, "refused 413: wanted a smaller body"},
  };
  for (const RefusedCase& each : cases) {
    RawClient client = connect();
    const RawAnswer answer = client.ask(each.request);
    EXPECT_EQ(answer.status, each.status) << each.request;
    EXPECT_THAT(answer.body, StartsWith(each.body)) << each.request;
    EXPECT_TRUE(client.is_closed_by_server()) << each.request;
  }
  EXPECT_EQ(slow.ask("\r\nabc").status, 200);
}

TEST_F(HttpServerTest, BrokenFramingIsAnsweredByTheLibraryAndEndsTheConnection) {
  start();
  const std::string line = "PUT /x HTTP/1.1\r\nHost: a\r\n";
  const std::vector<RefusedCase> cases = {
      {"nonsense\r\n\r\n", 0, ""},
      {"GET / HTTP/2.0\r\n\r\n", 505, ""},
      {"GET / HTTP/0.9\r\n\r\n", 505, ""},
      {"GET / FTP/1.1\r\n\r\n", 400, ""},
      {line + "no colon\r\n\r\n", 400, ""},
      {line + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400, ""},
      {line + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 413, ""},
      {line + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400, ""},
      {"GET /" + std::string(200'000, 'a') + kEnd, 414, ""},
      {line + "X: " + std::string(200'000, 'a') + "\r\n\r\n", 431, ""},
  };
  for (const RefusedCase& each : cases) {
    RawClient client = connect();
    const std::string shown = each.request.substr(0, 100);
    // The server may close before it has read all.
    static_cast<void>(client.send(each.request));
    EXPECT_EQ(client.read_answer().status, each.status) << shown;
    EXPECT_TRUE(client.is_closed_by_server()) << shown;
  }
  EXPECT_EQ(connect().ask(std::string("GET /ok") + kEnd).status, 200);
}

TEST_F(HttpServerTest, AFailureOfTheHandlerIsARefusalAndNotTheEndOfTheServer) {
  start();
  RawClient client = connect();
  const RawAnswer thrown = client.ask(std::string("GET /throw") + kEnd);
  EXPECT_EQ(thrown.status, 500);
  EXPECT_EQ(thrown.body, "refused 500: the handler failed: on purpose");
  const RawAnswer injected = client.ask(std::string("GET /bad-header") + kEnd);
  EXPECT_EQ(injected.status, 500);
  EXPECT_THAT(injected.head, Not(HasSubstr("Set:")));
  EXPECT_EQ(client.ask(std::string("GET /ok") + kEnd).status, 200);
}

TEST_F(HttpServerTest, ManyConnectionsAtATime) {
  for (const unsigned thread_count : {1U, 3U}) {
    start({.thread_count = thread_count});
    std::vector<RawClient> clients = several(64, [this] { return connect(); });
    for (int round = 0; round < 5; ++round) {
      for (RawClient& client : clients) ASSERT_TRUE(client.send(put("/m", std::string(5000, 'b'))));
      for (RawClient& client : clients)
        EXPECT_EQ(client.read_answer().body.size(), 5000 + std::string("PUT [m]: ").size());
    }
    server_->stop();
  }
}

TEST_F(HttpServerTest, ManyThreadsOfClients) {
  start({.thread_count = 2});
  std::atomic<int> good_count = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) good_count += connect().ask(put("/m", "x")).status == 200 ? 1 : 0;
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(good_count, 160);
}

TEST_F(HttpServerTest, ConnectionsBeyondTheLimitAreRefusedAndLaterOnesServed) {
  start({.connection_count_max = 3});
  std::vector<RawClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(connect());
    EXPECT_EQ(clients.back().ask(std::string("GET /ok") + kEnd).status, 200);
  }
  RawClient surplus = connect();
  const RawAnswer refused = surplus.ask(std::string("GET /ok") + kEnd);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, "refused 503: wanted at most 3 connections at a time");
  EXPECT_TRUE(surplus.is_closed_by_server());
  clients.clear();
  // The server sees the closed connections soon, not at once.
  int status = 0;
  for (int attempt = 0; attempt < 10'000 && status != 200; ++attempt) {
    status = connect().ask(std::string("GET /ok") + kEnd).status;
  }
  EXPECT_EQ(status, 200);
}

// With exactly 128 events at a time a thread of libmicrohttpd 0.9.75 would handle none until another arrived.
TEST_F(HttpServerTest, AThreadServesALimitedNumberOfConnectionsAndAllOfThemAtATime) {
  start();
  std::vector<RawClient> clients = several(kHttpThreadConnectionCountMax, [this] { return connect(); });
  for (int round = 0; round < 20; ++round) {
    for (const RawClient& client : clients) ASSERT_TRUE(client.send(std::string("GET /ok") + kEnd));
    for (RawClient& client : clients) ASSERT_EQ(client.read_answer().status, 200);
  }
  EXPECT_EQ(connect().ask(std::string("GET /ok") + kEnd).body, "refused 503: wanted at most 100 connections at a time");
  server_->stop();
  clients.clear();

  // Whichever thread is faster, the other gets the connections beyond the first one's limit.
  start({.thread_count = 2});
  clients = several(2 * std::size_t{kHttpThreadConnectionCountMax}, [this] { return connect(); });
  for (int round = 0; round < 20; ++round) {
    for (const RawClient& client : clients) ASSERT_TRUE(client.send(std::string("GET /ok") + kEnd));
    for (RawClient& client : clients) ASSERT_EQ(client.read_answer().status, 200);
  }
}

TEST_F(HttpServerTest, IdleConnectionsAreClosed) {
  start({.idle_timeout = Micros::seconds(1)});
  RawClient idle = connect();
  EXPECT_EQ(idle.ask(std::string("GET /ok") + kEnd).status, 200);
  RawClient half = connect();
  ASSERT_TRUE(half.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"));
  EXPECT_TRUE(idle.is_closed_by_server());
  EXPECT_TRUE(half.is_closed_by_server());
}

TEST_F(HttpServerTest, AnAddressInUseIsNamed) {
  start();
  const auto second = start_http_server({.port = server_->port()}, handler_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(second.error().message,
            fmt::format("127.0.0.1:{}: cannot listen: Address already in use", server_->port()));
  const auto unknown = start_http_server({.host = "256.0.0.1.invalid", .port = 80}, handler_);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(unknown.error().message, StartsWith("256.0.0.1.invalid:80: wanted an address of this machine: "));
  const auto foreign = start_http_server({.host = "192.0.2.1", .port = 80}, handler_);
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message, StartsWith("192.0.2.1:80: cannot listen: "));
}

TEST_F(HttpServerTest, ThePortIsFreeAgainAfterTheStop) {
  start();
  const std::uint16_t port = server_->port();
  RawClient client = connect();
  EXPECT_EQ(client.ask(std::string("GET /ok") + kEnd).status, 200);
  server_->stop();
  server_->stop();
  EXPECT_TRUE(client.is_closed_by_server());
  EXPECT_FALSE(RawClient(port).is_open());
  start({.port = port});
  EXPECT_EQ(server_->port(), port);
  EXPECT_EQ(connect().ask(std::string("GET /ok") + kEnd).status, 200);
}

}  // namespace
}  // namespace berth::edges
