#include "tier/choose/next_measurement.h"

namespace berth::tier {
namespace {

bool can_be_measured(const TierOutlook& outlook) {
  return !outlook.is_measured && !outlook.excluded && outlook.probability.value_or(0) > 0;
}

double cost_at_median(const ChooseCall& call, std::span<const TierOutlook> outlooks, std::size_t tier) {
  return (call.tiers[tier].usd_per_hour * *outlooks[tier].units).to_double();
}

std::optional<NextMeasurement> most_probable_one(std::span<const TierOutlook> outlooks) {
  std::optional<NextMeasurement> best;
  for (std::size_t i = 0; i < outlooks.size(); ++i) {
    if (!can_be_measured(outlooks[i])) continue;
    const double probability = *outlooks[i].probability;
    if (!best || probability > best->probability) best = NextMeasurement{.tier = i, .probability = probability};
  }
  return best;
}

}  // namespace

std::optional<NextMeasurement> next_measurement(const ChooseCall& call, const TierChoice& choice,
                                                std::span<const TierOutlook> outlooks) {
  if (!call.estimate_at) return std::nullopt;
  if (!choice.is_sure) return most_probable_one(outlooks);
  if (!outlooks[choice.tier].units) return std::nullopt;
  const double cost = cost_at_median(call, outlooks, choice.tier);
  std::optional<NextMeasurement> best;
  for (std::size_t i = 0; i < outlooks.size(); ++i) {
    if (i == choice.tier || !can_be_measured(outlooks[i]) || !outlooks[i].units) continue;
    const double share = 1 - cost_at_median(call, outlooks, i) / cost;
    const double probability = *outlooks[i].probability;
    if (share <= 0 || (best && share * probability <= *best->saves_share * best->probability)) continue;
    best = NextMeasurement{.tier = i, .probability = probability, .saves_share = share};
  }
  return best;
}

}  // namespace berth::tier
