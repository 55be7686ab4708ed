/// What was bought, when, and what it costs for a demand.
#pragma once

#include <cstdint>
#include <vector>

#include "purchase/commit/demand.h"
#include "purchase/commit/plans.h"

namespace berth::purchase {

/// Units of a committed plan that begin at an hour.
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

  /// Units covered in an hour, which may be behind the horizon.
  [[nodiscard]] std::int64_t active(std::int64_t hour) const;
  /// What the purchases up to `hour` still cost from the hour after it to the ends of their terms: what is lost if
  /// there is no demand any more.
  [[nodiscard]] std::int64_t regret_micro_usd(std::int64_t hour) const;
  [[nodiscard]] const std::vector<Purchase>& purchases() const { return purchases_; }

 private:
  const PlanList* plans_;
  std::vector<Purchase> purchases_;
  std::vector<std::int64_t> active_;  ///< by hour, to the end of the longest term
};

/// What a set of purchases costs.
struct CommitCost {
  std::int64_t micro_usd = 0;
  std::int64_t unused_unit_hours = 0;  ///< covered but not needed
};

/// The purchases' prices for the hours within the horizon, and on demand for each unit that none covers. Exact.
[[nodiscard]] CommitCost cost_of(const HourlyDemand& demand, const PlanList& plans, const Coverage& coverage);

/// The same cost, hour by hour: element h is what is paid in hour h. O(hours + sum of the terms inside the horizon).
[[nodiscard]] std::vector<std::int64_t> hourly_micro_usd(const HourlyDemand& demand, const PlanList& plans,
                                                         const Coverage& coverage);

/// The units of each plan that are active in each hour of the horizon, used or not: element [plan][hour].
[[nodiscard]] std::vector<std::vector<std::int64_t>> active_by_plan(const PlanList& plans, const Coverage& coverage,
                                                                    std::int64_t hours);

}  // namespace berth::purchase
