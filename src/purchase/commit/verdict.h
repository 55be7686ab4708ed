/// The summary of a comparison of commitment policies, in words that the table and the page share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "purchase/commit/study.h"

namespace berth::purchase {

/// The recommendation and its saving; empty without `berth`.
[[nodiscard]] std::string commit_verdict(const CommitComparison& comparison);

/// "$3.6730 an hour on-demand, $2.3140 month for 720 h".
[[nodiscard]] std::string prices_text(const PlanList& plans);

inline constexpr std::string_view kCommitAssumption =
    "Assumed: the demand of the file; a purchase is paid for in each hour of its term, used or not.";

/// "1.019": a cost divided by the least cost of all; nothing if that is zero.
[[nodiscard]] std::optional<std::string> ratio_text(const CommitScore& score, const CommitComparison& comparison);

/// All units that were bought.
[[nodiscard]] std::int64_t units_bought(const CommitScore& score);

/// The largest remaining cost after any purchase.
[[nodiscard]] std::int64_t regret_max_micro_usd(const CommitScore& score);

}  // namespace berth::purchase
