/// Purchases over time, and their cost for a demand.
#pragma once

#include <cstdint>
#include <vector>

#include "purchase/commit/demand.h"
#include "purchase/commit/plans.h"

namespace berth::purchase {

/// Units of a committed plan whose term begins at an hour.
struct Purchase {
  std::int64_t hour = 0;
  std::size_t plan = 0;  ///< of PlanList::committed
  std::int64_t units = 0;

  friend bool operator==(const Purchase&, const Purchase&) = default;
};

/// The purchases so far, and the units that they cover hour by hour.
class Coverage {
 public:
  /// `plans` must outlive this.
  Coverage(const PlanList& plans, std::int64_t hours);

  /// Requires: hours do not decrease, units > 0.
  void buy(const Purchase& purchase);

  /// Units covered in an hour, which may be after the horizon.
  [[nodiscard]] std::int64_t active(std::int64_t hour) const;
  /// The remaining cost of the purchases up to `hour`, from the next hour to the ends of their terms: the loss if
  /// demand stops now.
  [[nodiscard]] std::int64_t regret_micro_usd(std::int64_t hour) const;
  [[nodiscard]] const std::vector<Purchase>& purchases() const { return purchases_; }

 private:
  const PlanList* plans_;
  std::vector<Purchase> purchases_;
  std::vector<std::int64_t> active_;  ///< by hour, to the end of the longest term
};

/// The cost of a set of purchases.
struct CommitCost {
  std::int64_t micro_usd = 0;
  std::int64_t unused_unit_hours = 0;  ///< covered but not needed
};

/// The purchases' prices for the hours within the horizon, plus on demand for each uncovered unit. Exact.
[[nodiscard]] CommitCost cost_of(const HourlyDemand& demand, const PlanList& plans, const Coverage& coverage);

/// The same cost, hour by hour: element h is what is paid in hour h. O(hours + sum of the terms inside the horizon).
[[nodiscard]] std::vector<std::int64_t> hourly_micro_usd(const HourlyDemand& demand, const PlanList& plans,
                                                         const Coverage& coverage);

/// The units of each plan that are active in each hour of the horizon, used or not: element [plan][hour].
[[nodiscard]] std::vector<std::vector<std::int64_t>> active_by_plan(const PlanList& plans, const Coverage& coverage,
                                                                    std::int64_t hours);

}  // namespace berth::purchase
