// However services come and go: a scrape has at most so many series, nothing is lost, and nothing changes sides.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "surface/up_metrics/metric_table.h"
#include "surface/up_metrics/metrics_view.h"
#include "surface/up_metrics/up_families.h"

namespace berth::metrics {
namespace {

namespace t = sim::testing;

constexpr std::size_t kSeriesMax = 1'000;
constexpr int kTenants = 20;

ServiceSpec small_service(const live::ServiceName& name) {
  ServiceSpec service = t::service_of(name.name, {{.profile = "1g.10gb", .latency_ms = 10}},
                                      t::generated(Generator::Kind::kPoisson, Decimal(5), 30));
  service.tenant = name.tenant;
  service.arrivals.repeat = true;
  return service;
}

/// A sample by the name of its family and its labels.
using SampleKey = std::pair<std::string, std::vector<std::pair<std::string, std::string>>>;

class SeriesMax {
 public:
  explicit SeriesMax(std::uint32_t seed) : random_(seed) {
    live::SessionOptions options;
    options.policy = "fixed";
    options.listener.series = [this](const SeriesSpan& span) {
      book_.add(span);
      for (const ServiceFigures& each : span.services) requests_ += static_cast<double>(each.requests);
    };
    options.listener.usage = [this](const live::UsageInterval& usage) { book_.add(usage); };
    session_ = std::move(*live::Session::make(fleet_, std::move(options)));
    session_->begin();
    for (int i = 0; i < kTenants; ++i) {
      EXPECT_TRUE(session_->set_tenant("t" + std::to_string(i), {}, std::nullopt));
    }
    book_.begin(*session_);
  }

  void step() {
    for (int i = draw(6); i > 0; --i) change();
    const Instant until = session_->now() + Micros(draw(2'500'000));
    while (session_->advance(until)) {
    }
    check(families_.make(read_metrics_view(*session_, book_),
                         {.version = "1", .steps = empty_times(), .commits = empty_times(), .solves = empty_times()}));
  }

  /// Whether it came to what the property is about.
  [[nodiscard]] bool has_sum() const { return book_.rest() && book_.rest()->requests > 0 && requests_ > 1'000; }

 private:
  [[nodiscard]] int draw(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void change() {
    const live::ServiceName name{.tenant = "t" + std::to_string(draw(kTenants)), .name = "s" + std::to_string(draw(5))};
    if (draw(3) == 0) {
      static_cast<void>(session_->remove_service(name));
    } else {
      EXPECT_TRUE(session_->set_service(name, small_service(name), {}, std::nullopt));
    }
  }

  void check(const std::vector<MetricFamily>& families) {
    std::size_t series = 0;
    std::map<SampleKey, double> counters;
    double requests = 0;
    for (const MetricFamily& family : families) {
      std::set<std::vector<std::pair<std::string, std::string>>> labels;
      for (const MetricSample& sample : family.samples) {
        ASSERT_TRUE(labels.insert(sample.labels).second) << family.name;
        const auto* histogram = std::get_if<MetricHistogram>(&sample.value);
        series += histogram == nullptr ? 1 : histogram_series(histogram->bounds.size());
        if (family.kind != MetricKind::kCounter) continue;
        counters[{family.name, sample.labels}] = std::get<double>(sample.value);
        if (family.name == "berth_service_requests_total") requests += std::get<double>(sample.value);
      }
    }
    EXPECT_LE(series, kSeriesMax);
    EXPECT_EQ(requests, requests_);
    for (const auto& [key, before] : counters_) {
      const auto now = counters.find(key);
      ASSERT_TRUE(now != counters.end() || key.first == "berth_service_batches_total") << key.first << " is gone";
      if (now != counters.end()) {
        EXPECT_GE(now->second, before) << key.first;
      }
    }
    check_sides(counters);
    counters_ = std::move(counters);
  }

  /// A service that exists and has no sample now must never get one.
  void check_sides(const std::map<SampleKey, double>& counters) {
    for (const auto& [name, service] : session_->catalog().services) {
      const bool is_listed =
          counters.contains({"berth_service_requests_total", {{"tenant", name.tenant}, {"service", name.name}}});
      const auto [side, is_new] = sides_.emplace(name, is_listed);
      EXPECT_EQ(side->second, is_listed) << name.tenant << "/" << name.name;
    }
  }

  std::mt19937 random_;
  Scenario fleet_ = t::scenario_of({}, {}, 3);
  SeriesShares shares_ = SeriesShares::of(kSeriesMax, fleet_);
  MetricsBook book_{fleet_, SeriesBudget(shares_.services)};
  UpFamilies families_{fleet_, true, shares_.fleet};
  std::unique_ptr<live::Session> session_;
  double requests_ = 0;
  std::map<SampleKey, double> counters_;
  std::map<live::ServiceName, bool> sides_;
};

TEST(SeriesMaxProperty, BoundsTheSeriesAndLosesNothing) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    SeriesMax world(seed);
    for (int i = 0; i < 40; ++i) {
      world.step();
      if (::testing::Test::HasFatalFailure()) return;
    }
    EXPECT_TRUE(world.has_sum());
  }
}

}  // namespace
}  // namespace berth::metrics
