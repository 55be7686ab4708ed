#include "tier/enforce/tier_offer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

/// Of slices of these kinds for a rate. Requires: the fastest come first, there is one, and the rate is above 0.
double least_usd(std::span<const SliceOffer> kinds, double per_second) {
  const SliceOffer& first = kinds.front();
  const double fit = std::floor(per_second / first.per_second);
  const double rest = per_second - fit * first.per_second;
  if (rest <= 0) return fit * first.usd_per_hour;
  double least = (fit + 1) * first.usd_per_hour;
  if (kinds.size() == 1) return least;
  least = std::min(least, fit * first.usd_per_hour + least_usd(kinds.subspan(1), rest));
  return fit > 0 ? std::min(least, least_usd(kinds.subspan(1), per_second)) : least;
}

}  // namespace

const OfferLevel& TierOffer::level_for(double sure) const {
  const OfferLevel* found = nullptr;
  for (const OfferLevel& level : levels) {
    if (level.sure >= sure) found = &level;
  }
  ENSURE(found != nullptr);
  return *found;
}

double capacity_of(std::span<const SliceOffer> offers, std::int64_t gpus) {
  double most = 0;
  for (const SliceOffer& offer : offers) most = std::max(most, offer.per_second * offer.per_gpu_max);
  return most * static_cast<double>(gpus);
}

std::optional<double> usd_per_hour_for(std::span<const SliceOffer> offers, std::int64_t gpus, double per_second) {
  if (offers.empty() || capacity_of(offers, gpus) < per_second) return std::nullopt;
  std::vector<SliceOffer> by_rate(offers.begin(), offers.end());
  std::ranges::sort(by_rate, std::greater<>(), &SliceOffer::per_second);
  if (per_second <= 0) return std::ranges::min_element(by_rate, {}, &SliceOffer::usd_per_hour)->usd_per_hour;
  return least_usd(by_rate, per_second);
}

std::optional<double> mean_usd_per_hour(std::span<const SliceOffer> offers, std::int64_t gpus,
                                        std::span<const double> rates) {
  ENSURE(!rates.empty());
  double sum = 0;
  for (const double rate : rates) {
    const auto usd = usd_per_hour_for(offers, gpus, rate);
    if (!usd) return std::nullopt;
    sum += *usd;
  }
  return sum / static_cast<double>(rates.size());
}

double probability_of(const TierOffer& tier, double per_second) {
  for (const OfferLevel& level : tier.levels) {
    if (!level.offers.empty() && capacity_of(level.offers, tier.gpus) >= per_second) return level.sure;
  }
  return 0;
}

}  // namespace berth::tier
