/// Offers as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/core/date.h"
#include "purchase/pricing/offer.h"

namespace berth::cli {

/// The offers in the given order, with their age on day `at`.
[[nodiscard]] std::string offers_json(const std::vector<pricing::Offer>& offers, Date at);

}  // namespace berth::cli
