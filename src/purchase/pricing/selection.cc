#include "purchase/pricing/selection.h"

#include <algorithm>
#include <set>

#include "base/core/decimal.h"

namespace berth::pricing {
namespace {

bool is_wanted(const Offer& offer, const OfferFilter& filter) {
  const OfferKey& key = offer.key;
  if (!offer.validity.contains(filter.at)) return false;
  if (filter.purchase && key.purchase != *filter.purchase) return false;
  if (filter.gpu_model && offer.shape.gpu_model != *filter.gpu_model) return false;
  if (filter.instance_type && key.instance_type != *filter.instance_type) return false;
  return filter.regions.empty() ||
         std::find(filter.regions.begin(), filter.regions.end(), key.region) != filter.regions.end();
}

/// Offers with a price for whole GPUs, then those for fractions, then those without a price.
int rank_of(const Offer& offer) {
  if (!offer.micro_usd_per_hour) return 2;
  return offer.shape.gpu_count == 0 ? 1 : 0;
}

/// Compares the prices of a GPU without rounding: -1, 0 or 1.
int compare_gpu_prices(const Offer& a, const Offer& b) {
  if (!a.micro_usd_per_hour) return 0;
  const Int128 left = Int128{*a.micro_usd_per_hour} * std::max(b.shape.gpu_count, 1);
  const Int128 right = Int128{*b.micro_usd_per_hour} * std::max(a.shape.gpu_count, 1);
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

bool is_before(const Offer& a, const Offer& b) {
  if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
  const int compared = compare_gpu_prices(a, b);
  return compared != 0 ? compared < 0 : a.key < b.key;
}

}  // namespace

std::vector<Offer> offers_at(std::span<const Offer> offers, const OfferFilter& filter) {
  std::vector<Offer> found;
  std::set<OfferKey> seen;
  for (const Offer& offer : offers) {
    if (is_wanted(offer, filter) && seen.insert(offer.key).second) found.push_back(offer);
  }
  return found;
}

void sort_by_gpu_price(std::vector<Offer>& offers) { std::sort(offers.begin(), offers.end(), is_before); }

}  // namespace berth::pricing
