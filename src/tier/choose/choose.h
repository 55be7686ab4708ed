/// The choice of a tier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tier/choose/outlook.h"

namespace berth::tier {

enum class ChosenBy : std::uint8_t {
  kProbability,  ///< predicted or measured: the cheapest that is sure enough
  kRule,         ///< there is no forest
};

struct TierChoice {
  std::size_t tier = 0;
  ChosenBy by = ChosenBy::kProbability;
  std::string rule = {};  ///< of kRule; empty: `otherwise`
  bool is_sure = false;   ///< its probability is known and at least `sure`
  friend bool operator==(const TierChoice&, const TierChoice&) = default;
};

/// Of the tiers that may be taken:
/// - With a forest: the cheapest (price x units; ties: the lower price, then the earlier tier) of those whose
///   probability is at least `sure`. Without one: the most probable (ties: the cheaper) that is not known to miss. All
///   known to miss: the fastest.
/// - Without a forest: the one of the first rule that matches and whose tier is not known to miss; without such a rule
///   the cheapest that was measured and keeps the target.
///
/// Nothing if no tier may be taken, or nothing is known of those that may. `prices` is by tier; `outlooks` are of
/// `target`. O(tiers + rules).
[[nodiscard]] std::optional<TierChoice> choose_tier(const ChooseCall& call, const TierTarget& target,
                                                    std::span<const TierOutlook> outlooks,
                                                    std::span<const Decimal> prices);

/// The prices of the call's tiers.
[[nodiscard]] std::vector<Decimal> prices_of(std::span<const Tier> tiers);

}  // namespace berth::tier
