// What is decided from one value: predictions, repeats, headers.
#include <gtest/gtest.h>

#include "serving/gateway/passing_headers.h"
#include "serving/gateway/repeat_rules.h"
#include "serving/gateway/replica_load.h"
#include "serving/replica_proof/replica_proof.h"

namespace berth::serving {
namespace {

TEST(ReplicaLoad, FullBatchesComeFirst) {
  const std::vector<BatchLatency> times = {{.batch = 1, .latency = Micros(10)}, {.batch = 4, .latency = Micros(16)}};
  EXPECT_EQ(predicted_completion_us(times, 0), 0);
  EXPECT_EQ(predicted_completion_us(times, 1), 10);
  EXPECT_EQ(predicted_completion_us(times, 3), 16);
  EXPECT_EQ(predicted_completion_us(times, 4), 16);
  EXPECT_EQ(predicted_completion_us(times, 9), 42);
  EXPECT_EQ(predicted_completion_us({}, 3), 30'000);
}

TEST(ReplicaLoad, SlownessIsAveragedAndForgotten) {
  SlowdownAverage slowdown;
  EXPECT_EQ(slowdown.factor(Instant()), 1);
  for (int i = 0; i < 100; ++i) slowdown.measure(100, 300, Instant());
  EXPECT_NEAR(slowdown.factor(Instant()), 3, 0.01);
  EXPECT_NEAR(slowdown.factor(Instant::at_second(10)), 2, 0.01);
  EXPECT_NEAR(slowdown.factor(Instant::at_second(1'000)), 1, 0.01);
  slowdown.measure(0, 1e12, Instant::at_second(1'000));
  EXPECT_LT(slowdown.factor(Instant::at_second(1'000)), 10);
}

TEST(RepeatRules, OnlyWhatChangesNothingOrSaysSo) {
  EXPECT_TRUE(is_repeatable("GET", "/x", {}));
  EXPECT_TRUE(is_repeatable("HEAD", "/x", {}));
  EXPECT_TRUE(is_repeatable("POST", "/v2/models/digits/infer", {}));
  EXPECT_TRUE(is_repeatable("POST", "/v2/models/digits/infer?a=b", {}));
  EXPECT_TRUE(is_repeatable("POST", "/v2/models/digits/versions/1/infer", {}));
  const std::vector<HttpField> key = {{"idempotency-key", "k"}};
  EXPECT_TRUE(is_repeatable("POST", "/v1/chat/completions", key));
  EXPECT_TRUE(is_repeatable("DELETE", "/x", key));
  for (const char* path : {"/v2/models//infer", "/v2/models/infer", "/v2/models/a/b/infer",
                           "/v2/models/a/versions//infer", "/v2/models/a/versions/1/b/infer", "/v2/models/a/infer/",
                           "/v2/repository/models/a/load", "/v1/chat/completions", "/infer", ""}) {
    EXPECT_FALSE(is_repeatable("POST", path, {})) << path;
  }
  EXPECT_FALSE(is_repeatable("PUT", "/v2/models/digits/infer", {}));
  const std::vector<HttpField> empty = {{"Idempotency-Key", ""}};
  EXPECT_FALSE(is_repeatable("POST", "/x", empty));
}

Endpoint serve_replica() {
  return {.slice = "gpu-1", .generation = 4, .url = "http://127.0.0.1:1", .key = "k1", .says_who_it_is = true};
}

TEST(PassingHeaders, AClientCannotSayForWhomARequestIs) {
  const std::vector<HttpField> sent = {{"Host", "a"},
                                       {"X-A", "1"},
                                       {"BERTH-Slice", "other"},
                                       {"berth-key", "stolen"},
                                       {"Connection", "X-B"},
                                       {"x-b", "2"},
                                       {"Content-Length", "3"},
                                       {"Authorization", "z"},
                                       {"Transfer-Encoding", "chunked"},
                                       {"Accept-Encoding", "gzip"}};
  const std::vector<HttpField> passed = headers_to_replica(sent, serve_replica());
  EXPECT_EQ(passed, (std::vector<HttpField>{{"X-A", "1"},
                                            {"Authorization", "z"},
                                            {"Accept-Encoding", "gzip"},
                                            {"berth-key", request_token("k1")},
                                            {"berth-slice", "gpu-1"},
                                            {"berth-generation", "4"}}));
  EXPECT_EQ(headers_to_replica(sent, Endpoint{}).size(), 3U);
}

TEST(PassingHeaders, AnAnswerIsOfTheReplicaThatWasAsked) {
  const std::vector<HttpField> own = {{"Berth-Slice", "gpu-1"}, {"Berth-Generation", "4"}, {"X-A", "1"}, {"Date", "d"}};
  EXPECT_EQ(answered_by(own, serve_replica()), AnsweredBy::kReplica);
  EXPECT_EQ(headers_from_replica(own),
            (std::vector<HttpField>{{"Berth-Slice", "gpu-1"}, {"Berth-Generation", "4"}, {"X-A", "1"}}));
  EXPECT_EQ(answered_by({}, serve_replica()), AnsweredBy::kAnother);
  EXPECT_EQ(answered_by({}, Endpoint{}), AnsweredBy::kReplica);
  const std::vector<HttpField> later = {{"berth-slice", "gpu-1"}, {"berth-generation", "5"}};
  EXPECT_EQ(answered_by(later, serve_replica()), AnsweredBy::kAnother);
  const std::vector<HttpField> refused = {
      {"berth-slice", "gpu-1"}, {"berth-generation", "5"}, {"berth-refused", "key"}};
  EXPECT_EQ(answered_by(refused, serve_replica()), AnsweredBy::kNotExecuted);
}

}  // namespace
}  // namespace berth::serving
