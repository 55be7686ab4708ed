#include "tier/choose/choose.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tier/choose/answer.h"
#include "tier/choose/memory_fit.h"
#include "tier/choose/verdict.h"

namespace berth::tier {
namespace {

std::vector<Tier> priced_tiers() {
  return {{.name = "t4", .usd_per_hour = Decimal(1)},
          {.name = "a30", .usd_per_hour = Decimal(2)},
          {.name = "a100", .usd_per_hour = Decimal(4)}};
}

TierPoint service_point(int batch, int per_second, int latency_ms) {
  return {.batch = batch, .samples_per_second = Decimal(per_second), .latency_ms = Decimal(latency_ms)};
}

/// A service measured on the t4: 100 per second within 10 ms, 200 within 40 ms.
ChooseCall service_call() {
  return {
      .kind = TierKind::kServices,
      .tiers = priced_tiers(),
      .known = {.group = "m", .name = "w", .points = {{service_point(1, 100, 10), service_point(8, 200, 40)}, {}, {}}},
      .target = {.per_second = Decimal(350), .latency_ms = Decimal(100)}};
}

/// With costs at a price of 1 that are not spread.
TierEstimate plain_estimate(double per_second, double probability, const TierTarget& target) {
  const double units = std::ceil(target.per_second.to_double() / per_second);
  return {.per_second = per_second,
          .per_second_p10 = per_second / 2,
          .per_second_p90 = per_second * 2,
          .latency_ms = 20,
          .probability = probability,
          .cost = units,
          .cost_mean = units};
}

/// Predictions that depend on the target only by their probability: `probability` where the latency is at least 50 ms.
EstimateAt predictions(std::vector<double> per_second, std::vector<double> probability) {
  return [=](const TierTarget& target) {
    std::vector<TierEstimate> estimates;
    for (std::size_t i = 0; i < per_second.size(); ++i) {
      const double sureness = target.latency_ms >= Decimal(50) ? probability[i] : 0.1;
      estimates.push_back(plain_estimate(per_second[i], sureness, target));
    }
    return estimates;
  };
}

std::optional<TierChoice> choice_of(const ChooseCall& call) { return answer_of(call).choice; }

TierRules small_rules() {
  return {
      .rules = {{.name = "no big",
                 .bounds = {{.feature = RuleFeature::kFlops, .below = Decimal(10)}},
                 .tier = "a100",
                 .is_exclusion = true},
                {.name = "middle", .bounds = {{.feature = RuleFeature::kFlops, .below = Decimal(100)}}, .tier = "a30"}},
      .otherwise = "a100"};
}

TEST(Prospect, OfMeasuredRowsIsExact) {
  const auto prospects = prospects_at(service_call(), service_call().target);
  const TierProspect measured{.is_measured = true,
                              .per_second = Spread{200, 200, 200},
                              .latency_ms = 40,
                              .latency_ms_p10 = 40,
                              .latency_ms_p90 = 40,
                              .probability = 1,
                              .units = Decimal(2),
                              .units_mean = 2,
                              .units_drawn = {2}};
  EXPECT_EQ(prospects[0], measured);
  EXPECT_EQ(prospects[1], TierProspect{});
}

TEST(Prospect, OfPredictionsTurnsTheThroughputAround) {
  ChooseCall call = service_call();
  call.estimate_at = predictions({1, 300, 0}, {0, 0.95, 0.2});
  const auto prospects = prospects_at(call, call.target);
  const TierProspect predicted{.per_second = Spread{300, 150, 600},
                               .latency_ms = 20,
                               .latency_ms_p10 = 10,
                               .latency_ms_p90 = 40,
                               .probability = 0.95,
                               .units = Decimal(2),
                               .units_mean = 2};
  EXPECT_EQ(prospects[1], predicted);
  EXPECT_FALSE(prospects[2].units.has_value());
  EXPECT_FALSE(prospects[2].latency_ms_p90.has_value());
}

TEST(Choose, TheLeastExpectedCostOfThoseThatAreSureEnough) {
  ChooseCall call = service_call();
  call.estimate_at = predictions({1, 400, 1000}, {0, 0.95, 0.99});
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0, .is_sure = true}));  // 2 x $1; 1 x $2, but it may miss
  call.target.per_second = Decimal(401);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0, .is_sure = true}));  // 3 x 1 against 2 x 2
  call.target.per_second = Decimal(900);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 2, .is_sure = true}));  // 5, 6, 4
  call.sure = 0.995;
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0, .is_sure = true}));
}

TEST(Choose, WithoutASureOneTheLeastExpectedCostOfThoseThatAreNotKnownToMiss) {
  ChooseCall call = service_call();
  call.target.latency_ms = Decimal(20);  // the t4 has no usable point
  call.estimate_at = predictions({1, 400, 1000}, {0, 0.5, 0.5});
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 1}));  // 0.1 each, and $2 against $4
}

TEST(Choose, ATierKnownToMissOnlyIfAllAre) {
  ChooseCall call = service_call();
  call.kind = TierKind::kJobs;
  for (int i = 0; i < 3; ++i) {
    call.known.points[static_cast<std::size_t>(i)] = {service_point(1, i == 1 ? 90 : 80 + i, 0)};
  }
  call.target = {.per_second = Decimal(100)};
  const auto choice = choice_of(call);
  ASSERT_TRUE(choice.has_value());
  EXPECT_FALSE(choice->is_sure);
  call.known.points[2] = {service_point(1, 100, 0)};
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 2, .is_sure = true}));
}

TEST(Choose, RulesChooseWithoutAForestAndOnlyExcludeWithOne) {
  ChooseCall call = service_call();
  call.rules = small_rules();
  call.known.graph.flops = Decimal(50);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 1, .by = ChosenBy::kRule, .rule = "middle"}));
  call.known.graph.flops = Decimal(500);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 2, .by = ChosenBy::kRule}));
  call.estimate_at = predictions({1, 10, 1000}, {0, 0.95, 0.99});
  call.target.per_second = Decimal(900);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 2, .is_sure = true}));
  call.known.graph.flops = Decimal(5);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0, .is_sure = true}));
  EXPECT_EQ(answer_of(call).prospects[2].excluded, "rule no big");
}

TEST(Choose, RulesDoNotTakeATierThatIsKnownToMiss) {
  ChooseCall call = service_call();
  call.rules = TierRules{.otherwise = "t4"};
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0, .by = ChosenBy::kRule, .is_sure = true}));
  call.target.latency_ms = Decimal(20);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0}));  // nothing is known of the others
  EXPECT_NE(tier_verdict(answer_of(call)).find("misses the target"), std::string::npos);
}

TEST(Choose, NothingIsLeftIfAllAreExcluded) {
  ChooseCall call = service_call();
  call.rules = TierRules{};
  for (const Tier& tier : call.tiers) {
    call.rules->rules.push_back({.name = "never " + tier.name,
                                 .bounds = {{.feature = RuleFeature::kLatencyMs, .at_least = Decimal(0)}},
                                 .tier = tier.name,
                                 .is_exclusion = true});
  }
  const TierAnswer answer = answer_of(call);
  EXPECT_FALSE(answer.choice.has_value());
  EXPECT_EQ(tier_verdict(answer),
            "Take none of these tiers. t4: rule never t4; a30: rule never a30; a100: rule never a100.");
}

TEST(MemoryFit, CountsWeightsAndActivations) {
  TierWorkload workload{.group = "m", .name = "w", .batch = 4};
  const Tier tier{.name = "t", .usd_per_hour = Decimal(1), .memory_mib = Decimal(10)};
  const Decimal mib(1 << 20);
  EXPECT_FALSE(memory_needed(TierKind::kJobs, workload).has_value());
  workload.graph = {.activation_bytes = mib * Decimal(2), .weight_bytes = mib * Decimal(2)};
  EXPECT_EQ(memory_needed(TierKind::kServices, workload), mib * Decimal(4));
  EXPECT_EQ(memory_needed(TierKind::kJobs, workload), mib * Decimal(10));
  EXPECT_FALSE(memory_shortage(TierKind::kJobs, workload, tier, false).has_value());  // exactly all of it
  workload.batch = 5;
  EXPECT_EQ(memory_shortage(TierKind::kJobs, workload, tier, false),
            "weights and activations need 12.0 MiB, the tier has 10.0");
  EXPECT_FALSE(memory_shortage(TierKind::kJobs, workload, tier, true).has_value());  // it ran there
  EXPECT_FALSE(memory_shortage(TierKind::kJobs, workload, {.name = "t", .usd_per_hour = Decimal(1)}, false));
}

TEST(NextMeasurement, IsTheOneThatMaySaveMost) {
  ChooseCall call = service_call();
  call.known.points = {{}, {}, {service_point(1, 1000, 10)}};
  call.target.per_second = Decimal(900);
  call.estimate_at = predictions({450, 900, 1}, {0.3, 0.7, 0});
  const TierAnswer answer = answer_of(call);
  EXPECT_EQ(answer.choice, (TierChoice{.tier = 2, .is_sure = true}));
  // t4: 2 x 1 in place of 4 with 0.3; a30: 1 x 2 in place of 4 with 0.7.
  ASSERT_TRUE(answer.next.has_value());
  EXPECT_EQ(answer.next->tier, 1U);
  EXPECT_NEAR(answer.next->saves, 1.4, 1e-9);
  EXPECT_NEAR(answer.next->saves_share, 0.35, 1e-9);
  EXPECT_EQ(next_text(answer),
            "Measure a30 next: it keeps the target with probability 0.70; that saves $1.40 per hour (35.00%) in "
            "expectation, with what a miss costs.");
  EXPECT_EQ(tier_verdict(answer),
            "Take a100: $4.00 per hour for 1 slice, it is the biggest tier; measured, and it keeps the target.");
}

TEST(Verdict, SaysThatNothingIsSureEnough) {
  ChooseCall call = service_call();
  call.target = {.per_second = Decimal(900), .latency_ms = Decimal(20)};
  call.known.points[0] = {service_point(1, 100, 10)};
  call.estimate_at = [](const TierTarget& target) {
    return std::vector<TierEstimate>{{}, plain_estimate(500, 0.6, target), plain_estimate(900, 0.5, target)};
  };
  const TierAnswer answer = answer_of(call);
  EXPECT_EQ(doubt_text(answer),
            "Nothing is sure enough: no tier that may be taken keeps the target with probability 0.9 or more.");
  EXPECT_EQ(tier_verdict(answer),
            "Take a30 at best: $4.00 per hour for 2 slices, as much as the biggest, a100; it keeps the target with "
            "probability 0.60.");
  EXPECT_TRUE(answer.next.has_value());
}

}  // namespace
}  // namespace berth::tier
