#include "ledger/billing/budget.h"

#include <algorithm>
#include <map>

#include "base/core/ensure.h"
#include "base/core/month.h"
#include "base/core/proportion.h"

namespace berth::ledger {
namespace {

/// Grains of a tenant by day of the month, from 0.
using DaySums = std::vector<Grains>;

constexpr std::int32_t kRecentDaysMax = 7;

/// A month up to an instant in it, or to its end.
struct MonthToDate {
  Month month;
  std::int64_t until_us = 0;
  std::int64_t in_force_us = 0;  ///< the instant at which budgets must be in force
};

std::map<std::string, Budget> budgets_in_force(const Books& books, std::int64_t in_force_us) {
  std::map<std::string, Budget> in_force;
  for (const Budget& budget : books.budgets()) {
    if (budget.from_us > in_force_us) continue;
    const auto [found, is_new] = in_force.try_emplace(budget.tenant, budget);
    if (!is_new && budget.from_us > found->second.from_us) found->second = budget;
  }
  return in_force;
}

/// The spending of the remaining full days, extrapolated from the full days before.
MicroUsd forecast_more(const DaySums& days, std::int32_t days_done, std::int32_t days_left) {
  const std::int32_t recent = std::min(days_done, kRecentDaysMax);
  if (recent == 0) return 0;
  Grains sum = 0;
  for (std::int32_t day = days_done - recent; day < days_done; ++day) sum += days[static_cast<std::size_t>(day)];
  return multiply_divide(sum, days_left, Int128{kGrainsPerMicroUsd} * recent).quotient;
}

BudgetStanding standing_of(const Budget& budget, const DaySums& days, const MonthToDate& to_date) {
  const Month month = to_date.month;
  BudgetStanding standing{.budget = budget, .reached = {}};
  const std::int32_t days_done = day_of(to_date.until_us) - month.first_day().days();
  Grains grains = 0;
  for (std::int32_t day = 0; day <= days_done && day < month.day_count(); ++day) {
    grains += days[static_cast<std::size_t>(day)];
    standing.spent_micro_usd = floor_divide(grains, kGrainsPerMicroUsd);
    standing.spent_by_day.push_back(standing.spent_micro_usd);
    for (std::size_t i = 0; i < kBudgetPercents.size(); ++i) {
      const bool is_reached =
          standing.spent_micro_usd * 100 >= Int128{kBudgetPercents.at(i)} * budget.micro_usd_per_month;
      if (is_reached && !standing.reached.at(i)) standing.reached.at(i) = Date(month.first_day().days() + day);
    }
  }
  const auto days_left = static_cast<std::int32_t>((month.end_us() - to_date.until_us) / kMicrosPerDay);
  standing.forecast_micro_usd = standing.spent_micro_usd + forecast_more(days, days_done, days_left);
  if (standing.spent_micro_usd >= budget.micro_usd_per_month) {
    standing.state = budget.is_hard ? BudgetState::kHard : BudgetState::kSoft;
  }
  return standing;
}

std::vector<BudgetStanding> standings_of(Books& books, const MonthToDate& to_date) {
  const Month month = to_date.month;
  const auto in_force = budgets_in_force(books, to_date.in_force_us);
  std::map<std::string, DaySums, std::less<>> sums;
  for (const auto& [tenant, budget] : in_force) sums[tenant].resize(static_cast<std::size_t>(month.day_count()), 0);
  books.for_each_entry({.from_us = month.begin_us(), .to_us = to_date.until_us}, [&](const DayEntry& entry) {
    const auto found = sums.find(entry.tenant);
    if (found == sums.end()) return;
    found->second[static_cast<std::size_t>(entry.day - month.first_day().days())] += entry.amount.grains;
  });
  std::vector<BudgetStanding> standings;
  standings.reserve(in_force.size());
  for (const auto& [tenant, budget] : in_force) standings.push_back(standing_of(budget, sums[tenant], to_date));
  return standings;
}

}  // namespace

std::string_view name_of(BudgetState state) {
  switch (state) {
    case BudgetState::kOk:
      return "ok";
    case BudgetState::kSoft:
      return "soft";
    case BudgetState::kHard:
      return "hard";
  }
  ENSURE(false);
}

std::vector<BudgetStanding> budget_standings(Books& books, std::int64_t as_of_us) {
  return standings_of(books, {.month = Month::of(as_of_us), .until_us = as_of_us, .in_force_us = as_of_us});
}

std::vector<BudgetStanding> budget_standings_until(Books& books, std::int64_t end_us) {
  ENSURE(end_us > 0);
  return standings_of(books, {.month = Month::of(end_us - 1), .until_us = end_us, .in_force_us = end_us - 1});
}

}  // namespace berth::ledger
