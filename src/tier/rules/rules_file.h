/// Rules as a file:
///
///     rules:
///       - {name: large models, if: {weight_bytes: {at_least: 1e9}}, exclude: t4}
///       - {name: small and slow, if: {flops: {below: 1e9}, latency_ms: {at_least: 50}}, tier: t4}
///       - {otherwise: a100}
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "tier/rules/rule_facts.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// at_least <= value < below; an absent bound always holds. At least one is there.
struct RuleBound {
  RuleFeature feature = RuleFeature::kFlops;
  std::optional<Decimal> at_least = {};
  std::optional<Decimal> below = {};
  friend bool operator==(const RuleBound&, const RuleBound&) = default;
};

/// If all bounds hold: take the tier, or never take it.
struct TierRule {
  std::string name;
  std::vector<RuleBound> bounds = {};  ///< each feature at most once
  std::string tier = {};
  bool is_exclusion = false;
  friend bool operator==(const TierRule&, const TierRule&) = default;
};

struct TierRules {
  std::vector<TierRule> rules = {};
  std::optional<std::string> otherwise = {};  ///< the tier where no rule matches
  friend bool operator==(const TierRules&, const TierRules&) = default;
};

inline constexpr std::size_t kRulesMax = 1'000;

/// Errors, as FILE:LINE:COLUMN: KEY: unknown keys, features and tiers, a rule without a condition, neither or both of
/// `tier` and `exclude`, bounds that exclude each other, a name twice, `otherwise` before the end.
[[nodiscard]] Result<TierRules> read_rules_file(std::string_view text, std::string_view file,
                                                std::span<const Tier> tiers);

}  // namespace berth::tier
