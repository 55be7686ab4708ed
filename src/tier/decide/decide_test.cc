#include "tier/decide/decide.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tier/estimate/testing/synthetic_table.h"
#include "tier/values/attained.h"

namespace berth::tier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TierEstimate predicted(double probability, double cost, double per_second = 100) {
  return {.is_measured = false,
          .per_second = per_second,
          .probability = probability,
          .cost = cost,
          .cost_mean = cost,
          .costs = {cost}};
}

TierEstimate measured(bool keeps, double cost, double per_second = 100) {
  return {.is_measured = true,
          .per_second = per_second,
          .probability = keeps ? 1.0 : 0.0,
          .cost = cost,
          .cost_mean = keeps ? cost : kInfinity};
}

Decision decision_of(const std::vector<TierEstimate>& estimates, int measurements_left = 0, double sure = 0.9) {
  const TierTable table{.kind = TierKind::kJobs};
  const std::array<bool, 4> allowed = {true, true, true, true};
  return decide({.table = &table,
                 .known = nullptr,
                 .estimates = estimates,
                 .target = {},
                 .measurements_left = measurements_left,
                 .sure = sure,
                 .allowed = std::span(allowed).first(estimates.size())});
}

TEST(Decide, OfSureTiersTheCheapestExpected) {
  const Decision decision = decision_of({measured(false, 1, 50), predicted(0.95, 3), predicted(0.99, 2.5, 200)});
  EXPECT_EQ(decision.take, 2U);
  EXPECT_EQ(decision.probability, 0.99);
  EXPECT_FALSE(decision.measure);
}

TEST(Decide, AnUnsureTierLosesToASureOneHoweverCheap) {
  EXPECT_EQ(decision_of({measured(false, 1), predicted(0.89, 1), predicted(0.9, 3, 200)}).take, 2U);
  EXPECT_EQ(decision_of({measured(false, 1), predicted(0.89, 1), predicted(0.9, 3, 200)}, 0, 0.8).take, 1U);
}

TEST(Decide, WithoutASureTierAMissHasItsPrice) {
  // The fastest costs 4, a miss 10: 0.8 x 1 + 0.2 x 10 = 2.8 against 0.7 x 4 + 0.3 x 10 = 5.8.
  const Decision decision = decision_of({measured(false, 1, 50), predicted(0.8, 1), predicted(0.7, 4, 200)});
  EXPECT_EQ(decision.take, 1U);
  EXPECT_NEAR(decision.cost_expected, 2.8, 1e-12);
  // At 0.3 the cheap one expects 7.3.
  EXPECT_EQ(decision_of({measured(false, 1, 50), predicted(0.3, 1), predicted(0.7, 4, 200)}).take, 2U);
}

TEST(Decide, OneKnownToMissIsTakenOnlyIfAllAre) {
  EXPECT_EQ(decision_of({measured(false, 1), predicted(0.01, 9, 200)}).take, 1U);
  EXPECT_EQ(decision_of({measured(false, 1), predicted(0.01, 9, 200)}, 0, 0).take, 1U);
  EXPECT_EQ(decision_of({measured(false, 1), measured(false, 9, 200)}).take, 0U);
  EXPECT_EQ(decision_of({measured(false, 1), measured(false, 9, 200)}, 2).measure, std::nullopt);
}

TEST(Decide, EqualCostsGoToTheMoreProbableThenTheCheaperTier) {
  EXPECT_EQ(decision_of({measured(true, 2), measured(true, 2)}).take, 0U);
  EXPECT_EQ(decision_of({predicted(1, 2), predicted(1, 2)}).take, 0U);
}

TEST(Decide, MeasuresWhatMayBeCheaper) {
  const Decision decision = decision_of({measured(true, 3, 50), predicted(0.6, 1), predicted(0.99, 5, 200)}, 1);
  EXPECT_EQ(decision.take, 0U);
  EXPECT_EQ(decision.measure, 1U);
  // With 0.6 the cost falls from 3 to 1.
  EXPECT_NEAR(decision.saves, 0.6 * 2, 1e-12);
}

TEST(Decide, StopsWhereNothingCanImprove) {
  EXPECT_FALSE(decision_of({measured(true, 3, 50), predicted(0.9, 4), predicted(0.99, 5, 200)}, 3).measure);
  EXPECT_FALSE(decision_of({measured(true, 3, 50), predicted(0.6, 1)}, 0).measure);
}

TEST(Decide, ConfirmsAChoiceThatIsNotSure) {
  // If the first is confirmed, all is well; if not, the sure one remains.
  const Decision decision = decision_of({predicted(0.85, 1), predicted(0.85, 4, 200)}, 1);
  EXPECT_EQ(decision.take, 0U);
  EXPECT_EQ(decision.measure, 0U);
}

TEST(Decide, WithoutCostsTheMeanStandsForThem) {
  TierEstimate bare = predicted(0.6, 1);
  bare.costs.clear();
  EXPECT_EQ(decision_of({measured(true, 3, 50), bare}, 1).measure, 1U);
  EXPECT_NEAR(decision_of({measured(true, 3, 50), bare}, 1).saves, 1.2, 1e-12);
}

/// Every fresh workload with a target, decided to the end.
struct Outcome {
  double missed = 0;
  double measurements = 0;
  double cost = 0;  ///< mean ratio to the cheapest tier that keeps the target, misses left out
};

Outcome outcome(const Estimator& estimator, const TierTable& fresh, int measurements, double sure) {
  const std::array<bool, 4> allowed = {true, true, true, true};
  Outcome outcome;
  double kept_count = 0;
  for (const TierWorkload& workload : fresh.workloads) {
    const TierTarget target{.per_second = workload.points[0].front().samples_per_second * Decimal(145, 100)};
    TierWorkload known = testing::known_on(workload, {0});
    for (int left = measurements;; --left) {
      const std::vector<TierEstimate> estimates = estimator.estimate(known, target);
      const Decision decision = decide({.table = &fresh,
                                        .known = &known,
                                        .estimates = estimates,
                                        .target = target,
                                        .measurements_left = left,
                                        .sure = sure,
                                        .allowed = allowed});
      if (decision.measure) {
        EXPECT_TRUE(known.points[*decision.measure].empty()) << "what is known is not measured again";
        known.points[*decision.measure] = workload.points[*decision.measure];
        outcome.measurements += 1;
        continue;
      }
      double best = kInfinity;
      for (std::size_t tier = 0; tier < 4; ++tier) {
        const Decimal& attained = workload.points[tier].front().samples_per_second;
        if (!keeps(TierKind::kJobs, attained, target)) continue;
        best = std::min(best, cost_of(TierKind::kJobs, fresh.tiers[tier], attained, target).to_double());
      }
      const Decimal& taken = workload.points[decision.take].front().samples_per_second;
      if (best == kInfinity) break;
      if (keeps(TierKind::kJobs, taken, target)) {
        outcome.cost += cost_of(TierKind::kJobs, fresh.tiers[decision.take], taken, target).to_double() / best;
        kept_count += 1;
      } else {
        outcome.missed += 1;
      }
      break;
    }
  }
  const auto count = static_cast<double>(fresh.workloads.size());
  return {.missed = outcome.missed / count,
          .measurements = outcome.measurements / count,
          .cost = outcome.cost / kept_count};
}

TEST(Decide, StricterIsNotWorseAndMeasurementsHelp) {
  const Result<Estimator> estimator = Estimator::train(testing::synthetic_jobs(25, 3), {}, {.trees = 30});
  ASSERT_TRUE(estimator);
  const TierTable fresh = testing::synthetic_jobs(80, 21, "fresh");
  const Outcome loose = outcome(*estimator, fresh, 0, 0);
  const Outcome usual = outcome(*estimator, fresh, 0, 0.9);
  const Outcome strict = outcome(*estimator, fresh, 0, 0.99);
  EXPECT_LE(usual.missed, loose.missed);
  EXPECT_LE(strict.missed, usual.missed);
  EXPECT_LE(usual.missed, 0.1) << "0.9 was asked for";
  EXPECT_GT(loose.missed, 0) << "otherwise the comparison says nothing";
  const Outcome one = outcome(*estimator, fresh, 1, 0.9);
  const Outcome three = outcome(*estimator, fresh, 3, 0.9);
  EXPECT_LE(one.missed, usual.missed);
  EXPECT_LE(one.cost, usual.cost);
  EXPECT_LE(three.cost, one.cost);
  EXPECT_EQ(three.missed, 0);
  EXPECT_LE(one.measurements, 1);
}

}  // namespace
}  // namespace berth::tier
