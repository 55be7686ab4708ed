/// Rows of CSV (RFC 4180), and exact decimals.
#pragma once

#include <string>
#include <vector>

#include "base/core/decimal.h"

namespace berth::ledger {

/// The fields joined by commas, with a line feed; one that has a comma, a quote or a line end is quoted.
[[nodiscard]] std::string csv_row(const std::vector<std::string>& fields);

/// value / 10^decimals with all its decimals: "-12.345678".
[[nodiscard]] std::string decimal_of(Int128 value, int decimals);

}  // namespace berth::ledger
