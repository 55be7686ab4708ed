/// The prices of skus over time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ledger/books/detail/names.h"
#include "ledger/events/event.h"

namespace berth::ledger::detail {

/// A price, in force from its time until the sku's next one.
struct Price {
  std::int64_t from_us = 0;
  std::int64_t micro_usd_per_gpu_hour = 0;
};

class PriceBook {
 public:
  [[nodiscard]] bool has_price_from(NameId sku, std::int64_t from_us) const;
  /// Requires: the sku has none from the same instant.
  void insert(NameId sku, const Price& price);

  /// Of the sku, by time.
  [[nodiscard]] std::span<const Price> of(NameId sku) const;
  /// Absent before the first one.
  [[nodiscard]] std::optional<std::int64_t> at(NameId sku, std::int64_t us) const;

  /// A sku whose prices changed since changes were last taken: one interval that covers all changes.
  struct Change {
    NameId sku = 0;
    Interval when;
  };
  [[nodiscard]] std::vector<Change> take_changes();

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.skus_, self.changed_skus_);
  }

 private:
  struct SkuPrices {
    std::vector<Price> prices;
    std::optional<Interval> changed;
  };
  std::vector<SkuPrices> skus_;  ///< by NameId, up to the last one with prices
  std::vector<NameId> changed_skus_;
};

}  // namespace berth::ledger::detail
