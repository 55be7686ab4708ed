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
  double saves = 0;        ///< expected of the cost that `decide` expects, which counts what a miss costs; USD as there
  double saves_share = 0;  ///< the same, of that cost
  friend bool operator==(const NextMeasurement&, const NextMeasurement&) = default;
};

/// What `decide` would measure if it could once. Nothing: no measurement saves anything, or there is no forest.
[[nodiscard]] std::optional<NextMeasurement> next_measurement(const ChooseCall& call,
                                                              std::span<const TierProspect> prospects);

}  // namespace berth::tier
