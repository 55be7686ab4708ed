#include "edges/replica_peer/replica_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <utility>

#include "edges/http_client/curl_stream_client.h"
#include "edges/http_client/testing/scripted_backend.h"
#include "serving/replica_proof/replica_proof.h"

namespace berth::edges {
namespace {

using testing::BackendConnection;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedBackend;

constexpr const char* kPath = "/berth/v1/times";

/// Proves to have a key, and answers requests with a text.
class Replica {
 public:
  Replica(std::string key, std::string answer)
      : backend_([this, key = std::move(key), answer = std::move(answer)](BackendConnection& connection) {
          while (const auto request = connection.receive_request()) {
            {
              const std::scoped_lock lock(mutex_);
              received_ += *request;
            }
            if (!request->starts_with("HEAD ")) {
              connection.send(answer);
              continue;
            }
            const std::string name = "berth-nonce: ";
            const std::size_t at = request->find(name) + name.size();
            connection.send(
                fmt::format("HTTP/1.1 200 OK\r\nberth-proof: {}\r\nContent-Length: 2\r\n\r\n",
                            serving::replica_proof(key, {.nonce = request->substr(at, request->find('\r', at) - at),
                                                         .slice = "s0",
                                                         .generation = "7",
                                                         .client = connection.peer()})));
          }
        }) {}

  [[nodiscard]] std::string received() {
    const std::scoped_lock lock(mutex_);
    return received_;
  }
  [[nodiscard]] Endpoint endpoint() const {
    return {.slice = "s0", .generation = 7, .url = backend_.url(), .key = "the-key"};
  }

 private:
  std::mutex mutex_;
  std::string received_;
  ScriptedBackend backend_;
};

std::string answer_of(const std::string& body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

TEST(ReplicaReader, GetsTheAnswerOfAReplicaThatHasProvedItself) {
  Replica replica("the-key", answer_of("times"));
  CurlStreamClient client;
  for (int i = 0; i < 2; ++i) {
    const auto reply = get_from_replica(client, replica.endpoint(), kPath);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, "times");
  }
  EXPECT_THAT(replica.received(), HasSubstr("GET /berth/v1/times "));
  EXPECT_THAT(replica.received(), HasSubstr("berth-key: " + serving::request_token("the-key")));
}

TEST(ReplicaReader, AnotherProcessGetsNoToken) {
  Replica impostor("another-key", answer_of("false times"));
  CurlStreamClient client;
  const auto reply = get_from_replica(client, impostor.endpoint(), kPath);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kNoServer);
  EXPECT_THAT(impostor.received(), HasSubstr("HEAD /v2/health/live "));
  EXPECT_THAT(impostor.received(), Not(HasSubstr("berth-key")));
  EXPECT_THAT(impostor.received(), Not(HasSubstr("times")));
}

TEST(ReplicaReader, HasLimits) {
  CurlStreamClient client;
  Replica large("the-key", answer_of(std::string(2000, 'x')));
  const auto too_much = get_from_replica(client, large.endpoint(), kPath, {.bytes_max = 1000});
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().message, "wanted at most 1000 bytes");
  Replica silent("the-key", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
  const auto late = get_from_replica(client, silent.endpoint(), kPath, {.patience = Micros(300'000)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kTimedOut);
  const auto stopped = get_from_replica(client, silent.endpoint(), kPath, {.is_stopped = [] { return true; }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace berth::edges
