#include "purchase/commit/plans.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"

namespace berth::purchase {
namespace {

constexpr std::int64_t kTermHoursMax = 100'000;
constexpr std::int64_t kMicroUsdMax = 400'000'000;  // 400 dollars per hour
constexpr std::size_t kPlansMax = 100;

}  // namespace

Result<PlanList> read_plans(std::string_view text, std::string_view file) {
  enum Column : std::size_t { kName, kTerm, kPrice };
  Rows rows(text, file, NamedColumns{.required = {"name", "term_hours", "micro_usd_per_hour"}});
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  PlanList plans;
  std::set<std::string> names;
  bool has_on_demand = false;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    FirstError first;
    CommitPlan plan{.name = first.take(rows.word(kName)),
                    .term_hours = first.take(rows.integer(kTerm, 0, kTermHoursMax)),
                    .micro_usd_per_hour = first.take(rows.integer(kPrice, 0, kMicroUsdMax))};
    if (!first.is_clear()) return first.passed_on();
    if (!names.insert(plan.name).second) return rows.refuse(kName, "a name that no other plan has");
    if (names.size() > kPlansMax) return rows.fail_row(fmt::format("wanted at most {} plans, found more", kPlansMax));
    if (plan.term_hours > 0) {
      plans.committed.push_back(std::move(plan));
      continue;
    }
    if (has_on_demand) return rows.refuse(kTerm, "a term above 0, as another plan is on demand");
    has_on_demand = true;
    plans.on_demand_name = std::move(plan.name);
    plans.on_demand_micro_usd_per_hour = plan.micro_usd_per_hour;
  }
  if (!has_on_demand) return rows.fail_file("wanted a plan with term_hours 0 (on demand), found none");
  return plans;
}

}  // namespace berth::purchase
