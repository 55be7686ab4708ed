/// Offers over time: nothing is overwritten, and each product has one price on each date.
#pragma once

#include <vector>

#include "base/core/result.h"
#include "purchase/pricing/offer.h"
#include "purchase/pricing/offer_files.h"

namespace berth::pricing {

/// The offers of several files together, in their order. Files may repeat each other (same product, shape and price).
/// Error: two prices or shapes for one product and date.
[[nodiscard]] Result<std::vector<Offer>> combine(const std::vector<std::vector<OfferRow>>& files);

/// The history `older`, continued with the rows of `newer`. A row of `newer` that changes the price or the shape of a
/// product ends the interval of the row in force when it begins; one that changes nothing is dropped where the older
/// row already covers it. No row is deleted. The result is sorted by product and date. Error: two prices or shapes for
/// one product and date; this includes a change dated on or before the first day of an older row. O(n log n).
[[nodiscard]] Result<std::vector<Offer>> merge(const std::vector<OfferRow>& older, const std::vector<OfferRow>& newer);

}  // namespace berth::pricing
