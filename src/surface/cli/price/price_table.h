/// Offers as text for people.
#pragma once

#include <string>
#include <vector>

#include "base/core/date.h"
#include "purchase/pricing/offer.h"

namespace berth::cli {

/// The offers in the given order, which is by price per GPU, and a sentence about the first of them.
[[nodiscard]] std::string offers_table(const std::vector<pricing::Offer>& offers, Date at, bool has_colour);
/// One instance type: the offers in force on day `at`, and `past`, those of other days.
[[nodiscard]] std::string offer_text(const std::vector<pricing::Offer>& offers, const std::vector<pricing::Offer>& past,
                                     Date at, bool has_colour);

}  // namespace berth::cli
