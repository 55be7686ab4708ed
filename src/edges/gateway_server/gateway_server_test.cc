#include "edges/gateway_server/gateway_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "edges/http_client/curl_stream_client.h"
#include "edges/http_client/testing/scripted_backend.h"
#include "edges/http_server/http_server.h"
#include "edges/http_server/test_raw_client.h"

namespace berth::edges {
namespace {

using testing::BackendConnection;
using testing::ScriptedBackend;

constexpr const char* kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood";

std::string request_to(const std::string& path, const std::string& body = "{}") {
  return "POST /t/s" + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

class GatewayServerTest : public ::testing::Test {
 protected:
  GatewayServerTest() {
    server_.start(*client_);
    auto started = start_turned_http_server({.connection_count_max = 400}, server_);
    EXPECT_TRUE(started);
    http_ = *std::move(started);
    client_->take_guest({.descriptor = http_->descriptor(), .turn = [this] { return http_->turn(); }});
  }
  ~GatewayServerTest() override { end(Micros(0)); }

  void end(Micros at_most) {
    server_.stop(at_most);
    client_.reset();
    http_->stop();
  }
  [[nodiscard]] RawClient connect() const { return RawClient(http_->port()); }
  void take_table(std::uint64_t number, const std::vector<std::string>& urls, Micros answer = Micros::seconds(10)) {
    EndpointTable table{
        .number = number,
        .services = {{.tenant = "t", .service = "s", .target = answer, .answer = answer, .replicas = {}}}};
    for (const std::string& url : urls) {
      table.services[0].replicas.push_back({.slice = "s" + std::to_string(table.services[0].replicas.size()),
                                            .generation = number,
                                            .url = url.substr(0, url.find_last_of('/')),
                                            .key = "",
                                            .in_flight_max = 4});
    }
    server_.take_table(table);
  }
  /// The sums of all records.
  RequestRecord sums() {
    server_.close_all_seconds();
    RequestRecord sum;
    for (auto report = server_.report(); !report.records.empty(); report = server_.report()) {
      for (const RequestRecord& record : report.records) {
        sum.arrivals += record.arrivals;
        sum.in_time += record.in_time;
        sum.late += record.late;
        sum.dropped += record.dropped;
      }
      server_.acknowledge(report.records.back().number);
    }
    return sum;
  }

  GatewayServer server_{{.name = "g"}};
  std::optional<CurlStreamClient> client_{std::in_place};
  std::unique_ptr<TurnedHttpServer> http_;
};

TEST_F(GatewayServerTest, PassesWhatAReplicaAnswers) {
  ScriptedBackend backend([](BackendConnection& connection) {
    while (connection.receive_request()) connection.send(kAnswer);
  });
  RawClient client = connect();
  EXPECT_EQ(client.ask(request_to("/x")).status, 503);  // no table yet
  take_table(1, {backend.url("/")});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.ask(request_to("/x")).body, "good");
  EXPECT_EQ(client.ask("GET /t/other/x HTTP/1.1\r\nHost: a\r\n\r\n").status, 404);
  EXPECT_EQ(client.ask("GET /berth/v1/ready HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
  EXPECT_EQ(client.ask("GET /berth/v1/other HTTP/1.1\r\nHost: a\r\n\r\n").status, 404);
  EXPECT_EQ(sums().in_time, 3);
}

TEST_F(GatewayServerTest, ItsEndRefusesWhatIsNotAnswered) {
  ScriptedBackend silent([](BackendConnection& connection) {
    (void)connection.receive_request();
    (void)connection.wait_until_closed();
  });
  take_table(1, {silent.url("/")});
  RawClient client = connect();
  client.send(request_to("/x"));
  while (silent.connection_count() == 0) std::this_thread::yield();
  end(Micros(50'000));
  EXPECT_EQ(client.read_answer().status, 503);
  EXPECT_EQ(sums().dropped, 1);
}

// Clients that leave, replicas that break and tables that change at the same time: every request is counted once.
TEST_F(GatewayServerTest, CountsEachRequestOnceWhateverHappens) {
  std::atomic<int> answered = 0;
  const auto answer = [&answered](BackendConnection& connection) {
    while (connection.receive_request()) {
      if (++answered % 17 == 0) return;  // without an answer
      if (answered % 5 == 0) {
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 3; ++i) connection.send_chunk("part");
        connection.send("0\r\n\r\n");
      } else {
        connection.send(kAnswer);
      }
    }
  };
  ScriptedBackend first(answer);
  ScriptedBackend second(answer);
  take_table(1, {first.url("/"), second.url("/")});
  constexpr int kClients = 8;
  constexpr int kRequests = 60;
  std::atomic<bool> is_over = false;
  std::thread tables([&] {
    for (std::uint64_t number = 2; !is_over; ++number) {
      take_table(number, {number % 2 == 0 ? first.url("/") : second.url("/"), second.url("/")});
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  std::vector<std::thread> clients;
  for (int number = 0; number < kClients; ++number) {
    clients.emplace_back([this, number] {
      for (int i = 0; i < kRequests; ++i) {
        RawClient client = connect();
        client.send(request_to(number % 2 == 0 ? "/v2/models/m/infer" : "/v1/chat"));
        if (i % 7 == number % 7) continue;  // leaves at once
        (void)client.read_until("\r\n\r\n");
      }
    });
  }
  for (std::thread& each : clients) each.join();
  is_over = true;
  tables.join();
  end(Micros::seconds(10));
  const RequestRecord sum = sums();
  EXPECT_LE(sum.arrivals, kClients * kRequests);
  EXPECT_GE(sum.arrivals, kClients * kRequests / 2);
  EXPECT_EQ(sum.arrivals, sum.in_time + sum.late + sum.dropped);
}

}  // namespace
}  // namespace berth::edges
