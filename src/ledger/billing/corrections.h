/// What became known about a month after it was booked.
///
/// The three figures of a closed month differ by it: its invoices and exports are as booked at its close, sums of cells
/// (`cost.h`) as known now, and the difference is booked in later months.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/core/month.h"
#include "ledger/books/amount.h"
#include "ledger/books/report.h"

namespace berth::ledger {

/// The corrections of a month that one later month books.
struct LaterCorrection {
  Month month = {};         ///< the later month
  MicroUsd added = 0;       ///< the sum of the rows above 0
  MicroUsd taken_back = 0;  ///< the sum of those below 0
  friend bool operator==(const LaterCorrection&, const LaterCorrection&) = default;
};

/// Adds a row that `month` books, if it corrects `of`. Months come in order.
void add_correction(std::vector<LaterCorrection>& corrections, Month of, Month month, const Row& row);

/// Of all tenants, by month; empty if nothing became known later, or the month is open. O(rows).
[[nodiscard]] std::vector<LaterCorrection> later_corrections(const Report& report, Month of);

/// All of them in one; its month is not meant.
[[nodiscard]] LaterCorrection sum_of(std::span<const LaterCorrection> corrections);

/// "+13.714285 and -13.714286 USD"; "0 USD" for none.
[[nodiscard]] std::string text_of(const LaterCorrection& correction);

/// Which of its figures a month's invoices and exports have, and how far they are from what is known now: "2026-10 is
/// as booked at its close. What became known since then is booked as corrections: +1.500000 USD in 2026-11."
[[nodiscard]] std::string booking_sentence(Month month, bool is_closed, std::span<const LaterCorrection> corrections);

}  // namespace berth::ledger
