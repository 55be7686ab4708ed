/// The content of the page about the costs of a ledger, as one value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/month.h"
#include "ledger/billing/budget.h"
#include "ledger/billing/cost.h"
#include "ledger/books/amount.h"
#include "ledger/books/books.h"

namespace berth::ledger {

/// How GPU time was spent; the first includes all roles of a tenant other than those below.
enum class SpendKind : std::uint8_t { kUsed, kIdle, kStranded, kReconfiguration };
inline constexpr std::array kSpendKinds = {SpendKind::kUsed, SpendKind::kIdle, SpendKind::kStranded,
                                           SpendKind::kReconfiguration};
[[nodiscard]] std::string_view name_of(SpendKind kind);
/// Requires: not kShared, which is not a use.
[[nodiscard]] SpendKind kind_of(Role role);

/// By kSpendKinds.
using KindAmounts = std::array<Amount, kSpendKinds.size()>;

struct TenantCost {
  std::string tenant;  ///< "": no tenant
  KindAmounts kinds;

  [[nodiscard]] Amount total() const;
};

/// The cost of a tenant on a day.
struct DayCost {
  std::int32_t day = 0;    ///< since 1970
  std::size_t tenant = 0;  ///< its index in CostOverview::tenants
  Grains grains = 0;
};

/// An hour or a day, limited to the covered time.
struct KindSpan {
  Interval when;
  KindAmounts kinds;
};

struct PriceChange {
  std::int64_t at_us = 0;
  std::string sku;
  std::optional<std::int64_t> before;  ///< absent: it had none
  std::int64_t after = 0;              ///< micro-dollars per GPU-hour
};

/// The corrections booked in a month because more became known about a closed one.
struct CorrectionSum {
  Month booked;
  Month of;
  GpuMicros gpu_us = 0;
  MicroUsd micro_usd = 0;
  MicroUsd moved_micro_usd = 0;  ///< of the rows that are above 0
  std::size_t row_count = 0;
};

/// The requested range: days, of which the last may end at an instant.
struct OverviewRange {
  DayRange days;
  std::optional<std::int64_t> as_of_us = std::nullopt;
};

/// Cells as known now.
struct CostOverview {
  std::optional<Interval> when;  ///< the covered time in which GPUs are paid for; absent: none
  Amount total;
  std::size_t gpu_count = 0;
  std::vector<TenantCost> tenants;  ///< the most expensive first, then by name
  std::vector<DayCost> days;        ///< by day, then by tenant; those with grains
  std::vector<KindSpan> spans;      ///< hours or days without a gap, from the first instant covered to the last
  bool has_hours = false;
  Month budgets_month;
  std::int64_t budgets_until_us = 0;  ///< the instant up to which budgets are computed: in that month, or its end
  std::vector<BudgetStanding> budgets;
  std::vector<PriceChange> price_changes;  ///< of paid skus, by time, then by sku
  std::vector<CorrectionSum> corrections;  ///< of the months covered, by the month that is corrected, then the other
  std::optional<Month> last_closed;
  GpuMicros unpriced_us = 0;  ///< of the whole ledger
  Int128 unbacked_us = 0;     ///< of the whole ledger
};

/// Up to this many days are shown by hours, longer ranges by days.
inline constexpr std::int32_t kHourlyDaysMax = 14;

/// Budgets are as of `as_of_us`, or of the end of the covered time. O(entries of days + cells, if by hours).
[[nodiscard]] CostOverview cost_overview(Books& books, const OverviewRange& range);

}  // namespace berth::ledger
