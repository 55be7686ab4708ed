#include "planner/one_gpu/detail/served.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"

namespace berth::planner {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// One service of up to three variants, whose order by accuracy depends on whether the model is fresh.
Problem drawn_served_problem(Rng rng) {
  Problem problem;
  problem.slots = 1 + static_cast<int>(rng.below(6));
  problem.samples = 1 + static_cast<int>(rng.below(4));
  problem.tail_seconds = rng.below(3) == 0 ? 0 : 10 * rng.unit();
  ServiceTerms service;
  service.value = 0.25 + rng.unit();
  const std::uint64_t variants = 1 + rng.below(3);
  for (std::uint64_t v = 0; v < variants; ++v) {
    const double before = static_cast<double>(rng.below(5)) / 5;  // equal ones too
    service.variants.push_back({.accuracy_before = before, .accuracy_after = static_cast<double>(rng.below(5)) / 5});
  }
  const bool has_outside = rng.below(3) == 0;
  for (SlotIndex slot(0); slot <= problem.slots; ++slot) {
    for (int sample = 0; sample < problem.samples; ++sample) {
      service.loads.push_back(static_cast<double>(rng.below(30)));
    }
    for (std::uint64_t v = 0; v < variants && has_outside; ++v) {
      service.outside.push_back(static_cast<double>(rng.below(8)));
    }
  }
  if (rng.below(2) == 0) {
    service.retraining = RetrainingTerms{};
    service.retraining->tail_fresh_seconds = 12 * rng.unit();
    service.retraining->fresh_value = 100 * rng.unit();
  }
  problem.services.push_back(service);
  return problem;
}

/// The best of all orders in which the variants may answer, for each sample, averaged.
double value_of_second(const Problem& problem, const std::vector<double>& capacity, SlotIndex slot, bool is_fresh) {
  const ServiceTerms& service = problem.services.front();
  double sum = 0;
  for (int sample = 0; sample < problem.samples; ++sample) {
    std::vector<std::size_t> order(capacity.size());
    std::iota(order.begin(), order.end(), 0U);
    double best = 0;
    do {
      double left = service.loads[at(slot * problem.samples + sample)];
      double value = 0;
      for (const std::size_t v : order) {
        const double outside = service.outside.empty() ? 0 : service.outside[at(slot) * capacity.size() + v];
        const double answered = std::min(left, capacity[v] + outside);
        left -= answered;
        value += answered * (is_fresh ? service.variants[v].accuracy_after : service.variants[v].accuracy_before);
      }
      best = std::max(best, value);
    } while (std::ranges::next_permutation(order).found);
    sum += best;
  }
  return service.value * sum / problem.samples;
}

double tolerance(double value) { return 1e-9 * (1 + std::abs(value)); }

void expect_ranges(const Problem& problem, const Served& served, LevelIndex level, const std::vector<double>& capacity,
                   bool is_fresh) {
  for (SlotIndex from(0); from <= problem.slots; ++from) {
    double sum = 0;
    for (SlotIndex to = from; to <= problem.slots; ++to) {
      EXPECT_NEAR(served.value(level, is_fresh, from, to), sum, tolerance(sum));
      if (from == 0) {
        EXPECT_EQ(served.prefix(level, is_fresh)[to], served.value(level, is_fresh, SlotIndex(0), to));
      }
      if (to < problem.slots) sum += value_of_second(problem, capacity, to, is_fresh);
    }
  }
}

void expect_tails(const Problem& problem, const Served& served, LevelIndex level, const std::vector<double>& capacity) {
  const auto& retraining = problem.services.front().retraining;
  const double fresh = value_of_second(problem, capacity, SlotIndex(problem.slots), true);
  const double stale = value_of_second(problem, capacity, SlotIndex(problem.slots), false);
  const double seconds = problem.tail_seconds;
  if (!retraining) {
    EXPECT_NEAR(served.tail(level, true), seconds * fresh, tolerance(seconds * fresh));
    return;
  }
  const double fresh_seconds = std::min(seconds, retraining->tail_fresh_seconds);
  const double wanted = fresh_seconds * fresh + (seconds - fresh_seconds) * stale + retraining->fresh_value;
  EXPECT_NEAR(served.tail(level, true), wanted, tolerance(wanted));
  EXPECT_NEAR(served.tail(level, false), seconds * stale, tolerance(seconds * stale));
}

TEST(Served, IsTheSumOverSlotsAndSamples) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 30))) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(seed);
    const Problem problem = drawn_served_problem(rng.split("problem"));
    Served served(problem, ServiceIndex(0));
    std::vector<std::vector<double>> capacities;
    for (int i = 0; i < 6; ++i) {
      std::vector<double> capacity(problem.services.front().variants.size());
      for (double& each : capacity) each = rng.below(3) == 0 ? 0 : static_cast<double>(rng.below(24));
      if (std::ranges::find(capacities, capacity) != capacities.end()) continue;
      ASSERT_EQ(served.level_of(capacity), static_cast<int>(capacities.size()));
      capacities.push_back(capacity);
    }
    // Levels do not move when others are created.
    for (LevelIndex level(0); at(level) < capacities.size(); ++level) {
      const std::vector<double>& capacity = capacities[at(level)];
      ASSERT_EQ(served.level_of(capacity), level);
      expect_ranges(problem, served, level, capacity, true);
      if (problem.services.front().retraining) expect_ranges(problem, served, level, capacity, false);
      expect_tails(problem, served, level, capacity);
    }
    EXPECT_EQ(served.levels_count(), static_cast<int>(capacities.size()));
  }
}

TEST(Served, LetsTheMoreAccurateVariantAnswerFirst) {
  Problem problem;
  problem.slots = 1;
  problem.tail_seconds = 10;
  ServiceTerms service;
  service.loads = {10, 20};
  service.variants = {{.accuracy_before = 0.5, .accuracy_after = 1}, {.accuracy_before = 0.75, .accuracy_after = 0.75}};
  service.retraining = RetrainingTerms{.due_slots = {}, .tail_fresh_seconds = 4, .fresh_value = 3};
  problem.services = {service};
  Served served(problem, ServiceIndex(0));
  const LevelIndex level = served.level_of(std::vector<double>{6, 8});
  EXPECT_DOUBLE_EQ(served.value(level, true, SlotIndex(0), SlotIndex(1)), 6 * 1 + 4 * 0.75);
  EXPECT_DOUBLE_EQ(served.value(level, false, SlotIndex(0), SlotIndex(1)), 8 * 0.75 + 2 * 0.5);
  const double fresh = 6 * 1 + 8 * 0.75;
  const double stale = 8 * 0.75 + 6 * 0.5;
  EXPECT_DOUBLE_EQ(served.tail(level, true), 4 * fresh + 6 * stale + 3);
  EXPECT_DOUBLE_EQ(served.tail(level, false), 10 * stale);
}

}  // namespace
}  // namespace berth::planner
