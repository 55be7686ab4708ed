/// The instances of one offer together: their count, and how much of them their pods use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/lists/pod_list.h"
#include "purchase/advise/advice.h"

namespace berth::purchase::advise {

/// Sums over the instances of an offer.
struct OfferTotals {
  const pricing::Offer* offer = nullptr;  ///< of the advice
  std::int64_t instances = 0;
  std::int64_t pods = 0;
  std::int64_t gpu_milli = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;

  /// Of all instances. Requires an offer with a price, as every bought one has.
  [[nodiscard]] std::int64_t micro_usd_per_hour() const;
};

/// Totals in the order of each offer's first instance. They point into `advice`. Requires: the advice is for these
/// pods.
[[nodiscard]] std::vector<OfferTotals> totals_by_offer(const Advice& advice, std::span<const Pod> pods);

}  // namespace berth::purchase::advise
