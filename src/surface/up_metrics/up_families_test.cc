// A scrape of a session, compared with what the session reported.
#include "surface/up_metrics/up_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "surface/up_metrics/metrics_view.h"

namespace berth::metrics {
namespace {

namespace t = sim::testing;
using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr double kPrice = 2;

ServiceSpec loaded_service(const std::string& name, std::int64_t per_second) {
  ServiceSpec service = t::service_of(name, {{.profile = "3g.40gb", .latency_ms = 10}},
                                      t::generated(Generator::Kind::kPoisson, Decimal(per_second), 60));
  service.tenant = "default";
  service.arrivals.repeat = true;
  return service;
}

/// Two GPUs, one of them free; two services, of which one has more than it can answer.
Scenario half_used() {
  Scenario scenario = t::scenario_of(
      {loaded_service("a", 50), loaded_service("b", 120)},
      {t::holding_of(t::slice_at(0, "3g.40gb", 0), {0}), t::holding_of(t::slice_at(0, "3g.40gb", 4), {1})}, 2);
  scenario.fleet.front().usd_per_gpu_hour = Decimal(2);
  scenario.services[0].agreed.attainment = Decimal(9, 10);
  return scenario;
}

class Scrapes : public ::testing::Test {
 protected:
  explicit Scrapes(std::size_t series_max = 10'000)
      : fleet_(half_used()),
        shares_(SeriesShares::of(series_max, fleet_)),
        book_(fleet_, SeriesBudget(shares_.services)),
        families_(fleet_, true, shares_.fleet) {
    live::SessionOptions options;
    options.policy = "fixed";
    options.listener.series = [this](const SeriesSpan& span) {
      book_.add(span);
      seconds_.push_back(span);
    };
    options.listener.usage = [this](const live::UsageInterval& usage) { book_.add(usage); };
    session_ = std::move(*live::Session::make(half_used(), std::move(options)));
    session_->begin();
    book_.begin(*session_);
  }

  void run_to(std::int64_t second) {
    while (session_->advance(Instant::at_second(second))) {
    }
  }
  void scrape() {
    ProcessFigures process{.version = "1",
                           .steps = empty_times(),
                           .commits = empty_times(),
                           .solves = empty_times(),
                           .http = {},
                           .otlp = {}};
    scraped_ = families_.make(read_metrics_view(*session_, book_), process);
  }
  [[nodiscard]] const MetricFamily& family(Metric metric) const { return scraped_[static_cast<std::size_t>(metric)]; }
  /// Absent: there is no such sample.
  [[nodiscard]] std::optional<double> number(Metric metric, const Labels& labels = {}) const {
    for (const MetricSample& sample : family(metric).samples) {
      if (sample.labels == labels) return std::get<double>(sample.value);
    }
    return std::nullopt;
  }
  [[nodiscard]] double sum(Metric metric) const {
    double total = 0;
    for (const MetricSample& sample : family(metric).samples) total += std::get<double>(sample.value);
    return total;
  }
  /// What was reported of all services.
  [[nodiscard]] ServiceFigures reported() const {
    ServiceFigures total;
    for (const SeriesSpan& span : seconds_) {
      for (const ServiceFigures& each : span.services) add_figures(total, each);
    }
    return total;
  }

  Scenario fleet_;
  SeriesShares shares_;
  MetricsBook book_;
  UpFamilies families_;
  std::vector<SeriesSpan> seconds_;
  std::unique_ptr<live::Session> session_;
  std::vector<MetricFamily> scraped_;
};

TEST_F(Scrapes, CountWhatTheSessionReports) {
  run_to(20);
  scrape();
  const auto second = static_cast<std::int64_t>(*number(Metric::kWorldSecond));
  EXPECT_GE(second, 19);
  const ServiceFigures reported = this->reported();
  EXPECT_EQ(sum(Metric::kServiceRequests), static_cast<double>(reported.requests));
  EXPECT_EQ(
      number(Metric::kServiceAnswers, {{"tenant", "default"}, {"service", "b"}, {"outcome", "dropped"}}).value_or(0) +
          number(Metric::kServiceAnswers, {{"tenant", "default"}, {"service", "a"}, {"outcome", "dropped"}})
              .value_or(0),
      static_cast<double>(reported.dropped));
  EXPECT_EQ(sum(Metric::kServiceAnswers), static_cast<double>(reported.in_time + reported.late + reported.dropped));
  EXPECT_NEAR(sum(Metric::kServiceAccuracy), static_cast<double>(reported.accuracy_sum_micro) / 1e6, 1e-6);
  EXPECT_GT(sum(Metric::kServiceBatches), 0);
  EXPECT_EQ(sum(Metric::kServiceBatches), static_cast<double>(reported.batches.value_or(0)));
  std::uint64_t answers = 0;
  for (const MetricSample& sample : family(Metric::kServiceLatency).samples) {
    for (const std::uint64_t count : std::get<MetricHistogram>(sample.value).counts) answers += count;
  }
  EXPECT_EQ(answers, static_cast<std::uint64_t>(reported.in_time + reported.late));
}

TEST_F(Scrapes, CoverTheSecondsBeforeTheWorlds) {
  for (const std::int64_t second : {7, 12}) {
    run_to(second);
    scrape();
    const double covered = *number(Metric::kWorldSecond);
    EXPECT_NEAR(sum(Metric::kGpuSeconds), 2 * covered, 1e-6);
    EXPECT_EQ(number(Metric::kGpuSeconds, {{"state", "held"}}), covered);  // both slices are half a GPU
    EXPECT_NEAR(*number(Metric::kSmSeconds, {{"stage", "available"}}), 2 * 108 * covered, 1e-6);
  }
}

TEST_F(Scrapes, DivideTheCostAsALedgerDoes) {
  run_to(3);
  scrape();
  EXPECT_NEAR(sum(Metric::kCost), 2 * kPrice, 1e-9);
  EXPECT_NEAR(*number(Metric::kCost, {{"tenant", "default"}, {"role", "inference"}}), kPrice, 1e-9);
  EXPECT_NEAR(*number(Metric::kCost, {{"tenant", ""}, {"role", "idle"}}), kPrice, 1e-9);
}

TEST_F(Scrapes, ShowCapacityObjectiveAndQueue) {
  run_to(10);
  scrape();
  const Labels a = {{"tenant", "default"}, {"service", "a"}};
  const Labels b = {{"tenant", "default"}, {"service", "b"}};
  EXPECT_EQ(number(Metric::kServiceCapacity, a), 100.0);
  EXPECT_EQ(number(Metric::kServiceObjective, a), 0.9);
  EXPECT_EQ(number(Metric::kServiceObjective, b), std::nullopt);
  EXPECT_GT(*number(Metric::kServiceQueue, b), 0);
  EXPECT_EQ(number(Metric::kServiceQueue, b), static_cast<double>(seconds_.back().services.back().queued_max));
  EXPECT_TRUE(family(Metric::kServiceWaiting).samples.empty());
  EXPECT_TRUE(family(Metric::kServiceSpeedFactor).samples.empty());
}

TEST_F(Scrapes, ShowLostGpusAndWhatWaits) {
  run_to(5);
  session_->lose_gpu({0}, "test");
  run_to(7);
  scrape();
  const std::string model = fleet_.fleet.front().model.name;
  EXPECT_EQ(number(Metric::kGpus, {{"model", model}, {"health", "lost"}, {"scheduling", "open"}}), 1.0);
  EXPECT_EQ(number(Metric::kGpus, {{"model", model}, {"health", "ok"}, {"scheduling", "open"}}), 1.0);
  EXPECT_EQ(number(Metric::kSlices, {{"model", model}, {"profile", "3g.40gb"}, {"state", "lost"}}), 2.0);
  EXPECT_EQ(family(Metric::kServiceWaiting).samples.size(), 2U);
  EXPECT_EQ(number(Metric::kServiceCapacity, {{"tenant", "default"}, {"service", "a"}}), 0.0);
  EXPECT_EQ(number(Metric::kCost, {{"tenant", ""}, {"role", "stranded"}}), kPrice);
  EXPECT_GT(*number(Metric::kGpuSeconds, {{"state", "lost"}}), 1);
}

TEST_F(Scrapes, HaveNoAgeOfPlansThatAreNeverMade) {
  run_to(3);
  scrape();
  EXPECT_EQ(number(Metric::kPlanAge), std::nullopt);
  EXPECT_EQ(number(Metric::kPlans, {{"phase", "done"}}), 1.0);  // the first layout
  EXPECT_EQ(number(Metric::kPlanActions, {{"kind", "create"}, {"outcome", "failed"}}), 0.0);
  EXPECT_EQ(number(Metric::kPlanningPaused, {{"reason", "operator"}}), 0.0);
  ASSERT_TRUE(session_->pause("a person"));
  scrape();
  EXPECT_EQ(number(Metric::kPlanningPaused, {{"reason", "operator"}}), 1.0);
  EXPECT_EQ(number(Metric::kPlanningPaused, {{"reason", "promises_failed"}}), 0.0);
}

TEST_F(Scrapes, KeepTheCountersOfWhatIsGone) {
  run_to(5);
  scrape();
  const Labels a = {{"tenant", "default"}, {"service", "a"}};
  const double before = *number(Metric::kServiceRequests, a);
  ASSERT_TRUE(session_->remove_service({.tenant = "default", .name = "a"}));
  run_to(9);
  scrape();
  EXPECT_GE(*number(Metric::kServiceRequests, a), before);
  EXPECT_EQ(number(Metric::kServiceCapacity, a), std::nullopt);
  EXPECT_EQ(number(Metric::kServiceQueue, a), std::nullopt);
}

}  // namespace
}  // namespace berth::metrics
