#include "edges/replica_peer/replica_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "edges/http_client/curl_stream_client.h"
#include "edges/replica_peer/testing/proving_replica.h"
#include "serving/replica_proof/replica_proof.h"

namespace berth::edges {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProvingReplica;
using testing::ProvingReplicaOptions;

constexpr const char* kPath = "/berth/v1/times";

std::string answer_of(const std::string& body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

ProvingReplicaOptions reader_replica(std::string key, std::string answer) {
  return {.key = std::move(key), .generation = "7", .answer = std::move(answer)};
}

Endpoint endpoint_of(const ProvingReplica& replica) {
  return {.slice = "s0", .generation = 7, .url = replica.url(), .key = "the-key"};
}

TEST(ReplicaReader, GetsTheAnswerOfAReplicaThatHasProvedItself) {
  ProvingReplica replica(reader_replica("the-key", answer_of("times")));
  CurlStreamClient client;
  for (int i = 0; i < 2; ++i) {
    const auto reply = get_from_replica(client, endpoint_of(replica), kPath);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, "times");
  }
  EXPECT_THAT(replica.received(), HasSubstr("GET /berth/v1/times "));
  EXPECT_THAT(replica.received(), HasSubstr("berth-key: " + serving::request_token("the-key")));
}

TEST(ReplicaReader, AnotherProcessGetsNoToken) {
  ProvingReplica impostor(reader_replica("another-key", answer_of("false times")));
  CurlStreamClient client;
  const auto reply = get_from_replica(client, endpoint_of(impostor), kPath);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kNoServer);
  EXPECT_THAT(impostor.received(), HasSubstr("HEAD /v2/health/live "));
  EXPECT_THAT(impostor.received(), Not(HasSubstr("berth-key")));
  EXPECT_THAT(impostor.received(), Not(HasSubstr("times")));
}

TEST(ReplicaReader, HasLimits) {
  CurlStreamClient client;
  ProvingReplica large(reader_replica("the-key", answer_of(std::string(2000, 'x'))));
  const auto too_much = get_from_replica(client, endpoint_of(large), kPath, {.bytes_max = 1000});
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().message, "wanted at most 1000 bytes");
  ProvingReplica silent(reader_replica("the-key", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"));
  const auto late = get_from_replica(client, endpoint_of(silent), kPath, {.patience = Micros(300'000)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kTimedOut);
  const auto stopped = get_from_replica(client, endpoint_of(silent), kPath, {.is_stopped = [] { return true; }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace berth::edges
