#include "tier/rules/rules_file.h"

#include <gtest/gtest.h>

#include "tier/rules/apply_rules.h"

namespace berth::tier {
namespace {

std::vector<Tier> three_tiers() {
  return {{.name = "t4", .usd_per_hour = Decimal(1)},
          {.name = "a30", .usd_per_hour = Decimal(2)},
          {.name = "a100", .usd_per_hour = Decimal(4)}};
}

std::string rules_refusal(const std::string& text) {
  const auto rules = read_rules_file(text, "rules.yaml", three_tiers());
  return rules ? "" : rules.error().message;
}

TierRules rules_of(const std::string& text) {
  auto rules = read_rules_file(text, "rules.yaml", three_tiers());
  EXPECT_TRUE(rules.has_value()) << rules.error().message;
  return rules ? *rules : TierRules{};
}

constexpr const char* kThreeRules =
    "rules:\n"
    "- {name: large, if: {weight_bytes: {at_least: 1e9}}, exclude: t4}\n"
    "- {name: small, if: {flops: {below: 100}, latency_ms: {at_least: 5, below: 10}}, tier: t4}\n"
    "- {name: middle, if: {flops: {below: 1000}}, tier: a30}\n"
    "- {otherwise: a100}\n";

TEST(RulesFile, ReadsBoundsTiersAndOtherwise) {
  const TierRules rules = rules_of(kThreeRules);
  ASSERT_EQ(rules.rules.size(), 3U);
  EXPECT_TRUE(rules.rules[0].is_exclusion);
  const std::vector<RuleBound> bounds = {
      {.feature = RuleFeature::kFlops, .below = Decimal(100)},
      {.feature = RuleFeature::kLatencyMs, .at_least = Decimal(5), .below = Decimal(10)}};
  EXPECT_EQ(rules.rules[1].bounds, bounds);
  EXPECT_EQ(rules.rules[2].tier, "a30");
  EXPECT_EQ(rules.otherwise, "a100");
}

TEST(RulesFile, RefusesWithThePlaceOfTheKey) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"rules: []", "rules.yaml:1:8: rules: wanted a list of rules"},
      {"rule: []", "rules.yaml:1:1: unknown key \"rule\""},
      {"rules:\n- {name: a, if: {flops: {below: 1}}, tier: v100}",
       "rules.yaml:2:44: rules[0].tier: wanted a tier (t4, a30, a100), found \"v100\""},
      {"rules:\n- {name: a, if: {flop: {below: 1}}, tier: t4}", "rules.yaml:2:18: rules[0].if: unknown key \"flop\""},
      {"rules:\n- {name: a, if: {flops: {above: 1}}, tier: t4}",
       "rules.yaml:2:26: rules[0].if.flops: unknown key \"above\""},
      {"rules:\n- {name: a, if: {flops: {}}, tier: t4}",
       "rules.yaml:2:25: rules[0].if.flops: wanted `below` or `at_least`, found neither"},
      {"rules:\n- {name: a, if: {flops: {below: 1, at_least: 1}}, tier: t4}",
       "rules.yaml:2:33: rules[0].if.flops.below: wanted a number above at_least, 1, found \"1\""},
      {"rules:\n- {name: a, if: {}, tier: t4}", "rules.yaml:2:17: rules[0].if: wanted at least one feature"},
      {"rules:\n- {name: a, tier: t4}", "rules.yaml:2:3: rules[0].if: wanted a map from features"},
      {"rules:\n- {name: a, if: {flops: {below: 1}}}",
       "rules.yaml:2:3: rules[0]: wanted `tier` or `exclude`, found neither"},
      {"rules:\n- {name: a, if: {flops: {below: 1}}, tier: t4, exclude: t4}",
       "rules.yaml:2:3: rules[0]: wanted `tier` or `exclude`, found both"},
      {"rules:\n- {if: {flops: {below: 1}}, tier: t4}", "rules.yaml:2:3: rules[0].name: wanted"},
      {"rules:\n- {otherwise: t4}\n- {otherwise: t4}",
       "rules.yaml:2:15: rules[0].otherwise: wanted `otherwise` as the last rule"},
      {"rules:\n- {otherwise: t4, name: a}", "rules.yaml:2:19: rules[0]: unknown key \"name\""},
      {"rules:\n- {name: a, if: {flops: {below: 1}}, tier: t4}\n- {name: a, if: {flops: {below: 2}}, tier: t4}",
       "rules.yaml:3:10: rules[1].name: wanted a name that no other rule has, found \"a\""},
      {"rules:\n- {name: a, if: {flops: {below: x}}, tier: t4}",
       "rules.yaml:2:33: rules[0].if.flops.below: wanted a number"},
  };
  for (const Case& each : cases) {
    EXPECT_TRUE(rules_refusal(each.text).starts_with(each.message)) << rules_refusal(each.text) << "\n" << each.message;
  }
}

TEST(ApplyRules, TheFirstMatchingRuleWinsWhoseTierIsLeft) {
  const TierRules rules = rules_of(kThreeRules);
  const std::vector<Tier> tiers = three_tiers();
  const GraphFigures small{.flops = Decimal(50), .weight_bytes = Decimal(10)};
  const TierTarget target{.per_second = Decimal(1), .latency_ms = Decimal(5)};
  const RuleFacts facts = rule_facts(small, TierKind::kServices, target);
  EXPECT_EQ(choose_by_rules(rules, facts, tiers, {true, true, true}), (RuleChoice{.tier = 0, .rule = "small"}));
  EXPECT_EQ(choose_by_rules(rules, facts, tiers, {false, true, true}), (RuleChoice{.tier = 1, .rule = "middle"}));
  EXPECT_EQ(choose_by_rules(rules, facts, tiers, {false, false, true}), (RuleChoice{.tier = 2}));
  EXPECT_FALSE(choose_by_rules(rules, facts, tiers, {false, false, false}).has_value());
}

TEST(ApplyRules, BoundsAreHalfOpenAndUnknownValuesMatchNothing) {
  const TierRules rules = rules_of(kThreeRules);
  const auto is_small = [&](const GraphFigures& graph, TierKind kind, const Decimal& latency_ms) {
    return matches(rules.rules[1], rule_facts(graph, kind, {.per_second = Decimal(1), .latency_ms = latency_ms}));
  };
  const GraphFigures known{.flops = Decimal(99)};
  EXPECT_TRUE(is_small(known, TierKind::kServices, Decimal(5)));
  EXPECT_FALSE(is_small(known, TierKind::kServices, Decimal(49, 10)));
  EXPECT_FALSE(is_small(known, TierKind::kServices, Decimal(10)));
  EXPECT_FALSE(is_small({.flops = Decimal(100)}, TierKind::kServices, Decimal(5)));
  EXPECT_FALSE(is_small({}, TierKind::kServices, Decimal(5)));
  EXPECT_FALSE(is_small(known, TierKind::kJobs, Decimal(5)));
}

TEST(ApplyRules, EveryExclusionThatMatchesCounts) {
  const TierRules rules = rules_of(
      "rules:\n"
      "- {name: one, if: {samples_per_second: {at_least: 1}}, exclude: a100}\n"
      "- {name: two, if: {samples_per_second: {at_least: 2}}, exclude: t4}\n"
      "- {name: three, if: {samples_per_second: {at_least: 1}}, exclude: t4}\n");
  const auto excluded_at = [&](int rate) {
    return exclusions(rules, rule_facts({}, TierKind::kJobs, {.per_second = Decimal(rate)}), three_tiers());
  };
  using Names = std::vector<std::optional<std::string>>;
  EXPECT_EQ(excluded_at(0), (Names{std::nullopt, std::nullopt, std::nullopt}));
  EXPECT_EQ(excluded_at(1), (Names{"three", std::nullopt, "one"}));
  EXPECT_EQ(excluded_at(2), (Names{"two", std::nullopt, "one"}));
}

}  // namespace
}  // namespace berth::tier
