// Replicas that prove who they are, and processes that have taken over their ports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "edges/gateway_server/gateway_server.h"
#include "edges/http_client/curl_stream_client.h"
#include "edges/http_server/http_server.h"
#include "edges/http_server/test_raw_client.h"
#include "edges/replica_peer/testing/proving_replica.h"

namespace berth::edges {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProvingReplica;
using testing::ProvingReplicaOptions;

constexpr const char* kBody = "secret-body";

ProvingReplicaOptions replica_of(std::string key, std::optional<std::string> client = std::nullopt) {
  return {.key = std::move(key),
          .answer = "HTTP/1.1 200 OK\r\nberth-slice: s0\r\nberth-generation: 1\r\nContent-Length: 4\r\n\r\ngood",
          .client = std::move(client)};
}

class ReplicaPeerTest : public ::testing::Test {
 protected:
  ReplicaPeerTest() {
    server_.start(*client_);
    auto started = start_turned_http_server({}, server_);
    EXPECT_TRUE(started);
    http_ = *std::move(started);
    client_->take_guest({.descriptor = http_->descriptor(), .turn = [this] { return http_->turn(); }});
  }
  ~ReplicaPeerTest() override {
    server_.stop(Micros(0));
    client_.reset();
    http_->stop();
  }

  /// Asks once with that replica in the table.
  [[nodiscard]] RawAnswer ask(const std::string& url) {
    const EndpointTable table{.number = ++table_number_,
                              .services = {{.tenant = "t",
                                            .service = "s",
                                            .target = Micros(700'000),
                                            .answer = Micros(700'000),
                                            .replicas = {{.slice = "s0",
                                                          .generation = 1,
                                                          .url = url,
                                                          .key = "the-key",
                                                          .says_who_it_is = true,
                                                          .in_flight_max = 4}}}}};
    server_.take_table(table);
    RawClient client(http_->port());
    return client.ask(fmt::format("POST /t/s/v2/models/m/infer HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}",
                                  std::string(kBody).size(), kBody));
  }

  GatewayServer server_{{.name = "g"}};
  std::optional<CurlStreamClient> client_{std::in_place};
  std::unique_ptr<TurnedHttpServer> http_;
  std::uint64_t table_number_ = 0;
};

TEST_F(ReplicaPeerTest, TheReplicaIsAskedOncePerConnection) {
  ProvingReplica replica(replica_of("the-key"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(replica.url()).body, "good");
  EXPECT_EQ(replica.connection_count(), 1);
  EXPECT_THAT(replica.received(), Not(HasSubstr("the-key")));
  EXPECT_THAT(replica.received(), HasSubstr("berth-key: " + serving::request_token("the-key")));
  EXPECT_THAT(replica.received(), HasSubstr(kBody));
}

TEST_F(ReplicaPeerTest, AnotherProcessGetsNothing) {
  ProvingReplica of_another_key(replica_of("another-key"));
  ProvingReplica of_another_connection(replica_of("the-key", "127.0.0.1:1"));
  for (ProvingReplica* const impostor : {&of_another_key, &of_another_connection}) {
    EXPECT_EQ(ask(impostor->url()).status, 503);
    EXPECT_GE(impostor->connection_count(), 1);
    EXPECT_THAT(impostor->received(), HasSubstr("HEAD /v2/health/live "));
    EXPECT_THAT(impostor->received(), Not(HasSubstr(kBody)));
    EXPECT_THAT(impostor->received(), Not(HasSubstr("berth-key")));
    EXPECT_THAT(impostor->received(), Not(HasSubstr("infer")));
  }
}

}  // namespace
}  // namespace berth::edges
