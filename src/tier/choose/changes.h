/// What would change a choice: a price or a target at which another tier wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/decimal.h"
#include "tier/choose/choose.h"

namespace berth::tier {

enum class ChangeOf : std::uint8_t {
  kPrice,
  kPerSecond,  ///< of the target: requests or samples
  kLatency,    ///< of the target
};

struct TierChange {
  ChangeOf of = ChangeOf::kPrice;
  std::size_t tier = 0;  ///< whose price changes; of kPrice only
  Decimal from;
  Decimal
      to;  ///< the nearest value at which `winner` is chosen, to 0.04 % of the change and of itself, or 10^-6 of `from`
  std::size_t winner = 0;
  bool is_sure = false;  ///< whether the winner is sure enough there
  friend bool operator==(const TierChange&, const TierChange&) = default;
};

/// The prices change up to a thousandfold, each alone: that of the chosen tier up, and those of the other tiers down,
/// for the ten that are nearest in cost of those that are sure enough. Targets change up to 16-fold in both directions,
/// where the first change of the winner counts that steps of a factor of 1.2 find. Each was applied: the winner is
/// chosen at `to`, and neither where 0.1 % of the change is missing nor at a value 0.1 % nearer to `from`.
/// Costs at most about 150 estimates.
[[nodiscard]] std::vector<TierChange> changes_of(const ChooseCall& call, const TierChoice& choice);

}  // namespace berth::tier
