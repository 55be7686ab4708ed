/// The charts of the page of `berth commit`.
#pragma once

#include <string>

#include "purchase/commit/study.h"

namespace berth::report {

/// Demand over time, stacked: what the purchases of each plan cover, what is on demand, and on top, hatched, what is
/// paid for and not used. Below, the units bought at each hour.
[[nodiscard]] std::string coverage_figure(const purchase::CommitComparison& comparison,
                                          const purchase::CommitScore& score);
[[nodiscard]] std::string coverage_key(const purchase::PlanList& plans);

/// For each policy the cost since hour 0, less that of the optimum: all, and those that are close together once more.
[[nodiscard]] std::string excess_figures(const purchase::CommitComparison& comparison);

}  // namespace berth::report
