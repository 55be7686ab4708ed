#include "tier/hardware/catalogue_prices.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/sort_stably.h"
#include "tier/hardware/gpu_figures.h"
#include "tier/hardware/slice_share.h"

namespace berth::tier {
namespace {

constexpr std::int64_t kMicrosPerUsd = 1'000'000;

bool is_of_model(const pricing::Offer& offer, const OfferedAs& as) {
  return !as.gpu_model.empty() && offer.shape.gpu_model == as.gpu_model &&
         (as.memory_mib == 0 || offer.shape.gpu_memory_mib == as.memory_mib);
}

Decimal usd_per_gpu(const pricing::Offer& offer) {
  return {*offer.micro_usd_per_hour, kMicrosPerUsd * offer.shape.gpu_count};
}

const pricing::Offer* cheapest_of(std::span<const pricing::Offer> offers, const OfferedAs& as) {
  const pricing::Offer* best = nullptr;
  for (const pricing::Offer& offer : offers) {
    if (!pricing::is_buyable(offer) || offer.key.purchase != pricing::Purchase::kOnDemand || !is_of_model(offer, as)) {
      continue;
    }
    if (best == nullptr || usd_per_gpu(offer) < usd_per_gpu(*best)) best = &offer;
  }
  return best;
}

Result<PriceSource> price_of(const Tier& tier, std::span<const pricing::Offer> offers) {
  const auto gpu = find_gpu_figures(tier.gpu);
  ENSURE(gpu.has_value());
  const auto share = slice_share(*gpu, tier.profile);
  ENSURE(share.has_value());
  const pricing::Offer* const offer = cheapest_of(offers, gpu->offered_as);
  if (offer == nullptr) {
    return invalid(
        fmt::format("tier {}: wanted an offer on demand of {}, found none in the catalogue", tier.name, gpu->gpu));
  }
  return PriceSource{.tier = tier.name,
                     .provider = offer->key.provider,
                     .instance_type = offer->key.instance_type,
                     .region = offer->key.region,
                     .usd_per_gpu_hour = usd_per_gpu(*offer),
                     .share = share->larger()};
}

}  // namespace

Result<std::vector<PriceSource>> price_tiers(std::vector<Tier>& tiers, std::span<const pricing::Offer> offers) {
  std::vector<std::pair<Tier, PriceSource>> priced;
  for (const Tier& tier : tiers) {
    auto offer = price_of(tier, offers);
    if (!offer) return pass_on(offer.error());
    priced.emplace_back(tier, std::move(*offer));
    priced.back().first.usd_per_hour = priced.back().second.usd_per_gpu_hour * priced.back().second.share;
  }
  sort_stably(priced, [](const auto& each) { return each.first.usd_per_hour; });
  std::vector<PriceSource> used;
  used.reserve(priced.size());
  for (std::size_t i = 0; i < priced.size(); ++i) {
    tiers[i] = std::move(priced[i].first);
    used.push_back(std::move(priced[i].second));
  }
  return used;
}

}  // namespace berth::tier
