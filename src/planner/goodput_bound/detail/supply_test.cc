#include "planner/goodput_bound/detail/supply.h"

#include <gtest/gtest.h>

#include <string>

#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"
#include "domain/profile/operating_point.h"
#include "planner/goodput_bound/testing/cases.h"

namespace berth::bound::detail {
namespace {

using testing::drawn;
using testing::happens;

/// Tolerance of rates: latencies that end in half a microsecond are rounded down here and up in the simulator.
constexpr double kRounding = 2e-3;

PerformanceTable draw_table(Rng& rng, const GpuModel& model) {
  PerformanceTable table{.model = "m", .points = {}};
  std::vector<std::string> profiles;
  for (const MigProfile& profile : model.profiles) {
    if (happens(rng, profile.is_plain() ? 75 : 15)) profiles.push_back(profile.name);
  }
  if (happens(rng, 50)) profiles.emplace_back(kFullProfileName);
  for (const std::string& profile : profiles) {
    for (int processes = 1; processes <= drawn(rng, 1, 4); ++processes) {
      int batch = 0;
      std::int64_t latency_us = drawn(rng, 2'000, 50'000);
      for (int row = 0; row < drawn(rng, 1, 4); ++row) {
        batch += static_cast<int>(drawn(rng, 1, 6));
        // Half microseconds, and batches that are slower than larger ones, occur.
        latency_us = std::max<std::int64_t>(1'000, latency_us + drawn(rng, -2'000, 40'000));
        table.points.push_back({.gpu = model.name,
                                .profile = profile,
                                .batch = batch,
                                .processes = processes,
                                .requests_per_second = Decimal(1),
                                .latency_ms = Decimal(latency_us * 2 + drawn(rng, 0, 2), 2'000)});
      }
    }
  }
  return table;
}

Scenario draw_scenario(std::uint64_t seed) {
  Rng rng(seed);
  const char* name = std::vector<const char*>{"A30-24GB", "A100-80GB", "L4-24GB"}[rng.below(3)];
  const GpuModel model = *mig::find_gpu_model(name);
  Scenario scenario;
  scenario.fleet = {{.model = model, .count = 2, .usd_per_gpu_hour = std::nullopt}};
  scenario.interference = {Decimal(drawn(rng, 10, 13), 10), Decimal(drawn(rng, 9, 16), 10)};
  for (int i = 0; i < drawn(rng, 1, 4); ++i) {
    ServiceSpec service;
    service.name = service.tenant = "s" + std::to_string(i);
    service.target = Micros(drawn(rng, 10'000, 120'000));
    service.target_ms = Decimal(service.target.count(), 1000);
    service.arrivals.seconds = 2;
    service.table = draw_table(rng, model);
    if (happens(rng, 30)) service.variants.push_back({.name = "v", .table = draw_table(rng, model), .accuracy = {}});
    if (happens(rng, 50)) {
      service.retraining.emplace();
      for (const int size : {0, 1, 2, 3, 4, 7}) {
        if (happens(rng, 60)) service.retraining->time_on[size] = Micros(drawn(rng, 1, 100) * 100'000);
      }
    }
    scenario.services.push_back(std::move(service));
  }
  return scenario;
}

/// Every point of a service on a profile, with its latencies by batch size at a factor.
struct PointTimes {
  int processes = 1;
  std::vector<std::int64_t> latency_us;
};

std::vector<PointTimes> points_of(const ServiceSpec& service, const GpuModel& model, ProfileId profile, int variant,
                                  const Decimal& factor) {
  const PerformanceTable& table =
      variant == 0 ? service.table : service.variants[static_cast<std::size_t>(variant) - 1].table;
  std::vector<PointTimes> points;
  for (const PerformancePoint& row : profile::points_on(table, model, profile)) {
    const auto point = profile::point_for(
        service, model, profile, PointChoice{.variant = variant, .batch = row.batch, .processes = row.processes});
    points.push_back({.processes = row.processes, .latency_us = profile::latencies_us(*point, factor)});
  }
  return points;
}

/// Answers in time per second of the best point and batch size, one batch after the other; at most `crowd(window)`
/// requests of a batch arrived late enough to be answered in time.
template <class Crowd>
double most_answers_at_points(const std::vector<PointTimes>& points, std::int64_t target_us, const Crowd& crowd) {
  double most = 0;
  for (const PointTimes& point : points) {
    for (std::size_t n = 1; n <= point.latency_us.size(); ++n) {
      const std::int64_t latency_us = point.latency_us[n - 1];
      if (latency_us > target_us) continue;
      const double answers = std::min(static_cast<double>(n), crowd(target_us - latency_us));
      most = std::max(most, point.processes * answers / static_cast<double>(latency_us) * 1e6);
    }
  }
  return most;
}

double without_limit(std::int64_t) { return 1e9; }

/// The amount of a good that a slice of a profile makes per second, from the simulator's latencies.
double rate_of(const Scenario& scenario, const Good& good, ProfileId profile) {
  const ServiceSpec& service = scenario.services[good.service];
  const GpuModel& model = scenario.fleet[0].model;
  if (good.is_retraining()) {
    const auto time = retraining_time_on(*service.retraining, model, profile);
    return time ? 1 / time->to_seconds() : 0;
  }
  const Decimal factor = *std::ranges::min_element(scenario.interference);
  return most_answers_at_points(points_of(service, model, profile, good.variant, factor), service.target.count(),
                                without_limit);
}

/// The good of a slice that is worth most.
double worth_of(const Scenario& scenario, const Supply& supply, ProfileId profile, const std::vector<double>& prices) {
  double worth = 0;
  for (std::size_t i = 0; i < supply.goods.size(); ++i) {
    worth = std::max(worth, prices[i] * rate_of(scenario, supply.goods[i], profile));
  }
  return worth;
}

/// The most that one GPU earns per second: over every legal set of instances, and the whole GPU.
double best_of_all_states(const Scenario& scenario, const Supply& supply, const std::vector<double>& prices) {
  const GpuModel& model = scenario.fleet[0].model;
  double best = worth_of(scenario, supply, ProfileId::full(), prices);
  std::vector<double> worths;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    worths.push_back(worth_of(scenario, supply, {static_cast<std::uint16_t>(i)}, prices));
  }
  mig::for_each_state(model, mig::all_rules(model), [&](const mig::State& state) {
    double sum = 0;
    for (const mig::Placement& placement : state) sum += worths[placement.profile.index];
    best = std::max(best, sum);
  });
  return best;
}

/// The same, computed from the supply's sets.
double best_of_sets(const GpuGroup& group, std::size_t block, const std::vector<double>& prices) {
  double best = 0;
  for (const SliceSet& set : group.sets) {
    double sum = 0;
    for (const SliceSet::KindCount& each : set.counts) {
      double worth = 0;
      for (const Yield& yield : group.kinds[each.kind].yields) {
        worth = std::max(worth, prices[yield.good] * yield.alone[block]);
      }
      sum += each.count * worth;
    }
    best = std::max(best, sum);
  }
  return best;
}

constexpr Blocks kBlocks{.end_us = 2'000'000, .block_us = 1'500'000};

std::vector<Crowds> no_crowds(const Scenario& scenario) { return std::vector<Crowds>(scenario.services.size()); }

TEST(Supply, BestSetIsTheBestOfAllLegalStates) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(40, 8))) {
    const Scenario scenario = draw_scenario(seed);
    const Supply supply = make_supply(scenario, kBlocks, no_crowds(scenario), false);
    ASSERT_EQ(supply.groups.size(), 1U);
    EXPECT_EQ(supply.groups[0].gpu_count, 2);
    Rng rng = Rng(seed).split("prices");
    for (int i = 0; i < 3; ++i) {
      std::vector<double> prices;
      for (const Good& good : supply.goods) prices.push_back(rng.unit() * (good.is_retraining() ? 1000 : 1));
      const double exact = best_of_all_states(scenario, supply, prices);
      for (int block = 0; block < kBlocks.count(); ++block) {
        const double best = best_of_sets(supply.groups[0], static_cast<std::size_t>(block), prices);
        EXPECT_GE(best, exact * kBlocks.length(block) * (1 - 1e-9)) << "seed " << seed;
        EXPECT_LE(best, exact * kBlocks.length(block) * (1 + kRounding)) << "seed " << seed;
      }
    }
  }
}

/// The interface does not name the profile of a good's greatest yield, so the test takes the most over all profiles.
TEST(Supply, NamesTheMostThatAnySliceMakes) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(60, 10))) {
    const Scenario scenario = draw_scenario(seed);
    const Supply supply = make_supply(scenario, kBlocks, no_crowds(scenario), false);
    const GpuModel& model = scenario.fleet[0].model;
    for (const Good& good : supply.goods) {
      double most = rate_of(scenario, good, ProfileId::full());
      for (std::size_t i = 0; i < model.profiles.size(); ++i) {
        most = std::max(most, rate_of(scenario, good, {static_cast<std::uint16_t>(i)}));
      }
      EXPECT_GE(good.per_second_max, most * (1 - 1e-9)) << "seed " << seed;
      EXPECT_LE(good.per_second_max, most * (1 + kRounding)) << "seed " << seed;
    }
  }
}

/// One service on whole GPUs without MIG: one kind of slice.
Scenario whole_gpu(std::uint64_t seed) {
  Scenario scenario = draw_scenario(seed);
  scenario.fleet[0].model = *mig::find_gpu_model("L4-24GB");
  scenario.services.resize(1);
  ServiceSpec& service = scenario.services[0];
  service.variants.clear();
  service.retraining.reset();
  Rng rng = Rng(seed).split("whole");
  do {
    service.table = draw_table(rng, scenario.fleet[0].model);
  } while (service.table.points.empty());
  return scenario;
}

TEST(Supply, NoSharedSliceMakesMoreThanItsFactorLeaves) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 40))) {
    Scenario scenario = whole_gpu(seed);
    scenario.interference = {Decimal(1)};
    const Supply supply = make_supply(scenario, kBlocks, no_crowds(scenario), true);
    const ServiceSpec& service = scenario.services[0];
    const bool is_sold = !supply.groups[0].kinds.empty();
    const double shared = is_sold ? supply.groups[0].kinds[0].yields[0].shared[0] / kBlocks.length(0) : 0;
    for (const std::int64_t percent : {100, 101, 143, 186, 250}) {
      const auto points = points_of(service, scenario.fleet[0].model, ProfileId::full(), 0, Decimal(percent, 100));
      const double rate = most_answers_at_points(points, service.target.count(), without_limit);
      EXPECT_LE(rate, shared / (static_cast<double>(percent) / 100) * (1 + 1e-9)) << "seed " << seed;
    }
  }
}

TEST(Supply, ABatchAnswersNoMoreThanArriveTogether) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 40))) {
    Scenario scenario = whole_gpu(seed);
    const ServiceSpec& service = scenario.services[0];
    Rng rng = Rng(seed).split("requests");
    const std::vector<std::int64_t> at_us = testing::draw_requests(rng, kBlocks, 12);
    const Crowds crowds(kBlocks, 2, service.target.count(), 16,
                        [&](std::int64_t second, auto& out) { testing::offsets_in(at_us, second, out); });
    const Supply supply = make_supply(scenario, kBlocks, {crowds}, false);
    const Decimal factor = *std::ranges::min_element(scenario.interference);
    const auto points = points_of(service, scenario.fleet[0].model, ProfileId::full(), 0, factor);
    for (int block = 0; block < kBlocks.count(); ++block) {
      const double exact = most_answers_at_points(points, service.target.count(), [&](std::int64_t window_us) {
        return static_cast<double>(crowds.most(crowds.steps_of(window_us), block));
      });
      const bool is_sold = !supply.groups[0].kinds.empty();
      const double made = is_sold ? supply.groups[0].kinds[0].yields[0].alone[static_cast<std::size_t>(block)] : 0;
      EXPECT_GE(made, exact * kBlocks.length(block) * (1 - 1e-9)) << "seed " << seed;
      EXPECT_LE(made, exact * kBlocks.length(block) * (1 + kRounding)) << "seed " << seed;
    }
  }
}

TEST(Supply, ASliceIsDeadUntilItsServiceHasStarted) {
  Scenario scenario = whole_gpu(1);
  scenario.changes.plumbing = Micros::seconds(2);
  scenario.services[0].start = Micros::seconds(3);
  scenario.services[0].retraining.emplace();
  const Supply supply = make_supply(scenario, kBlocks, no_crowds(scenario), false);
  ASSERT_EQ(supply.goods.size(), 2U);
  EXPECT_EQ(supply.goods[0].dead_seconds, 5);
  EXPECT_EQ(supply.goods[1].dead_seconds, 2);
  EXPECT_TRUE(supply.goods[1].is_retraining());
  EXPECT_EQ(supply.goods[1].per_second_max, 0) << "no slice has a time for it";
}

TEST(Supply, CountsEqualModelsTogether) {
  Scenario scenario = draw_scenario(1);
  scenario.fleet.push_back(scenario.fleet[0]);
  const Supply supply = make_supply(scenario, kBlocks, no_crowds(scenario), false);
  ASSERT_EQ(supply.groups.size(), 1U);
  EXPECT_EQ(supply.groups[0].gpu_count, 4);
}

}  // namespace
}  // namespace berth::bound::detail
