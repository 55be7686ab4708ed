/// Prices of tiers from a catalogue of offers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "purchase/pricing/offer.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Where the price of a tier comes from.
struct PriceSource {
  std::string tier;  ///< its name
  std::string provider;
  std::string instance_type;  ///< of which it is one GPU, or a slice of one
  std::string region;
  Decimal usd_per_gpu_hour;
  Decimal share = Decimal(1);  ///< of the GPU: the larger of compute and memory
};

/// Sets each tier's price: of the offers on demand in force (`offers` has no others) the least price per GPU of its
/// model, times its share; ties: the first offer. Sorts the tiers by price and returns their offers in that order.
/// Error: a tier for whose GPU there is no such offer. Requires: every tier has a GPU and profile that are known.
[[nodiscard]] Result<std::vector<PriceSource>> price_tiers(std::vector<Tier>& tiers,
                                                           std::span<const pricing::Offer> offers);

}  // namespace berth::tier
