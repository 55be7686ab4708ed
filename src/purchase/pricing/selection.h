/// Which offers of a catalogue are in question: by date, place, GPU and kind of purchase.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/date.h"
#include "purchase/pricing/offer.h"

namespace berth::pricing {

/// What is wanted; an empty list or option wants all.
struct OfferFilter {
  Date at;
  std::vector<std::string> regions = {};
  std::optional<Purchase> purchase = std::nullopt;
  std::optional<std::string> gpu_model = std::nullopt;  ///< in lower case
  std::optional<std::string> instance_type = std::nullopt;
};

/// The offers in force on that date, in their order; of one thing the first.
[[nodiscard]] std::vector<Offer> offers_at(std::span<const Offer> offers, const OfferFilter& filter);

/// Sorts by price: of a GPU first (an instance whose GPUs are fractions comes behind, by its own price), offers without
/// a price last, equal ones by thing. O(n log n).
void sort_by_gpu_price(std::vector<Offer>& offers);

}  // namespace berth::pricing
