#include "ledger/books/detail/price_book.h"

#include <algorithm>
#include <limits>

#include "base/core/ensure.h"

namespace berth::ledger::detail {

std::span<const Price> PriceBook::of(NameId sku) const {
  return sku < skus_.size() ? std::span<const Price>(skus_[sku].prices) : std::span<const Price>();
}

bool PriceBook::has_price_from(NameId sku, std::int64_t from_us) const {
  return std::ranges::binary_search(of(sku), from_us, {}, &Price::from_us);
}

void PriceBook::insert(NameId sku, const Price& price) {
  if (sku >= skus_.size()) skus_.resize(sku + 1);
  SkuPrices& entry = skus_[sku];
  const auto next = std::ranges::upper_bound(entry.prices, price.from_us, {}, &Price::from_us);
  const std::int64_t until_us = next == entry.prices.end() ? std::numeric_limits<std::int64_t>::max() : next->from_us;
  entry.prices.insert(next, price);
  if (!entry.changed) {
    entry.changed = Interval{.from_us = price.from_us, .to_us = until_us};
    changed_skus_.push_back(sku);
  }
  entry.changed->from_us = std::min(entry.changed->from_us, price.from_us);
  entry.changed->to_us = std::max(entry.changed->to_us, until_us);
}

std::optional<std::int64_t> PriceBook::at(NameId sku, std::int64_t us) const {
  const auto prices = of(sku);
  const auto next = std::ranges::upper_bound(prices, us, {}, &Price::from_us);
  if (next == prices.begin()) return std::nullopt;
  return (next - 1)->micro_usd_per_gpu_hour;
}

std::vector<PriceBook::Change> PriceBook::take_changes() {
  std::vector<Change> changes;
  changes.reserve(changed_skus_.size());
  for (const NameId sku : changed_skus_) {
    changes.push_back({.sku = sku, .when = *skus_[sku].changed});
    skus_[sku].changed.reset();
  }
  changed_skus_.clear();
  return changes;
}

}  // namespace berth::ledger::detail
