/// The one measurement that is still worth making.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tier/choose/choose.h"

namespace berth::tier {

struct NextMeasurement {
  std::size_t tier = 0;
  double probability = 0;  ///< that it keeps the target
  /// Part of the chosen tier's cost that it saves at its median, if it keeps the target; absent: it is measured because
  /// nothing is sure enough.
  std::optional<double> saves_share = {};
  friend bool operator==(const NextMeasurement&, const NextMeasurement&) = default;
};

/// Of the tiers that were predicted and may be taken, the one with the largest saving times its probability; if the
/// choice is not sure enough, the most probable one. Nothing: no measurement can save anything, or there is no forest.
[[nodiscard]] std::optional<NextMeasurement> next_measurement(const ChooseCall& call, const TierChoice& choice,
                                                              std::span<const TierOutlook> outlooks);

}  // namespace berth::tier
