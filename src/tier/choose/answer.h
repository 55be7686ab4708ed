/// The whole answer to one question: which tier, why, and what would change it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tier/choose/changes.h"
#include "tier/choose/next_measurement.h"

namespace berth::tier {

/// A tier that was measured, and what would have been predicted for it.
struct MeasuredCheck {
  std::size_t tier = 0;
  Spread predicted;  ///< samples or requests per second of a slice
  double measured = 0;
  friend bool operator==(const MeasuredCheck&, const MeasuredCheck&) = default;
};

struct TierAnswer {
  ChooseCall call;
  std::vector<TierProspect> prospects;    ///< by tier
  std::optional<TierChoice> choice = {};  ///< absent: no tier may be taken, or nothing is known of them
  std::vector<TierChange> changes = {};
  std::optional<NextMeasurement> next = {};
  std::vector<MeasuredCheck> checks = {};              ///< filled by the caller that has a forest
  std::vector<Coverage> coverage = {};                 ///< of the forest, likewise
  std::vector<std::vector<FeatureShare>> shares = {};  ///< by tier; empty where nothing was predicted
};

[[nodiscard]] TierAnswer answer_of(ChooseCall call);

/// Cost of a tier at the median: USD per hour of a service; of a job USD per million samples. Absent: not known.
[[nodiscard]] std::optional<Decimal> cost_shown(const TierAnswer& answer, std::size_t tier);

/// Expected where the target is kept, in the same unit. Absent: not known, or it never is.
[[nodiscard]] std::optional<double> mean_cost_shown(const TierAnswer& answer, std::size_t tier);

/// A cost of `decide` in that unit.
[[nodiscard]] double shown_cost(const TierAnswer& answer, double cost);

/// The tier with the highest price (ties: the last).
[[nodiscard]] std::size_t biggest_tier(const TierAnswer& answer);

/// 1 - cost / cost of the biggest tier; where one of them is not known, of their prices. Requires: there is a choice.
struct Saving {
  double share = 0;
  bool is_of_prices = false;
};
[[nodiscard]] Saving saving_of(const TierAnswer& answer);

}  // namespace berth::tier
