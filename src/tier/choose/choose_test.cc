#include "tier/choose/choose.h"

#include <gtest/gtest.h>

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

/// Predictions that depend on the target only by their probability: `probability` where the latency is at least 50 ms.
EstimateAt predictions(std::vector<double> per_second, std::vector<double> probability) {
  return [=](const TierTarget& target) {
    std::vector<TierEstimate> estimates;
    for (std::size_t i = 0; i < per_second.size(); ++i) {
      estimates.push_back({.per_second = per_second[i],
                           .per_second_p10 = per_second[i] / 2,
                           .per_second_p90 = per_second[i] * 2,
                           .latency_ms = 20,
                           .probability = target.latency_ms >= Decimal(50) ? probability[i] : 0.1});
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

TEST(Outlook, OfMeasuredRowsIsExact) {
  const auto outlooks = outlooks_at(service_call(), service_call().target);
  const TierOutlook measured{.is_measured = true,
                             .per_second = Spread{200, 200, 200},
                             .latency_ms = 40,
                             .latency_ms_p10 = 40,
                             .latency_ms_p90 = 40,
                             .probability = 1,
                             .units = Decimal(2)};
  EXPECT_EQ(outlooks[0], measured);
  EXPECT_EQ(outlooks[1], TierOutlook{});
}

TEST(Outlook, OfPredictionsTurnsTheThroughputAround) {
  ChooseCall call = service_call();
  call.estimate_at = predictions({0, 300, 0}, {0, 0.95, 0.2});
  const auto outlooks = outlooks_at(call, call.target);
  const TierOutlook predicted{.per_second = Spread{300, 150, 600},
                              .latency_ms = 20,
                              .latency_ms_p10 = 10,
                              .latency_ms_p90 = 40,
                              .probability = 0.95,
                              .units = Decimal(2)};
  EXPECT_EQ(outlooks[1], predicted);
  EXPECT_FALSE(outlooks[2].units.has_value());
  EXPECT_FALSE(outlooks[2].latency_ms_p90.has_value());
}

TEST(Choose, TheCheapestOfThoseThatAreSureEnough) {
  ChooseCall call = service_call();
  call.estimate_at = predictions({0, 400, 1000}, {0, 0.95, 0.99});
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0, .is_sure = true}));  // 2 x $1 ties with 1 x $2: the lower price
  call.target.per_second = Decimal(401);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0, .is_sure = true}));  // 3 x 1 against 2 x 2
  call.target.per_second = Decimal(900);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 2, .is_sure = true}));  // 5, 6, 4
  call.sure = 0.995;
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0, .is_sure = true}));
}

TEST(Choose, WithoutASureOneTheMostProbableThatIsNotKnownToMiss) {
  ChooseCall call = service_call();
  call.target.latency_ms = Decimal(20);  // the t4 has no usable point
  call.estimate_at = predictions({0, 400, 1000}, {0, 0.5, 0.5});
  const TierAnswer answer = answer_of(call);
  EXPECT_EQ(answer.choice, (TierChoice{.tier = 1}));  // 0.1 each, and $2 against $4
}

TEST(Choose, AllKnownToMissGivesTheFastest) {
  ChooseCall call = service_call();
  call.kind = TierKind::kJobs;
  for (int i = 0; i < 3; ++i) {
    call.known.points[static_cast<std::size_t>(i)] = {service_point(1, i == 1 ? 90 : 80 + i, 0)};
  }
  call.target = {.per_second = Decimal(100)};
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 1}));
}

TEST(Choose, RulesChooseWithoutAForestAndOnlyExcludeWithOne) {
  ChooseCall call = service_call();
  call.rules = small_rules();
  call.known.graph.flops = Decimal(50);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 1, .by = ChosenBy::kRule, .rule = "middle"}));
  call.known.graph.flops = Decimal(500);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 2, .by = ChosenBy::kRule}));
  call.estimate_at = predictions({0, 10, 1000}, {0, 0.95, 0.99});
  call.target.per_second = Decimal(900);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 2, .is_sure = true}));
  call.known.graph.flops = Decimal(5);
  EXPECT_EQ(choice_of(call), (TierChoice{.tier = 0, .is_sure = true}));
  EXPECT_EQ(answer_of(call).outlooks[2].excluded, "rule no big");
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
  call.estimate_at = predictions({450, 900, 0}, {0.3, 0.7, 0});
  const TierAnswer answer = answer_of(call);
  EXPECT_EQ(answer.choice, (TierChoice{.tier = 2, .is_sure = true}));
  // t4: 2 x 1 of 4 saves a half with 0.3; a30: 1 x 2 of 4 saves a half with 0.7.
  EXPECT_EQ(answer.next, (NextMeasurement{.tier = 1, .probability = 0.7, .saves_share = 0.5}));
  EXPECT_EQ(next_text(answer),
            "Measure a30 next: with probability 0.70 it keeps the target, and then it saves 50.00% (expected 35.00%).");
  EXPECT_EQ(tier_verdict(answer),
            "Take a100: $4.00 per hour for 1 slice, it is the biggest tier; measured, and it keeps the target.");
}

TEST(Verdict, SaysThatNothingIsSureEnough) {
  ChooseCall call = service_call();
  call.target = {.per_second = Decimal(900), .latency_ms = Decimal(20)};
  call.known.points[0] = {service_point(1, 100, 10)};
  call.estimate_at = [](const TierTarget&) {
    return std::vector<TierEstimate>{
        {}, {.per_second = 500, .probability = 0.6}, {.per_second = 900, .probability = 0.5}};
  };
  const TierAnswer answer = answer_of(call);
  EXPECT_EQ(doubt_text(answer),
            "Nothing is sure enough: no tier that may be taken keeps the target with probability 0.9 or more.");
  EXPECT_EQ(tier_verdict(answer),
            "Take a30 at best: $4.00 per hour for 2 slices, as much as the biggest, a100; it keeps the target with "
            "probability 0.60.");
  EXPECT_EQ(answer.next, (NextMeasurement{.tier = 1, .probability = 0.6}));
}

}  // namespace
}  // namespace berth::tier
