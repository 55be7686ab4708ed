/// The price of a unit: by the hour, or committed for a term.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth::purchase {

/// A unit bought at hour i costs its price in each hour of [i, i + term), used or not.
struct CommitPlan {
  std::string name;
  std::int64_t term_hours = 0;
  std::int64_t micro_usd_per_hour = 0;
};

struct PlanList {
  std::string on_demand_name;
  std::int64_t on_demand_micro_usd_per_hour = 0;
  std::vector<CommitPlan> committed;  ///< terms above 0; may be empty
};

/// The columns `name`, `term_hours` (0 to 100,000) and `micro_usd_per_hour` (0 to 400,000,000, 400 dollars). Exactly
/// one plan has the term 0, on demand. Names are unique; at most 100 plans. Errors as FILE:LINE:COLUMN.
[[nodiscard]] Result<PlanList> read_plans(std::string_view text, std::string_view file);

}  // namespace berth::purchase
