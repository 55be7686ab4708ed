/// Offers as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/core/date.h"
#include "purchase/pricing/offer.h"

namespace berth::cli {

/// In the order given, with their age on that day.
[[nodiscard]] std::string offers_json(const std::vector<pricing::Offer>& offers, Date at);

}  // namespace berth::cli
