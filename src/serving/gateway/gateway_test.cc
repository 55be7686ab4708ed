#include "serving/gateway/gateway.h"

#include <gtest/gtest.h>

#include <utility>

namespace berth::serving {
namespace {

constexpr std::int64_t kSecond = 1'800'000'000;

Instant at_ms(std::int64_t ms) { return Instant(ms * 1'000); }

Endpoint replica_of(const std::string& slice, std::int64_t in_flight_max = 2) {
  return {.slice = slice,
          .generation = 1,
          .url = "http://127.0.0.1:9000",
          .key = "",
          .says_who_it_is = true,
          .in_flight_max = in_flight_max,
          .latencies = {{.batch = 1, .latency = Micros(10'000)}}};
}

EndpointTable table_of(std::vector<Endpoint> replicas, std::uint64_t number = 1) {
  return {.number = number,
          .services = {{.tenant = "vision",
                        .service = "digits",
                        .target = Micros(50'000),
                        .answer = Micros::seconds(2),
                        .replicas = std::move(replicas)}}};
}

GatewayArrival infer_of(std::size_t bytes = 100) {
  return {.tenant = "vision", .service = "digits", .bytes = bytes, .is_repeatable = true, .second = kSecond};
}

GatewayArrival chat_of() {
  GatewayArrival arrival = infer_of();
  arrival.is_repeatable = false;
  return arrival;
}

/// "send 1 a", "refuse 2 429", "cancel 3", in order.
std::vector<std::string> words_of(const std::vector<GatewayOrder>& orders) {
  std::vector<std::string> words;
  for (const GatewayOrder& order : orders) {
    if (const auto* send = std::get_if<GatewaySend>(&order)) {
      words.push_back("send " + std::to_string(send->request) + " " + send->replica->slice);
    } else if (const auto* refusal = std::get_if<GatewayRefuse>(&order)) {
      words.push_back("refuse " + std::to_string(refusal->request) + " " + std::to_string(refusal->status));
    } else {
      words.push_back("cancel " + std::to_string(std::get<GatewayCancel>(order).request));
    }
  }
  return words;
}

using Words = std::vector<std::string>;

class GatewayTest : public ::testing::Test {
 protected:
  Words take(std::vector<Endpoint> replicas, Instant now = at_ms(0)) {
    return words_of(gateway_.take_table(table_of(std::move(replicas)), now));
  }
  Words arrive(const GatewayArrival& arrival, Instant now = at_ms(0)) {
    const auto entry = gateway_.arrive(arrival, now);
    return entry ? words_of(entry->orders) : Words{"unknown"};
  }
  Words end(GatewayRequestId request, GatewayEnd how, Instant now) { return words_of(gateway_.end(request, how, now)); }
  /// The sums of all records until now.
  RequestRecord sums(Instant now) {
    gateway_.close_seconds(kSecond + 10, now);
    RequestRecord sum;
    for (const RequestRecord& record : gateway_.report().records) {
      sum.arrivals += record.arrivals;
      sum.in_time += record.in_time;
      sum.late += record.late;
      sum.dropped += record.dropped;
    }
    return sum;
  }

  Gateway gateway_{"g", {.queue_count_max = 3, .queue_bytes_max = 1'000}};
};

TEST_F(GatewayTest, AServiceThatIsNotInTheTableIsUnknown) {
  EXPECT_EQ(arrive(infer_of()), Words{"unknown"});
  EXPECT_FALSE(gateway_.has_table());
  EXPECT_EQ(take({}), Words{});
  EXPECT_TRUE(gateway_.has_table());
  EXPECT_EQ(arrive(infer_of()), Words{});
}

TEST_F(GatewayTest, RequestsGoWhereTheyAreAnsweredSoonest) {
  Endpoint fast = replica_of("fast", 10);
  fast.latencies = {{.batch = 1, .latency = Micros(4'000)}};
  EXPECT_EQ(take({fast, replica_of("slow", 10)}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 fast"});  // 4 ms, 10 ms
  EXPECT_EQ(arrive(infer_of()), Words{"send 2 fast"});  // 8 ms, 10 ms
  EXPECT_EQ(arrive(infer_of()), Words{"send 3 slow"});  // 12 ms, 10 ms
  EXPECT_EQ(arrive(infer_of()), Words{"send 4 fast"});  // 12 ms, 20 ms
}

TEST_F(GatewayTest, AReplicaThatIsSlowerThanItsTableGetsLess) {
  EXPECT_EQ(take({replica_of("a", 10), replica_of("b", 10)}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  EXPECT_EQ(end(1, GatewayEnd::kAnswered, at_ms(200)), Words{});
  EXPECT_EQ(arrive(infer_of(), at_ms(200)), Words{"send 2 b"});
  EXPECT_EQ(arrive(infer_of(), at_ms(200)), Words{"send 3 b"});
  EXPECT_EQ(arrive(infer_of(), at_ms(200)), Words{"send 4 a"});  // 2.9 times 10 ms, against 30 ms
}

TEST_F(GatewayTest, WaitsInOrderAndRefusesBeyondTheBounds) {
  EXPECT_EQ(take({replica_of("a", 1)}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  EXPECT_EQ(arrive(infer_of()), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{});
  EXPECT_EQ(arrive(infer_of(900)), Words{"refuse 4 429"});  // too many bytes
  EXPECT_EQ(arrive(infer_of()), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"refuse 6 429"});  // too many requests
  EXPECT_EQ(end(1, GatewayEnd::kAnswered, at_ms(10)), Words{"send 2 a"});
  EXPECT_EQ(end(2, GatewayEnd::kAnswered, at_ms(90)), Words{"send 3 a"});
  const RequestRecord sum = sums(at_ms(100));
  EXPECT_EQ(sum.arrivals, 6);
  EXPECT_EQ(sum.in_time, 1);
  EXPECT_EQ(sum.late, 1);
  EXPECT_EQ(sum.dropped, 2);
}

TEST_F(GatewayTest, ARefusalOfTheReplicaIsDropped) {
  EXPECT_EQ(take({replica_of("a"), replica_of("b")}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  EXPECT_TRUE(gateway_.begin_answer(1));
  EXPECT_EQ(end(1, GatewayEnd::kRefused, at_ms(1)), Words{});
  EXPECT_EQ(sums(at_ms(2)).dropped, 1);
  EXPECT_FALSE(gateway_.status(at_ms(2))[0].replicas[0].is_avoided);
}

TEST_F(GatewayTest, WithoutReplicaARequestWaitsUntilItsDeadline) {
  EXPECT_EQ(take({}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{});
  EXPECT_EQ(gateway_.next_tick(at_ms(1'990)), at_ms(2'000));
  EXPECT_EQ(words_of(gateway_.tick(at_ms(1'999))), Words{});
  EXPECT_EQ(words_of(gateway_.tick(at_ms(2'000))), Words{"refuse 1 503"});
  EXPECT_EQ(arrive(infer_of(), at_ms(2'000)), Words{});
  EXPECT_EQ(take({replica_of("a")}, at_ms(3'000)), Words{"send 2 a"});
}

TEST_F(GatewayTest, AnAnswerThatDoesNotComeIsCancelledAtTheDeadline) {
  EXPECT_EQ(take({replica_of("a")}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  EXPECT_EQ(arrive(chat_of()), Words{"send 2 a"});
  EXPECT_TRUE(gateway_.begin_answer(2));
  EXPECT_EQ(words_of(gateway_.tick(at_ms(2'000))), (Words{"cancel 1", "refuse 1 503"}));
  EXPECT_FALSE(gateway_.begin_answer(1));
  EXPECT_EQ(end(1, GatewayEnd::kNoAnswer, at_ms(2'001)), Words{});
  EXPECT_EQ(end(2, GatewayEnd::kAnswered, at_ms(9'000)), Words{});  // a stream goes on
  EXPECT_EQ(gateway_.request_count(), 0U);
}

TEST_F(GatewayTest, WhatWasNotSentIsRepeatedElsewhereAtMostTwice) {
  EXPECT_EQ(take({replica_of("a"), replica_of("b"), replica_of("c"), replica_of("d")}), Words{});
  EXPECT_EQ(arrive(chat_of()), Words{"send 1 a"});
  EXPECT_EQ(end(1, GatewayEnd::kNotSent, at_ms(1)), Words{"send 1 b"});
  EXPECT_EQ(end(1, GatewayEnd::kNotSent, at_ms(2)), Words{"send 1 c"});
  EXPECT_EQ(end(1, GatewayEnd::kNotSent, at_ms(3)), Words{"refuse 1 502"});
  EXPECT_EQ(arrive(infer_of(), at_ms(4)), Words{"send 2 d"});  // the others have failed
}

TEST_F(GatewayTest, WhatMayHaveBeenCarriedOutIsRepeatedOnlyIfItMay) {
  EXPECT_EQ(take({replica_of("a", 4), replica_of("b", 4)}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  EXPECT_EQ(arrive(chat_of()), Words{"send 2 b"});
  EXPECT_EQ(end(1, GatewayEnd::kNoAnswer, at_ms(1)), Words{"send 1 b"});
  EXPECT_EQ(end(2, GatewayEnd::kNoAnswer, at_ms(2)), Words{"refuse 2 502"});
  EXPECT_TRUE(gateway_.begin_answer(1));
  EXPECT_EQ(end(1, GatewayEnd::kBroken, at_ms(3)), Words{"refuse 1 502"});
}

TEST_F(GatewayTest, AFailedReplicaIsTriedAgainLater) {
  EXPECT_EQ(take({replica_of("a")}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  EXPECT_EQ(end(1, GatewayEnd::kNotSent, at_ms(1)), Words{});
  EXPECT_TRUE(gateway_.status(at_ms(2))[0].replicas[0].is_avoided);
  EXPECT_EQ(gateway_.next_tick(at_ms(100)), at_ms(150));
  EXPECT_EQ(words_of(gateway_.tick(at_ms(1'000))), Words{});
  EXPECT_EQ(words_of(gateway_.tick(at_ms(1'001))), Words{"send 1 a"});
  EXPECT_EQ(end(1, GatewayEnd::kNotSent, at_ms(1'002)), Words{});
  Endpoint moved = replica_of("a");
  moved.url = "http://127.0.0.1:9001";
  EXPECT_EQ(take({moved}, at_ms(1'100)), Words{"send 1 a"});  // another process: it has not failed
}

TEST_F(GatewayTest, LeavingReplicasGetNothingNew) {
  Endpoint leaving = replica_of("a");
  EXPECT_EQ(take({leaving}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  leaving.is_leaving = true;
  EXPECT_EQ(take({leaving}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{});
  EXPECT_EQ(take({}), Words{});
  EXPECT_TRUE(gateway_.status(at_ms(1))[0].replicas[0].is_leaving);
  EXPECT_EQ(end(1, GatewayEnd::kAnswered, at_ms(5)), Words{});
  EXPECT_TRUE(gateway_.status(at_ms(6))[0].replicas.empty());
  EXPECT_EQ(take({replica_of("b")}), Words{"send 2 b"});
}

TEST_F(GatewayTest, AServiceThatLeavesTheTableRefusesWhatWaits) {
  EXPECT_EQ(take({replica_of("a", 1)}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  EXPECT_EQ(arrive(infer_of()), Words{});
  EXPECT_EQ(words_of(gateway_.take_table({.number = 9, .services = {}}, at_ms(1))), Words{"refuse 2 503"});
  EXPECT_EQ(gateway_.table_number(), 9U);
  EXPECT_EQ(arrive(infer_of()), Words{"unknown"});
  EXPECT_EQ(end(1, GatewayEnd::kNotSent, at_ms(2)), Words{"refuse 1 502"});
  EXPECT_TRUE(gateway_.status(at_ms(3)).empty());
}

TEST_F(GatewayTest, ClientsThatLeaveMakeRoomAndCountAsDropped) {
  EXPECT_EQ(take({replica_of("a", 1)}), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  EXPECT_EQ(arrive(infer_of()), Words{});
  EXPECT_EQ(arrive(infer_of()), Words{});
  EXPECT_EQ(words_of(gateway_.client_left(2, at_ms(1))), Words{});
  EXPECT_EQ(words_of(gateway_.client_left(1, at_ms(1))), (Words{"cancel 1", "send 3 a"}));
  EXPECT_EQ(words_of(gateway_.client_left(1, at_ms(1))), Words{});
  EXPECT_EQ(sums(at_ms(2)).dropped, 2);
}

TEST_F(GatewayTest, ReportsNameTheTableAndKeepRecordsUntilAcknowledged) {
  EXPECT_EQ(take({replica_of("a")}), Words{});
  EXPECT_EQ(gateway_.report(), (RequestReport{.gateway = "g", .table = 1, .records = {}}));
  EXPECT_EQ(arrive(infer_of()), Words{"send 1 a"});
  gateway_.close_seconds(kSecond + 1, at_ms(900));
  EXPECT_EQ(end(1, GatewayEnd::kAnswered, at_ms(10)), Words{});
  gateway_.close_seconds(kSecond + 2, at_ms(1'900));
  const std::vector<RequestRecord> records = gateway_.report().records;
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].second, kSecond);
  EXPECT_EQ(records[0].arrivals, 1);
  EXPECT_EQ(records[0].in_time, 0);
  EXPECT_EQ(records[1].second, kSecond);
  EXPECT_EQ(records[1].arrivals, 0);
  EXPECT_EQ(records[1].in_time, 1);
  EXPECT_EQ(records[1].latencies, (LatencyBuckets{{.bucket = latency_bucket_of(10'000), .count = 1}}));
  EXPECT_EQ(records[2].second, kSecond + 1);  // a second without requests is known, too
  EXPECT_EQ(records[2].number, 3U);
  gateway_.acknowledge(2);
  EXPECT_EQ(gateway_.report().records.size(), 1U);
  gateway_.acknowledge(3);
  EXPECT_TRUE(gateway_.report().records.empty());
}

TEST(GatewayShares, ATenantLeavesAsMuchFreeAsItHas) {
  Gateway gateway("g", {.request_count_max = 12});
  EndpointTable table{.number = 1, .services = {}};
  for (const char* tenant : {"a", "b", "c"}) {
    for (const char* service : {"x", "y"}) {
      table.services.push_back({.tenant = tenant,
                                .service = service,
                                .target = Micros::seconds(1),
                                .answer = Micros::seconds(1),
                                .replicas = {replica_of("s", 4)}});
    }
  }
  ASSERT_TRUE(gateway.take_table(table, at_ms(0)).empty());
  const auto arrive = [&](const char* tenant, const char* service) {
    const auto entry = gateway.arrive({.tenant = tenant, .service = service, .second = kSecond}, at_ms(0));
    return !std::holds_alternative<GatewayRefuse>(entry->orders.empty() ? GatewayOrder(GatewayCancel{})
                                                                        : entry->orders[0]);
  };
  int count = 0;
  for (int i = 0; i < 10; ++i) count += arrive("a", i % 2 == 0 ? "x" : "y") ? 1 : 0;
  EXPECT_EQ(count, 6) << "half of all, in both services";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(arrive("b", "x"));
  EXPECT_FALSE(arrive("b", "x")) << "three are free, and three are its own";
  EXPECT_TRUE(arrive("c", "x"));
  EXPECT_EQ(gateway.request_count(), 10U);
  // What ends is free again.
  (void)gateway.end(1, GatewayEnd::kAnswered, at_ms(1));
  (void)gateway.client_left(2, at_ms(1));
  (void)gateway.tick(at_ms(1'000));
  EXPECT_EQ(gateway.request_count(), 0U);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(arrive("b", "x"));
  EXPECT_FALSE(arrive("b", "x"));
}

}  // namespace
}  // namespace berth::serving
