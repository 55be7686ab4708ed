#include "planner/packing/detail/relaxation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "planner/packing/pack.h"
#include "planner/packing/testing/first_fit.h"
#include "planner/packing/testing/packings.h"

namespace berth::packing::detail {
namespace {

using reference::SolvedProblem;

constexpr std::uint64_t kRelaxationCases = berth::testing::by_build(200, 40);

Counts nothing(const Instance& instance) { return Counts(instance.kinds.size(), 0); }

RelaxedProblem by_price(const Instance& instance) {
  return {.counts_slices = false, .limits = count_limits(instance), .extra = nothing(instance)};
}

/// The fewest slices at that price.
RelaxedProblem by_slices(const Instance& instance, std::int64_t price) {
  RelaxedProblem problem = by_price(instance);
  problem.counts_slices = true;
  GpuLimit limit{{}, price};
  for (const OfferedGpus& offer : instance.offers) limit.factor.push_back(offer.price);
  problem.limits.push_back(limit);
  return problem;
}

TEST(CountLimits, AreThoseOfTheOffers) {
  Instance instance;
  instance.offers = {OfferedGpus{.partitions = {}, .count_max = 4}, OfferedGpus{.partitions = {}, .count_max = {}},
                     OfferedGpus{.partitions = {}, .count_max = INT64_MAX}};
  const std::vector<GpuLimit> limits = count_limits(instance);
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].factor, (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_EQ(limits[0].max, 4);
  EXPECT_EQ(limits[1].factor, (std::vector<std::int64_t>{0, 0, 1}));
  EXPECT_EQ(limits[1].max, kSlicesMax);
}

TEST(Relaxation, BoundIsAtMostTheOptimum) {
  int judged = 0;
  int tight = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kRelaxationCases)) {
    ++judged;
    const Relaxation relaxation = relax(solved.instance, by_price(solved.instance));
    ASSERT_LE(relaxation.bound, solved.price()) << "seed " << seed;
    if (relaxation.bound == solved.price()) ++tight;
  }
  EXPECT_GT(judged * 2, static_cast<int>(kRelaxationCases));
  EXPECT_GT(tight * 2, judged);
}

TEST(Relaxation, BoundOfSlicesIsAtMostTheFewest) {
  int judged = 0;
  int tight = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kRelaxationCases)) {
    ++judged;
    const Relaxation relaxation = relax(solved.instance, by_slices(solved.instance, solved.price()));
    ASSERT_LE(relaxation.bound, solved.optimum->slices) << "seed " << seed;
    if (relaxation.bound == solved.optimum->slices) ++tight;
  }
  EXPECT_GT(judged * 2, static_cast<int>(kRelaxationCases));
  EXPECT_GT(tight * 2, judged);
}

// Some plan of the least price leaves room for the largest free slice of the optimum: with that slice as an extra one
// the least price is the same.
TEST(Relaxation, BoundWithAnExtraSliceIsAtMostTheOptimum) {
  int judged = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kRelaxationCases)) {
    if (solved.optimum->largest_free.sms == 0) continue;
    const Instance& instance = solved.instance;
    std::int64_t least = INT64_MAX;
    for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
      const reference::FreeSize size{instance.kinds[k].sms, instance.kinds[k].length};
      if (!instance.kinds[k].is_plain || size != solved.optimum->largest_free) continue;
      RelaxedProblem problem = by_price(instance);
      ++problem.extra[k];
      least = std::min(least, relax(instance, problem).bound);
    }
    ++judged;
    ASSERT_LE(least, solved.price()) << "seed " << seed;
  }
  EXPECT_GT(judged, 0);
}

/// A demand that takes `slices` slices of 1g on A30s.
PackingProblem limited_small_slices(int slices, std::optional<std::int64_t> count_max) {
  PackingProblem problem;
  problem.offers.push_back({.model = *mig::find_gpu_model("A30-24GB"), .count_max = count_max});
  problem.demands.push_back(
      {.model = "m", .tenant = "m", .requests_per_second = Decimal(slices), .latency_ms = Decimal(100)});
  problem.tables.push_back({.model = "m", .points = {{"A30-24GB", "1g.6gb", 1, 1, Decimal(1), Decimal(10)}}});
  return problem;
}

TEST(Relaxation, ExtraSlicesTakeRoom) {
  const Instance instance = *make_instance(limited_small_slices(9, {}));
  RelaxedProblem problem = by_price(instance);
  EXPECT_EQ(relax(instance, problem).bound, 3);
  problem.extra[0] = 3;
  EXPECT_EQ(relax(instance, problem).bound, 3);
  problem.extra[0] = 4;
  EXPECT_EQ(relax(instance, problem).bound, 4);
}

/// Plans to check against the rows: a first fit, and one of the least price.
std::vector<Packing> plans_of(const PackingProblem& problem) {
  std::vector<Packing> plans;
  if (auto simple = reference::FirstFit(problem).solve()) plans.push_back(*std::move(simple));
  if (auto best = pack(problem, {.nodes_max = 50'000})) plans.push_back(std::move(best->packing));
  return plans;
}

void check_row(const Instance& instance, const PlanRow& row) {
  for (std::size_t o = 0; o < instance.offers.size(); ++o) {
    for (const Counts& partition : instance.offers[o].partitions) {
      ASSERT_LE((Weights{row.weights.by_kind, 0}.of(partition)), row.gpu_value[o]);
    }
  }
  ASSERT_TRUE(std::ranges::all_of(row.weights.by_kind, [](std::int64_t weight) { return weight >= 0; }));
  ASSERT_GE(row.weights.per_slice, 0);
}

TEST(Relaxation, EveryPlanSatisfiesTheRows) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kRelaxationCases)) {
    const PackingProblem problem = reference::ProblemGenerator(seed).draw();
    const auto instance = make_instance(problem);
    if (!instance || instance->demands.empty()) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const Packing& plan : plans_of(problem)) {
      ++judged;
      const std::vector<Counts> covers = reference::covers_of(*instance, plan);
      const std::int64_t price = reference::cost_of(problem, plan) / instance->micro_usd_per_price;
      const auto slices = std::ssize(plan.slices);
      for (const bool counts_slices : {false, true}) {
        const Relaxation relaxation =
            relax(*instance, counts_slices ? by_slices(*instance, price) : by_price(*instance));
        ASSERT_LE(relaxation.rows.size(), kPlanRowsMax);
        for (const PlanRow& row : relaxation.rows) {
          check_row(*instance, row);
          ASSERT_LE(row.weights.of(reference::sum_of(*instance, covers)), row.limit(counts_slices ? slices : price));
        }
        ASSERT_LE(relaxation.bound, counts_slices ? slices : price);
      }
    }
  }
  EXPECT_GT(judged, static_cast<int>(kRelaxationCases));
}

TEST(Relaxation, TheTightestRowComesFirst) {
  int judged = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kRelaxationCases / 3)) {
    const Instance& instance = solved.instance;
    const Relaxation relaxation = relax(instance, by_price(instance));
    if (relaxation.rows.empty()) continue;
    ++judged;
    // The bound of a row: the least target at which the lightest covers keep its limit.
    const PlanRow& row = relaxation.rows.front();
    std::int64_t weight = 0;
    for (const InstanceDemand& demand : instance.demands) weight += lightest_cover(demand, row.weights).bound;
    ASSERT_LE(weight, row.limit(relaxation.bound)) << "seed " << seed;
    ASSERT_TRUE(relaxation.bound == 0 || weight > row.limit(relaxation.bound - 1)) << "seed " << seed;
  }
  EXPECT_GT(judged, 0);
}

TEST(Relaxation, TheFractionalOptimumServesEveryDemand) {
  int judged = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kRelaxationCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ++judged;
    const Instance& instance = solved.instance;
    const Relaxation relaxation = relax(instance, by_price(instance));
    ASSERT_EQ(relaxation.mean_covers.size(), instance.demands.size());
    ASSERT_EQ(relaxation.covers.size(), instance.demands.size());
    for (std::size_t d = 0; d < instance.demands.size(); ++d) {
      const InstanceDemand& demand = instance.demands[d];
      double mean = 0;
      Int128 main = 0;
      for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
        mean += static_cast<double>(demand.throughput[k]) * relaxation.mean_covers[d][k];
        main += demand.throughput[k] * relaxation.covers[d][k];
      }
      ASSERT_GE(mean, static_cast<double>(demand.rate) * (1 - 1e-6));
      ASSERT_GE(main, demand.rate);
    }
    double price = 0;
    for (std::size_t o = 0; o < instance.offers.size(); ++o) {
      price += static_cast<double>(instance.offers[o].price) * relaxation.gpus[o];
      ASSERT_LE(relaxation.gpus[o], static_cast<double>(instance.offers[o].count_max.value_or(1000)) + 1e-6);
    }
    ASSERT_LE(static_cast<double>(relaxation.bound), std::ceil(price * (1 + 1e-9) + 1e-6));
  }
  EXPECT_GT(judged, 0);
}

TEST(Relaxation, WithTooFewGpusTheBoundIsAboveAllPlans) {
  const Instance feasible = *make_instance(limited_small_slices(8, 2));
  EXPECT_EQ(relax(feasible, by_price(feasible)).bound, 2);
  const Instance larger = *make_instance(limited_small_slices(9, 2));
  EXPECT_GT(relax(larger, by_price(larger)).bound, 2);
}

}  // namespace
}  // namespace berth::packing::detail
