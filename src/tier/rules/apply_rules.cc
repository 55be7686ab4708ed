#include "tier/rules/apply_rules.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

std::size_t index_of(std::span<const Tier> tiers, const std::string& name) {
  const auto found = std::ranges::find(tiers, name, &Tier::name);
  ENSURE(found != tiers.end());
  return static_cast<std::size_t>(found - tiers.begin());
}

bool holds(const RuleBound& bound, const std::optional<Decimal>& value) {
  return value && !(bound.at_least && *value < *bound.at_least) && !(bound.below && *value >= *bound.below);
}

}  // namespace

bool matches(const TierRule& rule, const RuleFacts& facts) {
  return std::ranges::all_of(rule.bounds, [&](const RuleBound& bound) {
    return holds(bound, facts[static_cast<std::size_t>(bound.feature)]);
  });
}

std::vector<std::optional<std::string>> exclusions(const TierRules& rules, const RuleFacts& facts,
                                                   std::span<const Tier> tiers) {
  std::vector<std::optional<std::string>> by_tier(tiers.size());
  for (const TierRule& rule : rules.rules) {
    if (!rule.is_exclusion || !matches(rule, facts)) continue;
    std::optional<std::string>& excluded = by_tier[index_of(tiers, rule.tier)];
    if (!excluded) excluded = rule.name;
  }
  return by_tier;
}

std::optional<RuleChoice> choose_by_rules(const TierRules& rules, const RuleFacts& facts, std::span<const Tier> tiers,
                                          const std::vector<bool>& may_take) {
  for (const TierRule& rule : rules.rules) {
    if (rule.is_exclusion || !matches(rule, facts)) continue;
    const std::size_t tier = index_of(tiers, rule.tier);
    if (may_take[tier]) return RuleChoice{.tier = tier, .rule = rule.name};
  }
  if (!rules.otherwise) return std::nullopt;
  const std::size_t tier = index_of(tiers, *rules.otherwise);
  return may_take[tier] ? std::optional(RuleChoice{.tier = tier}) : std::nullopt;
}

}  // namespace berth::tier
