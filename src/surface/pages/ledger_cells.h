/// Names, money and times of a ledger, for pages. Figures are exact or rounded half to even; a minus is U+2212.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/month.h"
#include "ledger/books/amount.h"

namespace berth::report {

/// A name as plain text that cannot affect the text around it: terminal and bidirectional control characters become
/// U+FFFD, a name with non-ASCII characters is isolated (U+2068, U+2069), and a blank one is quoted.
[[nodiscard]] std::string isolated(std::string_view name);
/// The same as markup: an escaped name in <bdi>.
[[nodiscard]] std::string name_markup(std::string_view name);

/// All six decimals, as markup: <data value="-1234.500000">−1,234.500000</data>.
[[nodiscard]] std::string exact_money(ledger::MicroUsd micro);
/// "$1,234.57", "−$0.01"; less than a cent has all decimals: "$0.000024".
[[nodiscard]] std::string usd_text(ledger::MicroUsd micro_usd);
/// "1,234.50". Requires: 0 < decimals <= 6.
[[nodiscard]] std::string gpu_hours_text(ledger::GpuMicros gpu_us, int decimals);
/// `part` of `whole`: "12.3 %", with a no-break space; a dash if `whole` is 0.
[[nodiscard]] std::string share_text(Int128 part, Int128 whole);

/// Microseconds since 1970 as "2026-11-18 13:30", with seconds and their fraction unless 0.
[[nodiscard]] std::string utc_text(std::int64_t us);
/// "November 2026".
[[nodiscard]] std::string month_words(Month month);

}  // namespace berth::report
