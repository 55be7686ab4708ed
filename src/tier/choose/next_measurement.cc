#include "tier/choose/next_measurement.h"

namespace berth::tier {

std::optional<NextMeasurement> next_measurement(const ChooseCall& call, std::span<const TierProspect> prospects) {
  if (!call.estimate_at) return std::nullopt;
  const auto decision = decide_at(call, call.target, prospects, prices_of(call.tiers), 1);
  if (!decision || !decision->measure) return std::nullopt;
  return NextMeasurement{.tier = *decision->measure,
                         .probability = prospects[*decision->measure].probability.value_or(0),
                         .saves = decision->saves,
                         .saves_share = decision->cost_expected > 0 ? decision->saves / decision->cost_expected : 0};
}

}  // namespace berth::tier
