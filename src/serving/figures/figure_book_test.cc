#include "serving/figures/figure_book.h"

#include <gtest/gtest.h>

#include <numeric>

namespace berth::serving {
namespace {

constexpr std::int64_t kBookEpoch = 1'800'000'000;  // seconds since 1970, a whole minute
const ModelIndex kFirstModel(0);
const ModelIndex kSecondModel(1);
const TenantIndex kAcme(0);
const TenantIndex kBeta(1);

Instant at_ms(std::int64_t ms) { return Instant(ms * 1000); }

class FigureBookTest : public ::testing::Test {
 protected:
  FigureBookTest() {
    book_.learn_wall_time(Instant(), Micros::seconds(kBookEpoch));
    book_.keep_ended(Instant());
    book_.add_model(kFirstModel, "m", "1", Instant());
    book_.add_model(kSecondModel, "other", "3", Instant());
  }

  Request arrive(ModelIndex model, Instant now, TenantIndex tenant = kAcme, RowCount rows = 1) {
    const Request request{
        .number = number_++, .model = model, .tenant = tenant, .arrival = now, .target = Micros(100'000), .rows = rows};
    book_.arrive(model, tenant, now);
    return request;
  }
  void run(const std::vector<Request>& requests, Instant start, Instant end, bool is_answered = true) {
    const LaneIndex lane(0);
    const ModelIndex model = requests.front().model;
    book_.start_batch(lane, model, requests, start);
    RunningBatch batch{.model = model, .requests = requests, .rows = 0, .start = start, .end = end};
    for (const Request& each : requests) batch.rows += each.rows;
    book_.end_batch(lane, batch, std::vector<bool>(requests.size(), is_answered), end - start, end);
  }
  std::vector<FigurePoint> series(const AskedFigures& asked, Instant now) { return book_.series(asked, now).value(); }

  FigureBook book_{{"acme", "beta"}, 2};
  std::int64_t number_ = 0;
};

TEST_F(FigureBookTest, EachRequestCountsWhenItArrivesAndWhenItEnds) {
  const Request in_time = arrive(kFirstModel, at_ms(900));
  const Request late = arrive(kFirstModel, at_ms(910), kAcme, 3);
  const Request expired = arrive(kFirstModel, at_ms(920));
  run({in_time}, at_ms(950), at_ms(990));
  book_.end_waiting(expired, RequestOutcome::kExpired, at_ms(1'100));
  run({late}, at_ms(1'200), at_ms(1'300));
  book_.arrive_and_end(kFirstModel, kAcme, RequestOutcome::kFailed, at_ms(1'400));
  book_.end_waiting(arrive(kFirstModel, at_ms(1'500)), RequestOutcome::kRejected, at_ms(1'500));
  book_.end_waiting(arrive(kFirstModel, at_ms(1'600)), RequestOutcome::kCancelled, at_ms(1'700));
  run({arrive(kFirstModel, at_ms(1'800))}, at_ms(1'800), at_ms(1'810), false);

  const auto points = series({.model = "m", .step = 1}, at_ms(2'500));
  ASSERT_EQ(points.size(), 3U);
  const RequestFigures& first = points[0].figures;
  EXPECT_EQ(points[0].from, kBookEpoch);
  EXPECT_EQ(first.requests, 3);
  EXPECT_EQ(first.in_time, 1);
  EXPECT_EQ(first.queue_max, 2);
  EXPECT_EQ(first.batches, 1);
  const RequestFigures& second = points[1].figures;
  EXPECT_EQ(second.requests, 4);
  EXPECT_EQ(second.late, 1);
  EXPECT_EQ(second.dropped(), 5);
  EXPECT_EQ(second.rejected, 1);
  EXPECT_EQ(second.expired, 1);
  EXPECT_EQ(second.failed, 2);
  EXPECT_EQ(second.cancelled, 1);
  EXPECT_EQ(second.rows, 3);
  EXPECT_EQ(second.queue_max, 0);
  EXPECT_NEAR(*percentile_us(second.latencies, 50), 390'000, 1'600);
  EXPECT_EQ(points[2].figures, RequestFigures());
}

TEST_F(FigureBookTest, AStepSumsSecondsAndAllModels) {
  for (std::int64_t second = 0; second < 90; ++second) {
    const auto now = at_ms(second * 1'000 + 100);
    run({arrive(kFirstModel, now)}, now, now + Micros(10));
    if (second % 2 == 0) run({arrive(kSecondModel, now + Micros(20))}, now + Micros(20), now + Micros(30));
  }
  const auto all = series({}, at_ms(90'000));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].seconds, 60);
  EXPECT_EQ(all[0].figures.requests, 90);
  EXPECT_EQ(all[1].seconds, 31);
  EXPECT_EQ(all[1].figures.in_time, 45);
  EXPECT_TRUE(all[1].figures.latencies.empty());

  const auto some =
      series({.model = "other", .from = kBookEpoch + 15, .to = kBookEpoch + 31, .step = 10}, at_ms(90'000));
  ASSERT_EQ(some.size(), 3U);
  EXPECT_EQ(some[0].from, kBookEpoch + 10);
  EXPECT_EQ(some[2].to, kBookEpoch + 40);
  EXPECT_EQ(some[0].figures.requests, 5);
  EXPECT_EQ(series({.model = "m", .step = 1, .count_max = 7}, at_ms(90'000)).size(), 7U);
  EXPECT_EQ(book_.series({.model = "none"}, at_ms(90'000)).error().fault, ServeFault::kUnknown);
  EXPECT_TRUE(series({.from = kBookEpoch + 200}, at_ms(90'000)).empty());
  EXPECT_TRUE(series({.to = 5}, at_ms(90'000)).empty());
}

TEST_F(FigureBookTest, TheNewestHourIsKept) {
  run({arrive(kFirstModel, at_ms(500))}, at_ms(500), at_ms(600));
  for (std::int64_t second = 1; second <= 4'000; ++second) {
    run({arrive(kFirstModel, at_ms(second * 1'000))}, at_ms(second * 1'000), at_ms(second * 1'000 + 1));
  }
  for (const auto& model : {std::optional<std::string>(), std::optional<std::string>("m")}) {
    std::int64_t requests = 0;
    std::int64_t seconds = 0;
    for (const FigurePoint& point : series({.model = model}, at_ms(4'000'500))) {
      requests += point.figures.requests;
      seconds += point.seconds;
    }
    EXPECT_EQ(requests, 3'600);
    EXPECT_EQ(seconds, 3'600);
  }
}

TEST_F(FigureBookTest, AModelHasSecondsWhileItIsThere) {
  book_.add_model(ModelIndex(2), "new", "1", at_ms(10'000));
  book_.remove_model(ModelIndex(2), at_ms(20'000));
  book_.add_model(ModelIndex(3), "new", "2", at_ms(15'000));
  book_.remove_model(ModelIndex(3), at_ms(29'000));
  const auto points = series({.model = "new"}, at_ms(59'000));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].seconds, 20);
}

TEST_F(FigureBookTest, EndedSecondsAreGivenOnce) {
  const Request waiting = arrive(kSecondModel, at_ms(300));
  EXPECT_TRUE(book_.take_ended(at_ms(999), false).seconds.empty());
  const auto first = book_.take_ended(at_ms(2'000), false).seconds;
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].second, kBookEpoch);
  EXPECT_EQ(first[0].model, "other");
  EXPECT_EQ(first[0].version, "3");
  EXPECT_EQ(first[0].figures.requests, 1);
  EXPECT_EQ(first[1].figures.requests, 0);
  EXPECT_EQ(first[1].figures.queue_max, 1);
  run({waiting}, at_ms(2'000), at_ms(2'100));
  const auto last = book_.take_ended(at_ms(2'200), true).seconds;
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].figures.late, 1);
}

TEST_F(FigureBookTest, AClockThatIsSetBackLeavesNoSecondTwice) {
  run({arrive(kFirstModel, at_ms(10'000))}, at_ms(10'000), at_ms(10'010));
  book_.learn_wall_time(at_ms(10'500), Micros::seconds(kBookEpoch));
  run({arrive(kFirstModel, at_ms(12'000))}, at_ms(12'000), at_ms(12'010));
  book_.learn_wall_time(at_ms(13'000), Micros::seconds(kBookEpoch + 1'000));
  run({arrive(kFirstModel, at_ms(13'500))}, at_ms(13'500), at_ms(13'510));
  std::vector<std::int64_t> seconds;
  for (const ModelSecond& each : book_.take_ended(at_ms(15'000), false).seconds)
    seconds.push_back(each.second - kBookEpoch);
  EXPECT_EQ(seconds, (std::vector<std::int64_t>{10, 12, 1'000}));
}

TEST_F(FigureBookTest, UsageIsByTenantAndModel) {
  const Request old = arrive(kFirstModel, at_ms(0), kBeta, 1);
  const Request young = arrive(kFirstModel, at_ms(0), kAcme, 2);
  run({young, old}, at_ms(900), at_ms(1'100) + Micros(1));
  book_.end_at_backend("chat", kBeta, {.latency = Micros(5), .prompt_tokens = 7}, at_ms(1'200));
  book_.end_at_backend("chat", kBeta, {.outcome = RequestOutcome::kFailed}, at_ms(1'200));
  EXPECT_EQ(book_.usage(),
            (std::vector<UsageItem>{{.tenant = "acme", .model = "m", .requests = 1, .device_us = 133'334},
                                    {.tenant = "beta", .model = "chat", .requests = 2, .prompt_tokens = 7},
                                    {.tenant = "beta", .model = "m", .requests = 1, .device_us = 66'667}}));
  const auto spans = book_.take_ended(at_ms(1'500), true).spans;
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].from_us, kBookEpoch * 1'000'000);
  EXPECT_EQ(spans[0].to_us, (kBookEpoch + 1) * 1'000'000);
  EXPECT_EQ(spans[0].used.at({"acme", "m"}), Micros(66'666));
  EXPECT_EQ(spans[0].used.at({"beta", "m"}), Micros(33'334));
  EXPECT_EQ(spans[1].to_us, kBookEpoch * 1'000'000 + 1'500'000);
  EXPECT_EQ(spans[1].used.at({"acme", "m"}), Micros(66'668));
}

TEST_F(FigureBookTest, ModelsOfBackendsHaveNoBatches) {
  book_.add_backend_model("chat", at_ms(0));
  book_.end_at_backend("chat", kAcme, {.latency = Micros(2'000)}, at_ms(100));
  const auto points = series({.model = "chat"}, at_ms(200));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_FALSE(points[0].has_batches);
  EXPECT_EQ(points[0].figures.in_time, 1);
  EXPECT_TRUE(series({}, at_ms(200))[0].has_batches);
  EXPECT_EQ(book_.backend_counters().front().totals.requests, 1);
}

}  // namespace
}  // namespace berth::serving
