// A scrape of a large world, part by part: what is read under the session's lock, and the families made of it.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "surface/up_metrics/metrics_view.h"
#include "surface/up_metrics/up_families.h"

namespace berth::metrics {
namespace {

namespace t = sim::testing;

constexpr int kGpus = 10'000;
constexpr int kServices = 1'000;
constexpr int kSlicesOfGpu = 7;

/// Each service holds all slices of ten GPUs, and is served by rates.
Scenario large_world() {
  std::vector<ServiceSpec> services;
  for (int i = 0; i < kServices; ++i) {
    services.push_back(t::service_of("s" + std::to_string(i), {{.profile = "1g.10gb", .latency_ms = 25}},
                                     t::generated(Generator::Kind::kPoisson, Decimal(300), 600)));
    services.back().tenant = "t" + std::to_string(i % 50);
    services.back().arrivals.repeat = true;
  }
  std::vector<Holding> layout;
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    const ServiceId holder{static_cast<std::uint32_t>(gpu / (kGpus / kServices))};
    for (int start = 0; start < kSlicesOfGpu; ++start) {
      layout.push_back({.slice = t::slice_at(static_cast<std::uint32_t>(gpu), "1g.10gb", start), .services = {holder}});
    }
  }
  Scenario scenario = t::scenario_of(std::move(services), std::move(layout), kGpus);
  scenario.fleet.front().usd_per_gpu_hour = Decimal(3);
  scenario.fidelity = Fidelity::kRates;
  return scenario;
}

/// A session that ran for some seconds.
class LargeWorld {
 public:
  LargeWorld() {
    live::SessionOptions options;
    options.policy = "fixed";
    options.listener.series = [this](const SeriesSpan& span) { book_.add(span); };
    session_ = std::move(*live::Session::make(fleet_, std::move(options)));
    session_->begin();
    book_.begin(*session_);
    while (session_->advance(Instant::at_second(3))) {
    }
  }
  [[nodiscard]] MetricsView read() { return read_metrics_view(*session_, book_); }
  [[nodiscard]] std::vector<MetricFamily> make(const MetricsView& view) {
    return families_.make(view,
                          {.version = "1", .steps = empty_times(), .commits = empty_times(), .solves = empty_times()});
  }

 private:
  Scenario fleet_ = large_world();
  SeriesShares shares_ = SeriesShares::of(10'000, fleet_);
  MetricsBook book_{fleet_, SeriesBudget(shares_.services)};
  UpFamilies families_{fleet_, true, shares_.fleet};
  std::unique_ptr<live::Session> session_;
};

LargeWorld& world() {
  static LargeWorld large;
  return large;
}

void read_under_the_lock(benchmark::State& state) {
  LargeWorld& large = world();
  for (auto _ : state) benchmark::DoNotOptimize(large.read());
}
BENCHMARK(read_under_the_lock)->Unit(benchmark::kMillisecond);

void make_families(benchmark::State& state) {
  LargeWorld& large = world();
  const MetricsView view = large.read();
  for (auto _ : state) benchmark::DoNotOptimize(large.make(view));
}
BENCHMARK(make_families)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::metrics
