/// The offers that come with Berth: on-demand prices of AWS, Azure and Google Cloud, and spot prices where known.
#pragma once

#include <vector>

#include "purchase/pricing/offer.h"

namespace berth::pricing {

/// Each with its source and date (docs/reference/prices.md). List prices only, of one region for each type.
[[nodiscard]] const std::vector<Offer>& built_in_offers();

}  // namespace berth::pricing
