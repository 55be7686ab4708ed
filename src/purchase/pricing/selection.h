/// Filters the offers of a catalogue by date, place, GPU and kind of purchase.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/date.h"
#include "purchase/pricing/offer.h"

namespace berth::pricing {

/// An empty list or option matches everything.
struct OfferFilter {
  Date at;
  std::vector<std::string> regions = {};
  std::optional<Purchase> purchase = std::nullopt;
  std::optional<std::string> gpu_model = std::nullopt;  ///< in lower case
  std::optional<std::string> instance_type = std::nullopt;
};

/// The matching offers in force on the filter's date, in their order; of each product only the first.
[[nodiscard]] std::vector<Offer> offers_at(std::span<const Offer> offers, const OfferFilter& filter);

/// Sorts by price per GPU; instances with fractions of GPUs follow, by their own price, then offers without a price.
/// Ties: by product. O(n log n).
void sort_by_gpu_price(std::vector<Offer>& offers);

}  // namespace berth::pricing
