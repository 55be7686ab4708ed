#include "planner/plan/first_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/many_gpus/testing/fleets.h"
#include "planner/plan/solve.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

constexpr SearchLimits kFirstLimits{.nodes_max = 2'000, .gap = 0.003};

/// A window that begins with an empty fleet.
Problem empty_window(std::uint64_t seed) {
  Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 60, 0);
  for (GpuTerms& gpu : problem.gpus) gpu.standing.clear();
  for (ServiceTerms& service : problem.services) {
    if (!service.retraining) continue;
    service.retraining->is_stale = false;
    service.retraining->fresh_in = 0;
    service.retraining->progress = 0;
    service.retraining->due_slots = {SlotIndex(5)};
  }
  return problem;
}

double worth_with(const Problem& window, const Answer& layout) {
  Problem begun = window;
  for (const GpuIndex gpu : indices_of<GpuIndex>(begun.gpus)) {
    if (layout.schedule.gpus[gpu].empty()) continue;
    for (const Piece& piece : layout.schedule.gpus[gpu].front().to) begun.gpus[gpu].standing.push_back({piece, 0});
  }
  return solve(begun, kFirstLimits).objective;
}

TEST(FirstLayout, IsBuiltAtOnceForNothingAndStays) {
  Problem window = empty_window(3);
  window.change_price = 5;
  const Problem first = first_layout_problem(window);
  EXPECT_EQ(first.create_seconds + first.destroy_seconds + first.plumbing_seconds + first.change_price, 0);
  EXPECT_EQ(first.is_frozen.front(), 0);
  EXPECT_EQ(std::ranges::count(first.is_frozen, 0), 1);
  for (const ServiceTerms& service : first.services) {
    EXPECT_FALSE(service.retraining);
    EXPECT_EQ(service.start_seconds, 0);
  }
}

TEST(FirstLayout, BetteringNeverLosesAndStaysSound) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Problem first = first_layout_problem(empty_window(seed));
    Answer answer = solve(first, kFirstLimits);
    const double before = answer.objective;
    improve_first_layout(first, kFirstLimits, answer);
    EXPECT_GE(answer.objective, before);
    EXPECT_LE(answer.objective, answer.bound * (1 + 1e-9));
    EXPECT_EQ(find_fault(first, answer.schedule).value_or(""), "");
    EXPECT_NEAR(evaluate(first, answer.schedule).objective, answer.objective, 1e-7 * answer.objective);
  }
}

TEST(FirstLayout, RoomIsLeftWhereTheWindowGainsByIt) {
  constexpr int kSeeds = berth::testing::by_build(12, 3);
  int better = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem window = empty_window(seed);
    const Problem first = first_layout_problem(window);
    Answer answer = solve(first, kFirstLimits);
    improve_first_layout(first, kFirstLimits, answer);
    const double before = worth_with(window, answer);
    const double served_before = answer.objective;
    leave_room_for_retraining(window, first, kFirstLimits, answer);
    EXPECT_GE(worth_with(window, answer), before);
    EXPECT_EQ(find_fault(first, answer.schedule).value_or(""), "");
    EXPECT_NEAR(evaluate(first, answer.schedule).objective, answer.objective, 1e-7 * answer.objective);
    if (worth_with(window, answer) > before) {
      ++better;
      EXPECT_NE(answer.objective, served_before);
    }
  }
  EXPECT_GT(better, 0);
}

TEST(FirstLayout, NothingIsLeftFreeWhereNothingRetrains) {
  Problem window = empty_window(2);
  for (ServiceTerms& service : window.services) service.retraining.reset();
  const Problem first = first_layout_problem(window);
  Answer answer = solve(first, kFirstLimits);
  const Schedule before = answer.schedule;
  const std::int64_t nodes = answer.nodes;
  leave_room_for_retraining(window, first, kFirstLimits, answer);
  EXPECT_EQ(answer.nodes, nodes);
  for (const GpuIndex gpu : indices_of<GpuIndex>(before.gpus)) {
    ASSERT_EQ(answer.schedule.gpus[gpu].size(), before.gpus[gpu].size());
    for (std::size_t i = 0; i < before.gpus[gpu].size(); ++i) {
      EXPECT_EQ(answer.schedule.gpus[gpu][i].to, before.gpus[gpu][i].to);
    }
  }
}

/// A fleet with more GPUs than a plan has nodes, all empty. `load` is a share of what large_fleet draws.
Problem empty_large_fleet(int gpus, double load) {
  Problem problem = testing::large_fleet(Rng(7), gpus, 4);
  for (GpuTerms& gpu : problem.gpus) gpu.standing.clear();
  for (ServiceTerms& service : problem.services) {
    service.floor_rate = 0;
    for (double& each : service.loads) each *= load;
  }
  return first_layout_problem(problem);
}

/// With at least as many GPUs as nodes, the first placement used up all nodes; at prices of 0 it places nothing.
TEST(FirstLayout, MoreGpusThanNodesAreUsedAsWell) {
  for (const double load : {0.2, 1.0}) {
    SCOPED_TRACE(load);
    const Problem first = empty_large_fleet(3'100, load);
    const Answer answer = solve(first, {.nodes_max = 3'000, .gap = 0.003});
    EXPECT_GE(answer.objective, 0.97 * answer.bound);
  }
}

/// A trust domain is a group of services that share no GPU with others: each group has its own nodes.
TEST(FirstLayout, ManyTrustDomainsTakeNoNodesFromEachOther) {
  Problem first = empty_large_fleet(800, 0.2);
  for (const ServiceIndex i : indices_of<ServiceIndex>(first.services))
    first.services[i].trust_domain = static_cast<int>(i);
  const Answer answer = solve(first, {.nodes_max = 3'000, .gap = 0.003});
  EXPECT_GE(answer.objective, 0.97 * answer.bound);
}

/// The least rate of a service's slices over its largest load.
double least_spare(const Problem& first, const Schedule& layout) {
  double least = 1e9;
  for (const ServiceIndex i : indices_of<ServiceIndex>(first.services)) {
    double rate = 0;
    for (const GpuIndex gpu : indices_of<GpuIndex>(first.gpus)) {
      if (layout.gpus[gpu].empty()) continue;
      const ModelTerms& model = first.models[static_cast<std::size_t>(first.gpus[gpu].model)];
      for (const Piece& piece : layout.gpus[gpu].front().to) {
        if (piece.service != i) continue;
        const KindIndex kind = model.sites[static_cast<std::size_t>(piece.site)].kind;
        rate += model.rates[kind][i].requests_per_second[static_cast<std::size_t>(piece.use)];
      }
    }
    const double most = *std::ranges::max_element(first.services[i].loads);
    if (most > 0) least = std::min(least, rate / most);
  }
  return least;
}

TEST(FirstLayout, SpareCapacityServesAMultipleOfALightLoadAndCostsNothing) {
  int with_spare = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Problem first = with_loads_times(first_layout_problem(empty_window(seed)), 0.1);
    Answer answer = solve(first, kFirstLimits);
    improve_first_layout(first, kFirstLimits, answer);
    const double before = answer.objective;
    const std::optional<Problem> served = add_spare_capacity(first, kFirstLimits, {}, answer);
    EXPECT_EQ(find_fault(first, answer.schedule), std::nullopt);
    EXPECT_GE(answer.objective, before * (1 - 1e-4));
    EXPECT_NEAR(answer.objective, evaluate(first, answer.schedule).objective, 1e-9);
    if (!served) continue;
    ++with_spare;
    EXPECT_GE(least_spare(first, answer.schedule), 1.4);
    EXPECT_GE(least_spare(*served, answer.schedule), 0.95);
  }
  EXPECT_GE(with_spare, 6);
}

/// The loads of each service, summed.
std::vector<double> sums_of_loads(const Problem& problem) {
  std::vector<double> sums;
  for (const ServiceTerms& service : problem.services) {
    sums.push_back(std::accumulate(service.loads.begin(), service.loads.end(), 0.0));
  }
  return sums;
}

TEST(FirstLayout, ServicesOfWhichNothingIsKnownShareSpaceEvenly) {
  // The second service answers ten times as many requests on the same slices, so ten times its guess is as much space.
  Problem first = with_loads_times(first_layout_problem(empty_window(1)), 0.01);
  for (ModelTerms& model : first.models) {
    for (std::vector<Rates>& rates : model.rates) {
      rates[1] = rates[0];
      for (double& rate : rates[1].requests_per_second) rate *= 10;
    }
  }
  first.services[1] = first.services[0];
  Answer answer = solve(first, kFirstLimits);
  improve_first_layout(first, kFirstLimits, answer);
  const std::vector<char> is_guess(first.services.size(), 1);
  const std::optional<Problem> served = add_spare_capacity(first, kFirstLimits, is_guess, answer);
  ASSERT_TRUE(served);
  const std::vector<double> loads = sums_of_loads(*served);
  EXPECT_NEAR(loads[1], 10 * loads[0], 0.01 * loads[1]);
  EXPECT_EQ(find_fault(first, answer.schedule), std::nullopt);
}

TEST(FirstLayout, WhereALoadIsNotAnsweredNothingIsSpare) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    const Problem first = with_loads_times(first_layout_problem(empty_window(seed)), 20);
    Answer answer = solve(first, kFirstLimits);
    const Answer before = answer;
    EXPECT_FALSE(add_spare_capacity(first, kFirstLimits, {}, answer));
    EXPECT_EQ(answer.objective, before.objective);
    for (const GpuIndex gpu : indices_of<GpuIndex>(first.gpus)) {
      ASSERT_EQ(answer.schedule.gpus[gpu].size(), before.schedule.gpus[gpu].size());
      if (!before.schedule.gpus[gpu].empty()) {
        EXPECT_EQ(answer.schedule.gpus[gpu].front().to, before.schedule.gpus[gpu].front().to);
      }
    }
  }
}

}  // namespace
}  // namespace berth::planner
