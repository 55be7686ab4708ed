/// Budgets of tenants: spending so far, and its forecast.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/date.h"
#include "ledger/books/amount.h"
#include "ledger/books/books.h"

namespace berth::ledger {

enum class BudgetState : std::uint8_t {
  kOk,    ///< below the budget
  kSoft,  ///< reached: warn
  kHard,  ///< reached: admit nothing
};
[[nodiscard]] std::string_view name_of(BudgetState state);

inline constexpr std::array<int, 3> kBudgetPercents = {50, 80, 100};

struct BudgetStanding {
  Budget budget;
  MicroUsd spent_micro_usd = 0;  ///< of the month, until the instant in question, rounded down
  /// The first day of the month by whose end each of kBudgetPercents was reached; may be the current day.
  std::array<std::optional<Date>, kBudgetPercents.size()> reached;
  /// Spent by the end of each day of the month that began before the instant in question.
  std::vector<MicroUsd> spent_by_day = {};
  MicroUsd forecast_micro_usd = 0;  ///< at the month's end, if spending continues as in its last seven full days
  BudgetState state = BudgetState::kOk;
};

/// The budgets in force at an instant (microseconds since 1970), by tenant. A tenant's spending includes the idle time
/// of the GPUs that it owns.
[[nodiscard]] std::vector<BudgetStanding> budget_standings(Books& books, std::int64_t as_of_us);
/// The same with everything before an instant; if a month ends there, for that month. Requires: end_us > 0.
[[nodiscard]] std::vector<BudgetStanding> budget_standings_until(Books& books, std::int64_t end_us);

}  // namespace berth::ledger
