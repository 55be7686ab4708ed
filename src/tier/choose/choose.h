/// The choice of a tier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tier/choose/prospect.h"
#include "tier/decide/decide.h"

namespace berth::tier {

enum class ChosenBy : std::uint8_t {
  kProbability,  ///< by `decide`, of what was measured and predicted
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
/// - With a forest: by `decide`, the least expected cost of those whose probability is at least `sure`; without one, of
///   those that are not known to miss.
/// - Without a forest: the one of the first rule that matches and whose tier is not known to miss; without such a rule
///   by `decide` of those that were measured.
///
/// Nothing if no tier may be taken, or nothing is known of those that may. `prices` is by tier; `prospects` are of
/// `target`. O(tiers log(tiers) + rules).
[[nodiscard]] std::optional<TierChoice> choose_tier(const ChooseCall& call, const TierTarget& target,
                                                    std::span<const TierProspect> prospects,
                                                    std::span<const Decimal> prices);

/// What `decide` says with at most so many measurements, its tiers as in the call. Nothing as above.
[[nodiscard]] std::optional<Decision> decide_at(const ChooseCall& call, const TierTarget& target,
                                                std::span<const TierProspect> prospects,
                                                std::span<const Decimal> prices, int measurements_left);

/// The prices of the call's tiers.
[[nodiscard]] std::vector<Decimal> prices_of(std::span<const Tier> tiers);

}  // namespace berth::tier
