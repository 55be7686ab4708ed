/// The hash of a closed month: two ledgers with the same hash produce the same invoices of the month.
#pragma once

#include <optional>
#include <string>

#include "base/core/month.h"
#include "ledger/books/books.h"
#include "ledger/books/report.h"

namespace berth::ledger {

/// SHA-256 as 64 lower-case hexadecimal digits; absent for a month that is not closed. `report` is the current report
/// of the books.
///
/// The fields are those of `FieldHash`, all of them texts, numbers in decimal, an absent value as an empty text:
/// "ledger month 1" and the month; the number of rows and, for each of the report, tenant, service, sku, role, class,
/// of, gpu_us, grains, micro_usd; the number of credits and, for each that was known at the close, not voided then, and
/// given before the month's end, by id: id, tenant, at_us, micro_usd, reason, expires_us; the number of rates and, for
/// each known at the close and in force before the month's end, by currency and time: currency, from_us,
/// micro_per_usd.
[[nodiscard]] std::optional<std::string> month_hash(const Books& books, const Report& report, Month month);

}  // namespace berth::ledger
