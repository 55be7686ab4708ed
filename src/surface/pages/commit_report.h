/// The page of `berth commit`: demand, the purchases that cover it, and cost over time, as one self-contained HTML page
/// without script.
#pragma once

#include <cstddef>
#include <string>

#include "purchase/commit/study.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, the policies side by side, the demand and its coverage under `berth`, its best
/// rival and the optimum, the cost above the optimum over time, and the purchases of `berth`. Names are escaped; absent
/// figures are a dash. Many hours share a column, and the page says so. The same comparison gives the same bytes.
/// Requires: at least one score.
[[nodiscard]] std::string render_commit_report(const purchase::CommitComparison& comparison);

/// The maximum number of purchases listed.
inline constexpr std::size_t kPurchaseRowsMax = 24;

}  // namespace berth::report
