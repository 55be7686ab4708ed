// Serving by rates beside serving request by request: goodput within 2 % over loads, drops, batches, sharing and
// retraining.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "sim/detail/test_world.h"

namespace berth::sim {
namespace {

using testing::a100;
using testing::counted;
using testing::generated;
using testing::holding_of;
using testing::Row;
using testing::run_fixed;
using testing::scenario_of;
using testing::service_of;
using testing::slice_at;

/// A replica set that one service has alone on one GPU.
struct Setting {
  std::string name;
  std::vector<Row> rows;
  std::vector<std::pair<std::string, int>> slices;
  std::int64_t target_ms = 100;
};

/// Those on which the model was made.
std::vector<Setting> tuned_settings() {
  return {
      {"one at a time", {{.batch = 1, .processes = 1, .latency_ms = 10}}, {{"1g.10gb", 0}}, 50},
      {"one at a time, tight", {{.batch = 1, .processes = 1, .latency_ms = 10}}, {{"1g.10gb", 0}}, 23},
      {"two processes",
       {{.batch = 1, .processes = 2, .latency_ms = 8},
        {.batch = 4, .processes = 2, .latency_ms = 14},
        {.batch = 16, .processes = 2, .latency_ms = 40}},
       {{"1g.10gb", 0}},
       100},
      {"flat latency", {{.batch = 8, .processes = 1, .latency_ms = 20}}, {{"1g.10gb", 0}}, 50},
      {"three slices",
       {{.batch = 1, .processes = 3, .latency_ms = 6},
        {.batch = 8, .processes = 3, .latency_ms = 20},
        {.batch = 32, .processes = 3, .latency_ms = 60}},
       {{"1g.10gb", 0}, {"1g.10gb", 1}, {"1g.10gb", 2}},
       200},
      {"large and small",
       {{.profile = "1g.10gb", .batch = 4, .processes = 1, .latency_ms = 30},
        {.profile = "3g.40gb", .batch = 1, .processes = 3, .latency_ms = 6},
        {.profile = "3g.40gb", .batch = 16, .processes = 3, .latency_ms = 35}},
       {{"1g.10gb", 0}, {"3g.40gb", 4}},
       90},
  };
}

/// Those that it never saw while it was made.
std::vector<Setting> held_out_settings() {
  return {
      {"held out: 17 ms", {{.batch = 1, .processes = 1, .latency_ms = 17}}, {{"1g.10gb", 0}}, 60},
      {"held out: two servers", {{.batch = 1, .processes = 2, .latency_ms = 25}}, {{"1g.10gb", 0}}, 80},
      {"held out: steep",
       {{.batch = 1, .processes = 1, .latency_ms = 5},
        {.batch = 2, .processes = 1, .latency_ms = 8},
        {.batch = 32, .processes = 1, .latency_ms = 90}},
       {{"2g.20gb", 0}},
       250},
      {"held out: mixed",
       {{.profile = "1g.10gb", .batch = 8, .processes = 2, .latency_ms = 40},
        {.profile = "2g.20gb", .batch = 1, .processes = 2, .latency_ms = 7},
        {.profile = "2g.20gb", .batch = 8, .processes = 2, .latency_ms = 22},
        {.profile = "4g.40gb", .batch = 1, .processes = 1, .latency_ms = 4},
        {.profile = "4g.40gb", .batch = 64, .processes = 1, .latency_ms = 45}},
       {{"4g.40gb", 0}, {"2g.20gb", 4}, {"1g.10gb", 6}},
       120},
      {"held out: many",
       {{.batch = 2, .processes = 3, .latency_ms = 11}},
       {{"1g.10gb", 0}, {"1g.10gb", 1}, {"1g.10gb", 2}, {"1g.10gb", 3}, {"1g.10gb", 4}},
       40},
  };
}

double capacity_of(const Setting& setting) {
  double sum = 0;
  for (const auto& [profile, start] : setting.slices) {
    double most = 0;
    for (const Row& row : setting.rows) {
      if (row.profile != profile && !(setting.rows.front().profile == "1g.10gb" && setting.slices.size() == 1))
        continue;
      most = std::max(most, 1000.0 * row.batch * row.processes / static_cast<double>(row.latency_ms));
    }
    sum += most;
  }
  return sum;
}

Scenario scenario_at(Setting setting, double load, DropRule drop, Generator::Kind kind) {
  if (setting.slices.size() == 1) {
    for (Row& row : setting.rows) row.profile = setting.slices.front().first;
  }
  const Decimal rate(std::llround(load * capacity_of(setting) * 1000), 1000);
  auto service = service_of("s", setting.rows, generated(kind, rate, 300));
  service.drop = drop;
  testing::set_target_ms(service, setting.target_ms);
  std::vector<Holding> layout;
  for (const auto& [profile, start] : setting.slices) layout.push_back(holding_of(slice_at(0, profile, start), {0}));
  std::sort(layout.begin(), layout.end(), [](const Holding& a, const Holding& b) { return a.slice < b.slice; });
  return scenario_of({service}, layout);
}

/// Goodput request by request and by rates.
struct Pair {
  double exact = 0;
  double rates = 0;
  /// The difference, relative where the goodput is above one half.
  [[nodiscard]] double difference() const { return std::abs(rates - exact) / (exact > 0.5 ? exact : 1.0); }
};

Pair compare(Scenario scenario, const WorldOptions& world = {}) {
  Pair pair;
  pair.exact = run_fixed(scenario, 1, world).result.figures.goodput.value_or(0);
  scenario.fidelity = Fidelity::kRates;
  pair.rates = run_fixed(scenario, 1, world).result.figures.goodput.value_or(0);
  return pair;
}

void expect_close(const Scenario& scenario, const std::string& name, const WorldOptions& world = {}) {
  const Pair pair = compare(scenario, world);
  if (std::getenv("BERTH_TABLE") != nullptr) {
    std::printf("%s %-60s %.4f %.4f %+.4f\n", pair.difference() > 0.02 ? "!" : " ", name.c_str(), pair.exact,
                pair.rates, pair.rates - pair.exact);
  }
  EXPECT_LE(pair.difference(), 0.02) << name << ": " << pair.exact << " request by request, " << pair.rates
                                     << " by rates";
}

void expect_close_at_all_loads(const std::vector<Setting>& settings) {
  const std::vector<std::pair<Generator::Kind, std::string>> kinds = {{Generator::Kind::kPoisson, "poisson"},
                                                                      {Generator::Kind::kBursty, "bursty"},
                                                                      {Generator::Kind::kConstant, "constant"}};
  for (const Setting& setting : settings) {
    for (const auto& [kind, kind_name] : kinds) {
      for (const DropRule drop : {DropRule::kEarly, DropRule::kNever}) {
        for (const double load : {0.5, 0.7, 0.85, 0.95, 1.0, 1.05, 1.15, 1.3}) {
          expect_close(scenario_at(setting, load, drop, kind),
                       setting.name + ", " + kind_name + (drop == DropRule::kEarly ? ", early, " : ", never, ") +
                           std::to_string(load).substr(0, 4));
        }
      }
    }
  }
}

TEST(RateServing, AgreesOnWhatItWasMadeOn) { expect_close_at_all_loads(tuned_settings()); }
TEST(RateServing, AgreesOnWhatItNeverSaw) { expect_close_at_all_loads(held_out_settings()); }

}  // namespace
}  // namespace berth::sim
