// The ladder: on random small questions an enumeration of all partitions, the dynamic program over sets, and the whole
// search agree; no bound is above the optimum, and the checker accepts every answer.
#include "purchase/advise/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/core/test_cases.h"
#include "purchase/advise/detail/diving.h"
#include "purchase/advise/detail/gpu_sharing.h"
#include "purchase/advise/detail/problem.h"
#include "purchase/advise/detail/regrouping.h"
#include "purchase/advise/detail/relaxation.h"
#include "purchase/advise/detail/rivals.h"
#include "purchase/advise/detail/rounding.h"
#include "purchase/advise/find_fault.h"
#include "purchase/advise/testing/cases.h"

namespace berth::purchase::advise {
namespace {

using reference::Case;

constexpr std::uint64_t kSmallCases = testing::by_build(300, 40);
constexpr std::uint64_t kMediumCases = testing::by_build(60, 8);
constexpr std::uint64_t kLargeCases = testing::by_build(12, 2);
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

Case small_case(std::uint64_t seed) {
  Rng rng = Rng(seed).split("size");
  return reference::random_case(seed, {.pods = 1 + static_cast<int>(rng.below(7)),
                                       .offers = 1 + static_cast<int>(rng.below(5)),
                                       .is_fine = rng.below(2) == 0});
}

std::vector<int> demand_of(const Problem& problem) {
  std::vector<int> demand;
  demand.reserve(problem.classes.size());
  for (const PodClass& pods : problem.classes) demand.push_back(static_cast<int>(pods.rows.size()));
  return demand;
}

/// A relaxation that has a column for each class.
Relaxation relaxation_of(const Problem& problem) {
  Relaxation relaxation(problem);
  for (std::size_t pods = 0; pods < problem.classes.size(); ++pods) {
    const auto box = cheapest_holder(problem, {problem.classes[pods].rows.front()});
    relaxation.add({.box = box.value(), .content = {{.pods = pods, .count = 1}}});
  }
  return relaxation;
}

TEST(AdviseLadder, TheSearchesReachTheOptimumAndTheBoundsDoNotExceedIt) {
  for (const std::uint64_t seed : testing::case_seeds(kSmallCases)) {
    SCOPED_TRACE(seed);
    const Case of = small_case(seed);
    const std::int64_t optimum = reference::Enumeration(of).optimum();
    const Problem problem = make_problem(of.pods, of.offers);
    const CheapestPlan cheapest = cheapest_plan(problem);
    EXPECT_EQ(cost_of(problem, cheapest.plan), optimum);
    EXPECT_TRUE(cheapest.is_proven);

    Relaxation relaxation = relaxation_of(problem);
    const Relaxed relaxed =
        relaxation.solve(demand_of(problem), {.rounds_max = 100, .is_thorough = true, .nodes_max = kNoLimit});
    EXPECT_LE(relaxed.bound, optimum);
    const Dive dived = dive(problem, relaxation, {.rounds_per_step = 3, .nodes_max = seed % 2 == 0 ? 0 : kNoLimit});
    EXPECT_GE(cost_of(problem, dived.plan), optimum);
    const Regrouped regrouped =
        regroup(problem, dived.plan, {.nodes_max = 1'000'000, .idle_rounds_max = 50}, Rng(seed));
    EXPECT_GE(cost_of(problem, regrouped.plan), optimum);
    EXPECT_LE(cost_of(problem, regrouped.plan), cost_of(problem, dived.plan));

    const auto advice = advise_instances(of.pods, of.offers, {});
    ASSERT_TRUE(advice.has_value());
    EXPECT_EQ(find_fault(of.pods, of.offers, *advice), std::nullopt);
    EXPECT_EQ(advice->micro_usd_per_hour, optimum);
    EXPECT_TRUE(advice->is_proven());
  }
}

TEST(AdviseLadder, BoundsStayBelowTheExactSearchOfMorePods) {
  for (const std::uint64_t seed : testing::case_seeds(kMediumCases)) {
    SCOPED_TRACE(seed);
    const Case of = reference::random_case(seed, {.pods = 12, .offers = 6, .is_fine = seed % 2 == 0});
    const Problem problem = make_problem(of.pods, of.offers);
    const CheapestPlan cheapest = cheapest_plan(problem);
    ASSERT_TRUE(cheapest.is_proven);
    Relaxation relaxation = relaxation_of(problem);
    const Relaxed relaxed = relaxation.solve(demand_of(problem), {.rounds_max = static_cast<int>(seed % 20),
                                                                  .is_thorough = true,
                                                                  .nodes_max = std::int64_t{1'000} << (seed % 11)});
    EXPECT_LE(relaxed.bound, cost_of(problem, cheapest.plan));
    EXPECT_GE(cost_of(problem, dive(problem, relaxation, {.rounds_per_step = 2, .nodes_max = kNoLimit}).plan),
              cost_of(problem, cheapest.plan));
  }
}

TEST(AdviseLadder, AnyPricesAndAnyEffortGiveABound) {
  for (const std::uint64_t seed : testing::case_seeds(kSmallCases)) {
    SCOPED_TRACE(seed);
    const Case of = small_case(seed);
    const std::int64_t optimum = reference::Enumeration(of).optimum();
    const auto advice = advise_instances(of.pods, of.offers, {.nodes_max = static_cast<std::int64_t>(1 + seed % 300)});
    ASSERT_TRUE(advice.has_value());
    EXPECT_EQ(find_fault(of.pods, of.offers, *advice), std::nullopt);
    EXPECT_LE(advice->bound_micro_usd_per_hour, optimum);
    EXPECT_GE(advice->micro_usd_per_hour, optimum);
  }
}

/// The most valuable content of the first offer, by enumeration.
class BestContent {
 public:
  BestContent(const Case& of, const Problem& problem, const std::vector<std::int64_t>& values)
      : of_(of), problem_(problem), values_(values) {}

  std::int64_t value(std::size_t row = 0, std::int64_t sum = 0) {
    if (row == of_.pods.size()) return sum;
    std::int64_t best = value(row + 1, sum);
    inside_.push_back(&of_.pods[row]);
    if (reference::holds(of_.offers.front(), inside_)) {
      best = std::max(best, value(row + 1, sum + values_[problem_.class_of[row]]));
    }
    inside_.pop_back();
    return best;
  }

 private:
  const Case& of_;
  const Problem& problem_;
  const std::vector<std::int64_t>& values_;
  std::vector<const Pod*> inside_;
};

TEST(AdviseLadder, TheFillerFindsTheMostValuableContentAndItsBoundsHold) {
  for (const std::uint64_t seed : testing::case_seeds(kSmallCases)) {
    SCOPED_TRACE(seed);
    const Case of = reference::random_case(seed, {.pods = 10, .offers = 1, .is_fine = seed % 2 == 0});
    const Problem problem = make_problem(of.pods, of.offers);
    Rng rng(seed);
    std::vector<std::int64_t> values;
    values.reserve(problem.classes.size());
    for (std::size_t i = 0; i < problem.classes.size(); ++i)
      values.push_back(static_cast<std::int64_t>(rng.below(1'000)));
    const std::int64_t truth = BestContent(of, problem, values).value();
    const std::vector<int> limits = demand_of(problem);
    for (const std::size_t labels : std::vector<std::size_t>{1, 3, 1'000}) {
      ShareSets sets;
      const FillAnswer answer = fill_box(
          problem, {.box = 0, .values = values, .limits = limits, .target = 0, .labels_max = labels, .searches_max = 4},
          sets);
      EXPECT_GE(answer.bound, truth);
      EXPECT_LE(answer.value, truth);
      EXPECT_TRUE(is_held(problem, 0, answer.content));
      if (labels == 1'000) {
        EXPECT_EQ(answer.bound, truth);
        EXPECT_EQ(answer.value, truth);
      }
    }
  }
}

TEST(AdviseLadder, WhatFitsIsWithinAllResources) {
  for (const std::uint64_t seed : testing::case_seeds(kSmallCases)) {
    SCOPED_TRACE(seed);
    Rng rng = Rng(seed).split("shares");
    const int gpus = 1 + static_cast<int>(rng.below(4));
    std::vector<Pod> pods;
    std::vector<int> sizes;
    for (std::uint64_t i = rng.below(9) + 1; i > 0; --i) {
      sizes.push_back(1 + static_cast<int>(rng.below(999)));
      pods.push_back(reference::shared_pod("p", sizes.back()));
    }
    const Problem problem = make_problem(pods, std::vector{reference::gpu_offer("one", "t4", gpus, 1)});
    std::vector<int> free(static_cast<std::size_t>(gpus), 1000);
    const bool fits = reference::shares_fit(sizes, free);
    EXPECT_EQ(share_gpus(sizes, gpus, kSharingNodesThorough).gpus.has_value(), fits);
    ShareSets sets;
    int set = 0;
    for (const int size : sizes) set = sets.with(set, size, 1);
    if (!fits) continue;
    EXPECT_LE(sets.gpus_min(set), gpus);
    for (std::size_t resource = kGpuThousandths; resource < kResources; ++resource) {
      std::int64_t sum = 0;
      for (std::size_t row = 0; row < pods.size(); ++row) sum += problem.class_of_row(row).weights[resource];
      EXPECT_LE(sum, problem.boxes.front().capacity[resource]);
    }
  }
}

TEST(AdviseLadder, LargeQuestionsAreAnsweredWithoutFaultAndTheSameEachTime) {
  for (const std::uint64_t seed : testing::case_seeds(kLargeCases)) {
    SCOPED_TRACE(seed);
    const Case of = reference::random_case(
        seed, {.pods = 20 + static_cast<int>(seed % 50), .offers = 12, .is_fine = seed % 2 == 0});
    const AdviseOptions options{.nodes_max = 500'000};
    const auto advice = advise_instances(of.pods, of.offers, options);
    ASSERT_TRUE(advice.has_value());
    EXPECT_EQ(find_fault(of.pods, of.offers, *advice), std::nullopt);
    EXPECT_EQ(*advice, *advise_instances(of.pods, of.offers, options));
  }
}

TEST(AdviseLadder, RoundedPodsAreFewAndOnTheSafeSide) {
  for (const std::uint64_t seed : testing::case_seeds(kLargeCases)) {
    SCOPED_TRACE(seed);
    const Case of = reference::random_case(seed, {.pods = 300, .offers = 5, .is_fine = true});
    const Problem problem = make_problem(of.pods, of.offers);
    const std::vector<Pod> down = round_pods(of.pods, problem, Rounding::kDown, 60);
    const std::vector<Pod> up = round_pods(of.pods, problem, Rounding::kUp, 60);
    for (std::size_t row = 0; row < of.pods.size(); ++row) {
      EXPECT_TRUE(down[row].cpu_milli <= of.pods[row].cpu_milli && of.pods[row].cpu_milli <= up[row].cpu_milli);
      EXPECT_TRUE(down[row].memory_mib <= of.pods[row].memory_mib && of.pods[row].memory_mib <= up[row].memory_mib);
      EXPECT_TRUE(down[row].gpu_milli <= of.pods[row].gpu_milli && of.pods[row].gpu_milli <= up[row].gpu_milli);
      EXPECT_EQ(down[row].is_shared(), of.pods[row].is_shared());
    }
    EXPECT_LT(make_problem(down, of.offers).classes.size(), problem.classes.size());
  }
}

}  // namespace
}  // namespace berth::purchase::advise
