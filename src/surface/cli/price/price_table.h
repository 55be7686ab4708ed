/// Offers as text for people.
#pragma once

#include <string>
#include <vector>

#include "base/core/date.h"
#include "purchase/pricing/offer.h"

namespace berth::cli {

/// The offers in the order given, by the price of a GPU, and what the first of them means.
[[nodiscard]] std::string offers_table(const std::vector<pricing::Offer>& offers, Date at, bool has_colour);
/// One type: the offers in force on that day, and `past`, those of other days.
[[nodiscard]] std::string offer_text(const std::vector<pricing::Offer>& offers, const std::vector<pricing::Offer>& past,
                                     Date at, bool has_colour);

}  // namespace berth::cli
