/// What rules say of one workload and target.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tier/rules/rules_file.h"

namespace berth::tier {

/// Whether all bounds of a rule hold; one of a fact that is not known does not.
[[nodiscard]] bool matches(const TierRule& rule, const RuleFacts& facts);

/// By tier: the name of the first rule that excludes it; absent: none does.
[[nodiscard]] std::vector<std::optional<std::string>> exclusions(const TierRules& rules, const RuleFacts& facts,
                                                                 std::span<const Tier> tiers);

/// A tier and why.
struct RuleChoice {
  std::size_t tier = 0;
  std::string rule = {};  ///< empty: `otherwise`
  friend bool operator==(const RuleChoice&, const RuleChoice&) = default;
};

/// The tier of the first rule that matches and whose tier may be taken, else `otherwise` if that one may. `may_take` is
/// by tier.
[[nodiscard]] std::optional<RuleChoice> choose_by_rules(const TierRules& rules, const RuleFacts& facts,
                                                        std::span<const Tier> tiers, const std::vector<bool>& may_take);

}  // namespace berth::tier
